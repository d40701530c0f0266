/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel log said meanwhile. */
#ifndef HELPER_KMSG_H
#define HELPER_KMSG_H

/**
 * struct kmsg - a place in the kernel log
 * @fd: /dev/kmsg, -1 when it cannot be read
 */
struct kmsg {
	int fd;
};

struct kmsg kmsg_mark(void);
void kmsg_explain(struct kmsg *log, const char *word);
void kmsg_close(struct kmsg *log);

#endif /* HELPER_KMSG_H */
