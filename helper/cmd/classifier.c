// SPDX-License-Identifier: GPL-2.0-only
/* nearcache classifier: load, unload or show the BPF program that classifies streams. */
#include "bpf/builtin_programs.h"
#include "lib/enum_words.h"
#include "classify.h"
#include "cmd/commands.h"
#include "lib/error.h"
#include "bpf/load_unload_verb.h"
#include "lib/print.h"

static int show_stream(const void *key_, const void *value, void *arg)
{
	const struct stream_key *key = key_;
	const struct stream *stream = value;

	(void)arg;
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
	return 0;
}

/* Prints the map "streams", or an empty list if a program from a file has no such map. */
static int show_classifier(const struct program_place *place)
{
	print_table("streams");
	program_each(place, "streams", sizeof(struct stream_key),
		     sizeof(struct stream), show_stream, NULL);
	print_end();
	return fail_code();
}

int cmd_classifier(const struct arguments *args)
{
	static const struct loading classifier = {
		.place = &built_in_classifier,
		.files = true,
		.show = show_classifier,
	};

	return loading_run(&classifier, args);
}
