// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes the parser of lists of reads.  A list must give reads in the order of its lines, of words
 * that it has, with usable sample numbers; twice the list must give them twice.  A refusal must name
 * the line, and a list with a bad line behind it must be refused.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "count.h"
#include "files/read_list.h"
#include "lib/error.h"

#define HOLDS(what)	((what) ? (void)0 : bug(#what))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned int seed);

static void __attribute__((noreturn)) bug(const char *what)
{
	fprintf(stderr, "does not hold: %s; %s\n", what, fail_message());
	abort();
}

int glob_add(struct glob_words *words, const char *text)
{
	return glob_add_listed(words, text);
}

static int add_word(struct glob_words *words, const char *text, const char *more, bool found)
{
	struct glob_word *word = reallocarray(words->word, words->count + 1, sizeof(*word));

	HOLDS(word);
	words->word = word;
	word += words->count++;
	*word = (struct glob_word){ .found = found };
	HOLDS(asprintf(&word->text, "%s%s", text, more) >= 0);
	if (!found && range_like(text))
		word->range.length = 512;
	return 0;
}

/* In place of glob.c, which reads folders: "/r/d" is a directory, and names with an x are missing. */
int glob_add_listed(struct glob_words *words, const char *text)
{
	HOLDS(*text);
	if (strchr(text, 'x'))
		return fail(CODE_DEVICE, "'%s': No such file", text);
	if (!strcmp(text, "/r/d"))
		return add_word(words, text, "/1", true) ?: add_word(words, text, "/2", true);
	return add_word(words, text, "", false);
}

void glob_free(struct glob_words *words)
{
	while (words->count)
		free(words->word[--words->count].text);
	free(words->word);
	*words = (struct glob_words){ 0 };
}

/* Parse @times copies of a list, and then @tail. */
static int parse(struct read_list *list, const uint8_t *data, size_t size, unsigned int times,
		 const char *tail)
{
	int fd = memfd_create("list", MFD_CLOEXEC), error;
	char path[32];

	fail_reset();
	*list = (struct read_list){ .root = "/r" };
	HOLDS(fd >= 0);
	while (times--)
		HOLDS(write(fd, data, size) == (ssize_t)size && write(fd, "\n", 1) == 1);
	HOLDS(write(fd, tail, strlen(tail)) == (ssize_t)strlen(tail));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	error = read_list_add_file(list, path);
	close(fd);
	return error;
}

static void check_reads(const struct read_list *list)
{
	size_t i;

	for (i = 0; i < list->reads; i++) {
		const struct listed_read *read = &list->read[i];

		HOLDS(read->word < list->words.count);
		HOLDS(read->line && read->line >= (i ? read[-1].line : 1));
		HOLDS(read->end ? read->first < read->end : !read->first);
		HOLDS(read->end <= (1ULL << 48) + 1);
		HOLDS(!read->end || !list->words.word[read->word].range.length);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct read_list list, twice;
	bool lines = !memchr(data, 0, size);

	fuzz_count("fuzz_inputs", 1);
	if (parse(&list, data, size, 1, "")) {
		HOLDS(strstr(fail_message(), "it is line ") || strstr(fail_message(), "is empty"));
		fuzz_count("lists_wrong", 1);
		read_list_free(&list);
		return 0;
	}
	check_reads(&list);
	fuzz_count("reads", list.reads);
	/* A byte order mark is one only at the start of the list. */
	if (lines && (size < 3 || memcmp(data, "\xef\xbb\xbf", 3))) {
		HOLDS(!parse(&twice, data, size, 2, ""));
		check_reads(&twice);
		HOLDS(twice.reads == 2 * list.reads && twice.words.count == list.words.count);
		read_list_free(&twice);
		HOLDS(parse(&twice, data, size, 1, "a\t1,2-\n"));
		HOLDS(strstr(fail_message(), "'2-' after the tab"));
		read_list_free(&twice);
	}
	read_list_free(&list);
	return 0;
}

/* Insert words of lists. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned int seed)
{
	static const char *const words[] = {
		"a\n", "a\t1\n", "b c\t0-9,3\n", "d\n", "d/1\t2\nd\t2\n", "\\t\\x09b\t4\n", "t\tb\n",
		"0+512\n", "./1-2\t7\n", "1-2\n", "\t", ",", "-", "\n", "\r\n", "281474976710656",
		"99999999999999999999", "\\x09", "\\\\", "\xef\xbb\xbf", "x\n",
	};
	const char *word = words[(seed >> 8) % (sizeof(words) / sizeof(words[0]))];
	size_t length = strlen(word), at;

	if (seed % 4 == 0 || size + length > room)
		return LLVMFuzzerMutate(data, size, room);
	at = (seed >> 16) % 3 && size ? (seed >> 18) % (size + 1) : size;
	memmove(data + at + length, data + at, size - at);
	memcpy(data + at, word, length);
	return size + length;
}
