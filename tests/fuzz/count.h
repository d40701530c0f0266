/* SPDX-License-Identifier: GPL-2.0-only */
/* Named counters of a fuzzer, printed at its exit. */
#ifndef NEARCACHE_FUZZ_COUNT_H
#define NEARCACHE_FUZZ_COUNT_H

void fuzz_count(const char *name, unsigned long long n);

#endif /* NEARCACHE_FUZZ_COUNT_H */
