// SPDX-License-Identifier: GPL-2.0-only
/* Page buffers with pages of 16 KiB. */
#define PAGE_SHIFT	14
#include "test_pages.c"
