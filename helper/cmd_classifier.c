// SPDX-License-Identifier: GPL-2.0-only
/* nearcache classifier: the BPF program that tells how streams are read and written. */
#include <bpf/bpf.h>
#include <unistd.h>

#include "class.h"
#include "classify.h"
#include "classify.skel.h"
#include "commands.h"
#include "fail.h"
#include "loading.h"
#include "print.h"

/* Twice as many as there can be. */
#define STREAMS_MOST	8192U

LOADING_OWN(classify)

static void show_stream(const struct stream_key *key,
			const struct stream *stream)
{
	print_record(NULL, NULL);
	print_number("pid", "pid", key->pid);
	print_string("access", "access", key->writes ? "write" : "read");
	print_string("class", "class", class_word(stream->told));
	print_number("accesses", "accesses", stream->accesses);
	print_number("runs", "runs", stream->runs);
	print_bytes("bytes", "bytes", stream->bytes);
	print_number("changes", "changes", stream->changes);
	print_number("major", NULL, key->set.dev >> 20);
	print_number("minor", NULL, key->set.dev & 0xfffff);
	print_number("label_id", NULL, key->set.label);
	print_number("cgroup", "cgroup", key->set.cgroup);
	print_end();
}

static void show_streams(int map)
{
	struct stream_key key, next;
	struct stream stream;
	unsigned int left = STREAMS_MOST;
	bool first = true;

	/* Behind one that went meanwhile the kernel begins anew: not for ever. */
	while (left-- && !bpf_map_get_next_key(map, first ? NULL : &key, &next)) {
		first = false;
		key = next;
		if (!bpf_map_lookup_elem(map, &key, &stream))
			show_stream(&key, &stream);
	}
}

/* Of a program that has such a map: our own. */
static int show(const struct program_place *place)
{
	int map = program_open_map(place, "streams", sizeof(struct stream_key),
				   sizeof(struct stream));

	print_table("streams");
	if (map >= 0) {
		show_streams(map);
		close(map);
	}
	print_end();
	return 0;
}

int cmd_classifier(const struct arguments *args)
{
	static const struct loading classifier = {
		.place = { "classifier", "nearcache_classify" },
		.files = true,
		.load_own = load_own,
		.show = show,
	};

	return loading_run(&classifier, args);
}
