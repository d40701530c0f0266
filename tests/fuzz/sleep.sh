#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz hibernations of a cache with writes, I/O errors, and changes by another system: fuzz_sleep.c.
# timeout: 300
exec "$TOP/tests/fuzz/run" sleep 20000
