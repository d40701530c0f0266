#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz hibernations of a cache, with writes, changes and errors of the cache device: fuzz_sleep.c.
# timeout: 300
exec "$TOP/tests/fuzz/run" sleep 20000
