// SPDX-License-Identifier: GPL-2.0-only
#include "trace/recorder.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "bpf/builtin.h"
#include "lib/error.h"
#include "reads.h"

/* Pieces in a look: who reads faster than they are told keeps nobody here for ever. */
#define PIECES_MOST	65536U

static int tell(void *arg, void *data, size_t size)
{
	struct recorder *recorder = arg;
	const struct piece *piece = data;

	/* What is negative ends the look behind this piece. */
	if (size >= sizeof(*piece) &&
	    recorder->visit(piece->sector, piece->nr_sectors, recorder->arg))
		return -ECANCELED;
	return ++recorder->told < PIECES_MOST ? 0 : -EAGAIN;
}

/* Return: descriptor, which is the program's. */
static int map_of(const struct recorder *recorder, const char *name)
{
	return bpf_object__find_map_fd_by_name(recorder->held.object, name);
}

/**
 * recorder_open() - begin to see
 * @recorder: the result; @visit and @arg are set, the rest is 0.  recorder_close() is for the
 *	caller, after errors, too
 * @number: dm device
 *
 * Return: 0 or the exit code.
 */
int recorder_open(struct recorder *recorder, dev_t number)
{
	const struct wanted wanted = { .dev = major(number) << 20 | minor(number) };
	const uint32_t key = 0;

	if (program_hold_own(&built_in_reads, &recorder->held))
		return fail_code();
	recorder->pieces = ring_buffer__new(map_of(recorder, "pieces"), tell, recorder, NULL);
	if (!recorder->pieces)
		return fail_errno(errno, "cannot see what is read");
	/* Before this it saw no device. */
	return bpf_map_update_elem(map_of(recorder, "wanted"), &key, &wanted, BPF_ANY) ?
	       fail_errno(errno, "cannot see what is read") : 0;
}

/**
 * recorder_look() - tell what was read since the last time
 * @recorder: it
 *
 * Return: 0 or the exit code of what it was told to.
 */
int recorder_look(struct recorder *recorder)
{
	recorder->told = 0;
	ring_buffer__consume(recorder->pieces);
	return fail_code();
}

/**
 * recorder_lost() - reads that were not seen, as nobody looked for too long
 * @recorder: it
 */
uint64_t recorder_lost(const struct recorder *recorder)
{
	struct wanted wanted = { 0 };
	const uint32_t key = 0;

	bpf_map_lookup_elem(map_of(recorder, "wanted"), &key, &wanted);
	return wanted.lost;
}

void recorder_close(struct recorder *recorder)
{
	ring_buffer__free(recorder->pieces);
	program_let_go(&recorder->held);
	memset(recorder, 0, sizeof(*recorder));
}
