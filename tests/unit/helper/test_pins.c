// SPDX-License-Identifier: GPL-2.0-only
/* pin_list.c, record_json.c, unpin_match.c: records of schema 1, replaced and dropped pins, labels. */
#include <json-c/json.h>
#include <stdlib.h>

#include "lib/error.h"
#include "lib/name.h"
#include "pins/pin_list.h"
#include "unit.h"
#include "lib/enum_words.h"

#define K	1024ULL

static void place(struct pin *pin, uint64_t start, uint64_t length)
{
	struct range range = { start, length };
	struct shard shard = { .range = &range, .ranges = 1 };

	assert_non_null(pin);
	assert_int_equal(pin_place(pin, &shard), 0);
}

/* Add pins of a file and of two samples of another file (until time 1000), and a BYPASS range. */
static void fill(struct pins *pins)
{
	struct pin like = { .label = "train", .flags = NEARCACHE_RANGE_PIN,
			    .priority = 3, .load = true };

	memset(pins, 0, sizeof(*pins));
	place(pins_append(pins, &like, "/data/\"a\".tar"), 0, 4 * K);
	like.samples = "1,2";
	like.format = INDEX_TAR;
	like.expires = 1000;
	place(pins_append(pins, &like, "/data/b.tar"), 8 * K, 4 * K);
	like = (struct pin){ .label = "raw", .flags = NEARCACHE_RANGE_BYPASS };
	place(pins_append(pins, &like, NULL), 16 * K, K);
}

#define L16	"0123456789abcdef"
#define L64	L16 L16 L16 L16
#define PIN(more)							\
	"{\"schema\":1,\"pins\":[{\"label\":\"l\",\"wants\":\"pin\","	\
	"\"priority\":0,\"expires\":0,\"load\":true,\"index_only\":false" more "}]}"

static void refused(void **state)
{
	static const char *const bad[] = {
		"[]", "{}", "{\"schema\":2,\"pins\":[]}", "{\"schema\":1}",
		"{\"schema\":1,\"uuid\":1,\"pins\":[]}",
		"{\"schema\":1,\"attached_uuid\":[],\"pins\":[]}",
		"{\"schema\":1,\"origin_id\":\"" L64 L64 "\",\"pins\":[]}",
		"{\"schema\":1,\"pins\":{}}", "{\"schema\":1,\"pins\":[1]}",
		"{\"schema\":1,\"pins\":[{}]}", PIN(""), PIN(",\"ranges\":1"),
		PIN(",\"ranges\":[1]"), PIN(",\"ranges\":[[0]]"),
		PIN(",\"ranges\":[[0,0]]"), PIN(",\"ranges\":[[1,512]]"),
		PIN(",\"ranges\":[[0,511]]"), PIN(",\"ranges\":[[-512,512]]"),
		PIN(",\"ranges\":[[9223372036854775296,512]]"),
		PIN(",\"ranges\":[[\"0\",512]]"),
		PIN(",\"ranges\":[],\"path\":\"a\""),
		PIN(",\"ranges\":[],\"path\":1"), PIN(",\"ranges\":[],\"label\":\"\""),
		PIN(",\"ranges\":[],\"label\":\"\\u0007\""),
		PIN(",\"ranges\":[],\"label\":\"a\\u0000b\""),
		PIN(",\"ranges\":[],\"wants\":\"pinned\""),
		PIN(",\"ranges\":[],\"priority\":8"),
		PIN(",\"ranges\":[],\"expires\":-1"),
		PIN(",\"ranges\":[],\"load\":1"),
		PIN(",\"ranges\":[],\"format\":\"zip\""),
	};
	struct json_object *json;
	struct pins pins;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&pins, 0, sizeof(pins));
		json = json_tokener_parse(bad[i]);
		assert_non_null(json);
		if (!pins_from_json(&pins, json))
			fail_msg("accepted: %s", bad[i]);
		json_object_put(json);
		pins_free(&pins);
	}
	memset(&pins, 0, sizeof(pins));
	json = json_tokener_parse(PIN(",\"path\":\"/a\",\"samples\":\"1,2\",\"ranges\":[[0,512]]"));
	assert_null(pins_from_json(&pins, json));
	assert_int_equal(pins.count, 1);
	assert_string_equal(pins.pin[0].path, "/a");
	assert_string_equal(pins.pin[0].samples, "1,2");
	assert_true(pins.pin[0].load);
	assert_int_equal(pins.pin[0].range[0].length, 512);
	json_object_put(json);
	pins_free(&pins);
}

