/* SPDX-License-Identifier: GPL-2.0-only */
/* State that the fuzzers of the module share: simulated devices, failures and the target type. */
#ifndef NEARCACHE_FUZZ_H
#define NEARCACHE_FUZZ_H

#include "count.h"
#include "kernel.h"

#define FUZZ_UNIT		4096U
#define FUZZ_SAID_SIZE		16384
/* Bytes that printk() keeps of a message, without the prefix. */
#define FUZZ_RECORD_SIZE	960
#define FUZZ_WORDS_MAX		64

/* fuzz_small: a device too small for a witness record; a dm table that names it is refused */
extern struct block_device fuzz_origin, fuzz_cache, fuzz_witness, fuzz_small;
extern struct target_type *fuzz_target;
extern char fuzz_said[FUZZ_SAID_SIZE];

/* First and last sector of the last "invalidate" that the target accepted. */
extern sector_t fuzz_told_first, fuzz_told_last;

/* A dm device with one table of one target. */
struct fuzz_table {
	struct mapped_device md;
	struct dm_table table;
	struct dm_target ti;
};

/* The I/O that fails, counted from 1 (0: none), and how many I/Os right after it also fail. */
extern u32 fuzz_fail_at, fuzz_fail_count;
/* The only device whose I/O fails (NULL: all devices), and how many I/Os have failed so far. */
extern const struct block_device *fuzz_fail_only;
extern u32 fuzz_failures;
/* The next fuzz_flush_fails flushes of the origin fail. */
extern u32 fuzz_flush_fails;
/* Number of changes of the origin's ends so far; each changes the fingerprint. */
extern u32 fuzz_ends;
/* The allocation that fails, counted from 1; 0: none. */
extern u32 fuzz_no_memory;

struct nc_cache;
int fuzz_record_drop(struct nc_cache *c);
void fuzz_bug(const char *format, ...) __attribute__((noreturn));
#define HOLDS(what)	((what) ? (void)0 : fuzz_bug("does not hold: %s", #what))
void fuzz_devices(u64 origin_bytes, u64 cache_bytes, u64 witness_bytes);
int fuzz_split(char *text, char **argv);
int fuzz_ctr(struct fuzz_table *t, u64 sectors, int argc, char **argv);

#endif /* NEARCACHE_FUZZ_H */
