#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz power cuts at any write of a session or of its recovery: fuzz_recovery.c.
# timeout: 240
exec "$TOP/tests/fuzz/run" recovery 200
