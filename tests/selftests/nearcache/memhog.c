// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocate memory and change each page of it PASSES times, to make the system swap or reclaim.  The
 * exit code is 1 if a page has lost the values of the previous pass.
 *
 *	memhog MIB PASSES
 */
#include <stdint.h>
#include <sys/mman.h>

#include "device.h"

#define PAGE	4096

int main(int argc, char **argv)
{
	size_t pages, i, pass, passes;
	uint64_t *memory;

	if (argc != 3)
		return 2;
	pages = strtoul(argv[1], NULL, 0) << 8;
	passes = strtoul(argv[2], NULL, 0);
	memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	for (pass = 0; pass < passes; pass++)
		for (i = 0; i < pages; i++) {
			uint64_t *page = memory + i * (PAGE / sizeof(*memory));

			if (pass && (page[0] != i * 3 + pass ||
				     page[511] != (i ^ (pass << 32)))) {
				printf("page %zu, pass %zu: %llx %llx\n", i, pass,
				       (unsigned long long)page[0],
				       (unsigned long long)page[511]);
				return 1;
			}
			page[0] = i * 3 + pass + 1;
			page[511] = i ^ ((pass + 1) << 32);
		}
	return 0;
}
