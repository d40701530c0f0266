#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The packages on Debian 12, see lib/release.sh.
# when: soak
# timeout: 2700
set -uo pipefail
release=bookworm headers=linux-headers-cloud-amd64 newer_headers=linux-headers-6.12-cloud-amd64
# shellcheck source=tests/packages/lib/release.sh
. "$TOP/tests/packages/lib/release.sh"
release_checks
