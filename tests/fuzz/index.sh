#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz the index of training shards: fuzz_index.c.
# timeout: 240
exec "$TOP/tests/fuzz/run" index 60000
