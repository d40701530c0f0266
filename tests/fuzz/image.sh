#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz the load and use of cache devices with arbitrary content: fuzz_image.c.
# timeout: 300
exec "$TOP/tests/fuzz/run" image 20000