/* pins_replace() drops pins of the same file and samples, and marks the new ones as fresh. */
static void replaced(void **state)
{
	struct pins pins, added = { 0 };
	struct pin like = { .label = "train", .flags = NEARCACHE_RANGE_PIN };
	struct nl_range *range;
	size_t i, count;

	(void)state;
	fill(&pins);
	for (i = 0; i < pins.count; i++)
		pins.pin[i].fresh = false;
	place(pins_append(&added, &like, "/data/\"a\".tar"), 32 * K, 4 * K);
	place(pins_append(&added, &like, "/data/b.tar"), 40 * K, 4 * K);
	assert_int_equal(pins_replace(&pins, &added), 0);
	assert_int_equal(added.count, 0);
	assert_int_equal(pins.count, 5);
	/* Only a.tar's pin is replaced: the new pin of b.tar is not for the same samples. */
	assert_int_equal(pins_ranges(&pins, pin_is_dropped, 0, &range, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(range[0].range.start, 0);
	free(range);
	assert_int_equal(pins_ranges(&pins, pin_is_fresh, 0, &range, &count), 0);
	assert_int_equal(count, 2);
	assert_int_equal(range[0].range.start, 32 * K);
	assert_string_equal(range[1].label, "train");
	free(range);
	pins_free(&added);
	pins_free(&pins);
}

static bool lies_in(const struct range *range, const char *label,
		    const struct nl_range *which)
{
	return (!which->label || !strcmp(which->label, label)) &&
	       range->start >= which->range.start &&
	       (!which->range.length ||
		range->start + range->length <=
		which->range.start + which->range.length);
}

static void drop(struct pins *pins, const struct nl_range *which)
{
	struct spans spans;

	assert_int_equal(spans_make(&spans, which, 1), 0);
	pins_drop(pins, &spans);
	spans_free(&spans);
}

static void dropped(void **state)
{
	const struct nl_range inside = { .range = { 0, 12 * K } },
			      other = { .label = "other" },
			      raw = { .label = "raw" },
			      end = { .range = { 8 * K, K } };
	struct nl_range *range;
	struct range *piece;
	struct pins pins;
	size_t count;

	(void)state;
	fill(&pins);
	drop(&pins, &other);
	pins_ranges(&pins, NULL, 400, &range, &count);
	assert_int_equal(count, 3);
	assert_int_equal(range[0].expires, 0);
	assert_int_equal(range[1].expires, 600);
	free(range);
	/* A range that reaches beyond the end of the device is cut there. */
	pins.size = 9 * K;
	pins_ranges(&pins, NULL, 400, &range, &count);
	assert_int_equal(count, 2);
	assert_int_equal(range[1].range.length, K);
	free(range);
	pins_pieces(&pins, NULL, &piece, &count);
	assert_int_equal(count, 2);
	assert_int_equal(piece[1].length, K);
	free(piece);
	drop(&pins, &end);
	assert_true(pins.pin[1].dropped);
	assert_false(pins.pin[2].dropped);
	pins.pin[1].dropped = false;
	pins.pin[1].ranges = 1;
	pins.size = 0;
	pins_drop_old(&pins, 999);
	assert_false(pins.pin[1].dropped);
	pins_pieces(&pins, NULL, &piece, &count);
	assert_int_equal(count, 2);
	free(piece);
	pins_drop_old(&pins, 1000);
	assert_true(pins.pin[1].dropped);
	drop(&pins, &raw);
	assert_true(pins.pin[2].dropped);
	assert_false(pins.pin[0].dropped);
	drop(&pins, &inside);
	assert_true(pins.pin[0].dropped);
	pins_free(&pins);
}

/* spans_hold() agrees with a search of all ranges by lies_in(). */
static void spans(void **state)
{
	static const char *const label[] = { NULL, "a", "b" };
	struct nl_range which[40];
	struct range range;
	struct spans made;
	size_t i, l, held = 0;
	int round;

	(void)state;
	srandom(1);
	for (i = 0; i < 40; i++)
		which[i] = (struct nl_range){
			.range = { random() % 64, random() % 12 },
			.label = label[random() % 3],
		};
	for (i = 0; i < 40; i += 5) {
		assert_int_equal(spans_make(&made, which + i, 5), 0);
		for (round = 0; round < 200; round++) {
			bool expected = false;
			size_t k;

			range = (struct range){ random() % 64, 1 + random() % 12 };
			l = 1 + random() % 2;
			for (k = i; k < i + 5; k++)
				expected |= lies_in(&range, label[l], &which[k]);
			assert_int_equal(spans_hold(&made, &range, label[l]),
					 expected);
			held += expected;
		}
		spans_free(&made);
	}
	assert_in_range(held, 100, 1500);
}

static void labels(void **state)
{
	struct shards shards = { .size = 100 * K };
	char label[LABEL_SIZE];

	(void)state;
	shards_add(&shards, "0-1G");
	shards_add(&shards, "2G-3G");
	assert_string_equal(shards_label(&shards, label), "0-1G");
	shards_add(&shards, "/usr/include/stdio.h")->device = 1;
	assert_string_equal(shards_label(&shards, label), "stdio.h");
	shards_add(&shards, "/usr/include/stdlib.h")->device = 1;
	assert_string_equal(shards_label(&shards, label), "include");
	shards_add(&shards, "/usr/share/x")->device = 1;
	assert_string_equal(shards_label(&shards, label), "usr");
	shards_add(&shards, "/etc/x")->device = 1;
	assert_string_equal(shards_label(&shards, label), "/");
	shards_free(&shards);
	assert_null(label_check("a"));
	assert_non_null(label_check(""));
	assert_non_null(label_check("a\n"));
	assert_non_null(label_check("\xff"));
}

static void wants(void **state)
{
	char text[WANT_TEXT];
	uint32_t flags, again;

	(void)state;
	for (flags = 0; flags < 8; flags++) {
		assert_true(want_parse(want_print(flags, text), &again));
		assert_int_equal(again, flags);
	}
	assert_false(want_parse("", &flags));
	assert_false(want_parse("pin,pin", &flags));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(replaced),
		cmocka_unit_test(dropped),
		cmocka_unit_test(spans),
		cmocka_unit_test(labels),
		cmocka_unit_test(wants),
	};

	return RUN(tests);
}
