#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz table lines and messages: fuzz_line.c.
# timeout: 240
exec "$TOP/tests/fuzz/run" line 40000
