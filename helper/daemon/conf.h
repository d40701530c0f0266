/* SPDX-License-Identifier: GPL-2.0-only */
/* What 'nearcache daemon' may do: /etc/nearcache/nearcache.conf, see nearcache.conf(5). */
#ifndef HELPER_DAEMON_CONF_H
#define HELPER_DAEMON_CONF_H

#include <limits.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONF_FILE	"/etc/nearcache/nearcache.conf"
/* Bytes that the file may have. */
#define CONF_BYTES_MAX	65536UL

/**
 * struct conf - the bounds of the daemon
 * @interval: seconds from one look to the next
 * @read_ahead: whether it sets the read-ahead of devices
 * @read_ahead_sequential: bytes, of a device that is read so
 * @read_ahead_scattered: bytes, of one that is read in pieces all over the place
 * @window: bytes that are brought ahead of a sequential stream at most; 0: none
 * @first_touch: of 100 parts of the cache, so many may be taken by shards that are brought as a
 *	whole when they are touched; 0: none are
 * @pin_hot: of 100 parts of the cache, so many may be taken by regions that are pinned; 0: none are
 * @replay_loops: what is read over and over in one order is brought in that order
 * @around: checkpoints are not cached
 * @settle: looks in a row that must say the same before anything is changed
 * @calm: seconds between two changes of a setting
 * @trial: seconds after which the effect of a change is looked at
 * @hold: seconds in which a setting is left alone that was taken back
 * @listen: where metrics are shown, of port 0: nowhere
 * @textfile: where they are written, "": nowhere
 */
struct conf {
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
int conf_parse(struct conf *conf, const char *path, char *text);
int conf_read(struct conf *conf, const char *path, bool named);

#endif /* HELPER_DAEMON_CONF_H */
