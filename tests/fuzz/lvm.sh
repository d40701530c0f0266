#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz the parsers of LVM2 metadata: fuzz_lvm.c.
# timeout: 240
exec "$TOP/tests/fuzz/run" lvm 15000
