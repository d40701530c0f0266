#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzz the parsers of cluster.conf and of the lines of nearcache-peers: fuzz_cluster.c.
# timeout: 240
exec "$TOP/tests/fuzz/run" cluster 300000
