// SPDX-License-Identifier: GPL-2.0-only
/*
 * Let the first call of a kernel function wait.
 *
 *	hold_call FUNCTION
 *
 * Prints "ready" once the next call will wait, and "held" when a call waits.  At the end of stdin it
 * lets the call go on, and prints "released", or "late" if the call had gone on by itself.  The
 * processor of the call does nothing else meanwhile, so the guest needs a second one.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hold_call.h"

static volatile struct hold *attach(const char *function)
{
	struct bpf_object *object = bpf_object__open_file("hold_call.bpf.o", NULL);
	struct bpf_program *program;
	void *hold;

	if (!object || bpf_object__load(object))
		return NULL;
	program = bpf_object__find_program_by_name(object, "hold_call");
	hold = mmap(NULL, sizeof(struct hold), PROT_READ | PROT_WRITE, MAP_SHARED,
		    bpf_object__find_map_fd_by_name(object, "holds"), 0);
	if (hold == MAP_FAILED || !bpf_program__attach_kprobe(program, false, function))
		return NULL;
	return hold;
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	volatile struct hold *hold = argc == 2 ? attach(argv[1]) : NULL;

	if (!hold) {
		fprintf(stderr, "hold_call: cannot probe the function\n");
		return 1;
	}
	say("ready");
	while (!hold->held)
		usleep(1000);
	say("held");
	while (getchar() != EOF)
		;
	hold->released = 1;
	say(hold->late ? "late" : "released");
	return 0;
}
