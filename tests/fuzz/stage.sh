#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz logs of the stage, at a start: fuzz_stage.c.
# timeout: 240
exec "$TOP/tests/fuzz/run" stage 10000
