// SPDX-License-Identifier: GPL-2.0-only
#include "trace/recorder.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "bpf/builtin_programs.h"
#include "lib/error.h"
#include "reads.h"

/*
 * Maximum pieces per call of recorder_look(), so that the call ends even if reads come faster than
 * @visit handles them.
 */
#define PIECES_MOST	65536U

static int take_read(void *arg, void *data, size_t size)
{
	struct recorder *recorder = arg;
	const struct piece *piece = data;

	/* A negative value makes libbpf stop after this piece. */
	if (size >= sizeof(*piece) &&
	    recorder->visit(piece->sector, piece->nr_sectors, recorder->arg))
		return -ECANCELED;
	return ++recorder->told < PIECES_MOST ? 0 : -EAGAIN;
}

/* Return the descriptor of a map; it belongs to the BPF object, so do not close it. */
static int map_of(const struct recorder *recorder, const char *name)
{
	return bpf_object__find_map_fd_by_name(recorder->held.object, name);
}

/*
 * Start recording the reads of dm device @number. The caller has set @visit and @arg and zeroed the
 * rest, and calls recorder_close() even after a failure. Returns 0 or an exit code of fail().
 */
int recorder_open(struct recorder *recorder, dev_t number)
{
	const struct wanted wanted = { .dev = major(number) << 20 | minor(number) };
	const uint32_t key = 0;

	if (program_hold_own(&built_in_reads, &recorder->held))
		return fail_code();
	recorder->pieces = ring_buffer__new(map_of(recorder, "pieces"), take_read, recorder, NULL);
	if (!recorder->pieces)
		return fail_errno(errno, "cannot record reads");
	/* The program has waited for a device number and records from now on. */
	return bpf_map_update_elem(map_of(recorder, "wanted"), &key, &wanted, BPF_ANY) ?
	       fail_errno(errno, "cannot record reads") : 0;
}

/* Call @visit for up to PIECES_MOST new reads. Returns 0, or the exit code that @visit recorded. */
int recorder_look(struct recorder *recorder)
{
	recorder->told = 0;
	ring_buffer__consume(recorder->pieces);
	return fail_code();
}

/* Return the number of reads that were not recorded because the ring buffer was full. */
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
