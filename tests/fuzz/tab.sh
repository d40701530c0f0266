#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz the parser of nearcachetab: fuzz_tab.c.
# timeout: 240
exec "$TOP/tests/fuzz/run" tab 15000
