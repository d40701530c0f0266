#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz the parser of lists of reads: fuzz_reads.c.
# timeout: 240
exec "$TOP/tests/fuzz/run" reads 15000
