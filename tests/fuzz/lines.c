// SPDX-License-Identifier: GPL-2.0-only
/* Generates table lines and messages, valid ones and some that are nearly valid. */
#include "image.h"
#include "lines.h"

#define min(a, b) ({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a < _b ? _a : _b; })

/* Valid words, and invalid ones that resemble them. */
static const char *const words[] = {
	"read-only", "writearound", "writethrough", "7:0", "7:16", "7:32", "/dev/small", "0",
	"1", "2", "4", "fill_memory", "witness", "1048576", "1099511627776", "18446744073709551615",
	"18446744073709551616", "-1", "+2", "0x10", "20479", "20480", "all", "invalidate",
	"INVALIDATE", "@stats_list", "\\ ", "\xa0", "\xc3\xa4", "'", "%s%n",
};

static const char *devices[3];

static size_t put_word(char *to, size_t room, u64 *random)
{
	size_t n = 0;

	switch (image_random(random) % 8) {
	case 0:
		n = snprintf(to, room, "%llu", (1ULL << image_random(random) % 64) *
			     (image_random(random) % 2) + image_random(random) % 64 - 32);
		break;
	case 1:
		/* Repeat one byte; the word may be longer than printk()'s limit for a message. */
		n = min(image_random(random) % 3000, room - 1);
		memset(to, 1 + image_random(random) % 255, n);
		break;
	case 2:
		n = snprintf(to, room, "%s", devices[image_random(random) % 3]);
		break;
	default:
		n = snprintf(to, room, "%s", words[image_random(random) % ARRAY_SIZE(words)]);
	}
	return min(n, room - 1);
}

/* Write @start and random words; %1$s is the origin, %2$s the cache device, %3$s the witness. */
static size_t put_line(char *to, size_t room, const char *start, u64 *random)
{
	size_t n = snprintf(to, room, start, devices[0], devices[1], devices[2]);
	size_t more = image_random(random) % 6;

	while (more-- && n + 2 < room) {
		to[n++] = ' ';
		n += put_word(to + n, room - n, random);
	}
	return n;
}

/**
 * lines_make() - generate a table line and messages
 * @text: output, without a NUL at the end
 * @room: size of @text, at least LINES_ROOM_MIN
 * @origin: path of the origin
 * @cache: path of the cache device
 * @witness: path of the witness
 * @random: state of the generator
 *
 * The first line holds the arguments of the target, the other lines are messages.
 *
 * Return: length of the text in bytes.
 */
size_t lines_make(char *text, size_t room, const char *origin, const char *cache,
		  const char *witness, u64 *random)
{
	static const char *const starts[] = {
		"", "read-only %1$s", "read-only %1$s %2$s", "writethrough %1$s %2$s",
		"\tread-only %1$s %2$s", "\vread-only %1$s %2$s",
		"read-only %1$s %2$s 2 fill_memory", "read-only %1$s %2$s 2 verify",
		"writearound %1$s %2$s 2 fill_memory 2000000",
		"writearound %1$s %2$s 2 witness %3$s", "read-only %1$s %2$s 2 witness %3$s",
		"writethrough %1$s %2$s 4 witness %3$s verify 9",
		"writethrough %1$s %2$s 4 witness %3$s witness %3$s",
		"writethrough %1$s %2$s 2 witness", "writethrough %1$s %2$s 2 witness %1$s",
		"writethrough %1$s %2$s 2 witness %2$s", "read-only %1$s %2$s 2 witness /dev/small",
		"\fread-only %1$s %2$s 2 witness %3$s", "\fwritearound %1$s %2$s 2 witness %3$s",
	};
	static const char *const messages[] = {
		"invalidate", "invalidate", "invalidate all", "invalidate 8", "invalidate 0 8", "",
		"scrub", "scrub start", "scrub start 1000", "scrub start 0 origin", "scrub stop",
	};
	u64 lines;
	size_t n;

	devices[0] = origin;
	devices[1] = cache;
	devices[2] = witness;
	n = put_line(text, room, starts[image_random(random) % ARRAY_SIZE(starts)], random);
	for (lines = image_random(random) % 5; lines && n + 32 < room; lines--) {
		text[n++] = '\n';
		n += put_line(text + n, room - n,
			      messages[image_random(random) % ARRAY_SIZE(messages)], random);
	}
	return n;
}
