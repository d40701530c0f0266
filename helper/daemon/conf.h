/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Configuration of the daemon: /etc/nearcache/nearcache.conf, see nearcache.conf(5).
 *
 * Functions that return int return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_DAEMON_CONF_H
#define HELPER_DAEMON_CONF_H

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONF_FILE	"/etc/nearcache/nearcache.conf"

/**
 * struct conf - settings of the daemon
 * @given: bit of each setting that the file has, for conf_gives()
 * @interval: seconds from one sample of all devices to the next
 * @read_ahead: the daemon may set the readahead of devices
 * @read_ahead_sequential: readahead of a device that sequential streams read, bytes
 * @read_ahead_scattered: readahead of a device that is read in scattered pieces, bytes
 * @window: maximum number of bytes prefetched ahead of a sequential stream; 0: prefetch nothing
 * @first_touch: prefetch shards at their first read while open shards (see shards_in_use.h) fill
 *	at most this percentage of the cache; 0: prefetch no shards
 * @pin_hot: percentage of the cache for pinned hot regions; 0: pin none
 * @replay_loops: prefetch data that is read in the same order again and again
 * @around: checkpoint writes bypass the cache
 * @settle: number of samples in a row that must agree before the daemon changes a setting
 * @calm: minimum seconds between two changes of a setting; a shard is closed after this many
 *	seconds without reads
 * @trial: seconds after which the effect of a change is evaluated
 * @hold: seconds for which a setting stays unchanged after the daemon or a user took back a change
 * @listen: address on which metrics are served; port 0: none
 * @textfile: path of the file to which metrics are written; "": none
 */
struct conf {
	uint32_t given;
	unsigned int interval;
	bool read_ahead;
	uint64_t read_ahead_sequential;
	uint64_t read_ahead_scattered;
	uint64_t window;
	unsigned int first_touch;
	unsigned int pin_hot;
	bool replay_loops;
	bool around;
	unsigned int settle;
	unsigned int calm;
	unsigned int trial;
	unsigned int hold;
	struct sockaddr_in listen;
	char textfile[PATH_MAX - 8];
};

void conf_default(struct conf *conf);
bool conf_gives(const struct conf *conf, const char *name);
int conf_parse(struct conf *conf, const char *path, char *text);
int conf_read(struct conf *conf, const char *path, bool named);

#endif /* HELPER_DAEMON_CONF_H */
