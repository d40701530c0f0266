// SPDX-License-Identifier: GPL-2.0-only
/* Fake of lib/print.c and block/kmsg.c: drop all output.  A test may replace a DEFAULT function. */
#include "block/kmsg.h"
#include "lib/print.h"

#define DEFAULT	__attribute__((weak))

struct kmsg kmsg_mark(dev_t number)
{
	(void)number;
	return (struct kmsg){ .fd = -1 };
}

DEFAULT void kmsg_explain(struct kmsg *log, const char *word)
{
	(void)log;
	(void)word;
}

void kmsg_close(struct kmsg *log)
{
	(void)log;
}

void print_record(const char *key, const char *title)
{
	(void)key;
	(void)title;
}

void print_end(void)
{
}

void print_string(const char *key, const char *label, const char *value)
{
	(void)key;
	(void)label;
	(void)value;
}

void print_detail(const char *key, const char *label, const char *value)
{
	print_string(key, label, value);
}

void print_bytes(const char *key, const char *label, uint64_t value)
{
	(void)key;
	(void)label;
	(void)value;
}

void print_milliseconds(const char *key, const char *label, uint64_t value)
{
	print_bytes(key, label, value);
}

void print_number(const char *key, const char *label, uint64_t value)
{
	print_bytes(key, label, value);
}

void print_seconds(const char *key, const char *label, uint64_t value)
{
	print_bytes(key, label, value);
}

DEFAULT void print_flag(const char *key, const char *label, bool value)
{
	print_bytes(key, label, value);
}
