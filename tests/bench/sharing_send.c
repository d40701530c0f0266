// SPDX-License-Identifier: GPL-2.0-only
/* Send standard input to the plugin sharing.c of the emulator, from inside the guest. */
#include <stdio.h>

#include "sharing.h"

static char table[256 * SHARING_STEP] __attribute__((aligned(SHARING_STEP)));

static void send(unsigned char byte)
{
	uintptr_t at = (uintptr_t)&table[byte * SHARING_STEP] - SHARING_OFFSET;

	__asm__ volatile("movb %c1(%%rdi), %%al" : : "D"(at), "i"(SHARING_OFFSET) : "al", "memory");
}

int main(void)
{
	int byte;

	send(0);
	while ((byte = getchar()) != EOF)
		send(byte);
	send(SHARING_END);
	return sharing_load[0] == 0;
}
