/* SPDX-License-Identifier: GPL-2.0-only */
/* Read kernel log lines written since a mark, to explain an error. */
#ifndef HELPER_BLOCK_KMSG_H
#define HELPER_BLOCK_KMSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct kmsg - a position in the kernel log
 * @fd: /dev/kmsg, or -1 if it cannot be read
 * @device: text in the kernel's messages about the device, like ": 253:0: "
 */
struct kmsg {
	int fd;
	char device[32];
};

struct kmsg kmsg_mark(dev_t number);
bool kmsg_has(struct kmsg *log, const char *word);
bool kmsg_find(struct kmsg *log, const char *word, char *text, size_t size);
void kmsg_each(const char *beginning,
	       void (*visit)(const char *text, uint64_t microseconds, void *arg), void *arg);
void kmsg_explain(struct kmsg *log, const char *word);
void kmsg_close(struct kmsg *log);

#endif /* HELPER_BLOCK_KMSG_H */
