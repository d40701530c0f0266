// SPDX-License-Identifier: GPL-2.0-only
/* Page buffers with pages of 64 KiB. */
#define PAGE_SHIFT	16
#include "test_pages.c"
