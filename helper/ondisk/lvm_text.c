// SPDX-License-Identifier: GPL-2.0-only
/*
 * The metadata text of an LVM2 volume group: sections in braces, with KEY = VALUE or KEY = [LIST]
 * in them. Only the keys that give the places of logical volumes are used.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "ondisk/lvm_metadata.h"

/* Sections inside each other: group, logical_volumes, the volume, segment. */
#define DEPTH_GROUP	1
#define DEPTH_PART	2
#define DEPTH_VOLUME	3
#define DEPTH_SEGMENT	4
#define DEPTH_MAX	16

/**
 * struct word - a token of the text
 * @kind: the character itself for { } [ ] = and , ; 'w' for a word or number, '"' for a string, 0
 *	at the end and for anything that LVM does not write
 * @at: its first character, of a string without the quotes
 * @bytes: length
 */
struct word {
	char kind;
	const char *at;
	size_t bytes;
};

/**
 * struct parse - state of the parser
 * @at: the next character
 * @end: end of the text
 * @id: the PV whose bytes the result describes
 * @depth: number of open sections
 * @part: the open section of depth 2
 * @name: the open section of depth 3
 * @extent: bytes of an extent, 0: unknown or invalid
 * @is_ours: the open section of depth 3 is PV @id
 * @pe_start: value in the open section of depth 3, sectors
 * @ours: name of PV @id in the text
 * @ours_start: byte of PV @id where its first extent begins
 * @segment: segments of the open logical volume, @segments used and @room allocated
 * @is_odd: the open logical volume has a segment that is neither linear nor striped, or one beyond
 *	LVM_SEGMENTS_MAX
 * @first, @count: extents of the open segment
 * @unit: sectors of the stripe size of the open segment, 0: one stripe
 * @is_striped: type of the open segment
 * @stripe_name: names of the PVs in its list of stripes, with @stripe_extent
 * @stripes: entries of @stripe_name; LVM_STRIPES_MAX + 1: too many
 * @all_segments: segments of all logical volumes
 * @group: the result
 */
struct parse {
	const char *at;
	const char *end;
	const char *id;
	unsigned int depth;
	struct word part;
	struct word name;
	uint64_t extent;
	bool is_ours;
	uint64_t pe_start;
	struct word ours;
	uint64_t ours_start;
	struct volume_segment *segment;
	unsigned int segments;
	unsigned int room;
	bool is_odd;
	uint64_t first;
	uint64_t count;
	uint64_t unit;
	bool is_striped;
	struct word stripe_name[LVM_STRIPES_MAX];
	uint64_t stripe_extent[LVM_STRIPES_MAX];
	unsigned int stripes;
	unsigned int all_segments;
	struct lvm_group *group;
};

static void skip_blanks(struct parse *parse)
{
	while (parse->at < parse->end) {
		if (*parse->at == '#')
			while (parse->at < parse->end && *parse->at != '\n')
				parse->at++;
		else if (isspace((unsigned char)*parse->at))
			parse->at++;
		else
			return;
	}
}

static bool is_word_character(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_.+-/@:", c));
}

static struct word read_string(struct parse *parse)
{
	struct word word = { .kind = '"', .at = ++parse->at };

	for (; parse->at < parse->end && *parse->at != '"'; parse->at++)
		if (*parse->at == '\\' && parse->at + 1 < parse->end)
			parse->at++;
	word.bytes = (size_t)(parse->at - word.at);
	if (parse->at == parse->end)
		word.kind = 0;
	else
		parse->at++;
	return word;
}

static struct word next_word(struct parse *parse)
{
	struct word word = { 0 };

	skip_blanks(parse);
	if (parse->at == parse->end)
		return word;
	if (*parse->at == '"')
		return read_string(parse);
	word.at = parse->at;
	while (parse->at < parse->end && is_word_character(*parse->at))
		parse->at++;
	word.bytes = (size_t)(parse->at - word.at);
	if (word.bytes)
		word.kind = 'w';
	else if (*parse->at && strchr("{}[]=,", *parse->at))
		word.kind = *parse->at++;
	return word;
}

static bool word_is(const struct word *word, const char *text)
{
	return word->bytes == strlen(text) && !memcmp(word->at, text, word->bytes);
}

static bool same_words(const struct word *a, const struct word *b)
{
	return a->bytes == b->bytes && !memcmp(a->at, b->at, a->bytes);
}

/* Returns UINT64_MAX for anything but a number below that. */
static uint64_t word_number(const struct word *word)
{
	uint64_t number = 0;
	size_t i;

	for (i = 0; i < word->bytes; i++)
		if (!isdigit((unsigned char)word->at[i]) ||
		    __builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, word->at[i] - '0', &number))
			return UINT64_MAX;
	return word->kind == 'w' && word->bytes ? number : UINT64_MAX;
}

/* Multiply; UINT64_MAX is an invalid factor, and the result for anything that does not fit. */
static uint64_t bounded_product(uint64_t a, uint64_t b)
{
	uint64_t result;

	return a == UINT64_MAX || b == UINT64_MAX || __builtin_mul_overflow(a, b, &result) ?
	       UINT64_MAX : result;
}

/* True if @word is the id with dashes. */
static bool is_id(const struct word *word, const char *id)
{
	size_t i, used = 0;

	for (i = 0; i < word->bytes; i++) {
		if (word->at[i] == '-')
			continue;
		if (used == LVM_ID || word->at[i] != id[used++])
			return false;
	}
	return used == LVM_ID;
}

static bool in_part(const struct parse *parse, const char *part, unsigned int depth)
{
	return parse->depth == depth && word_is(&parse->part, part);
}

static void free_segments(struct volume_segment *segment, unsigned int segments)
{
	while (segments)
		free(segment[--segments].stripe);
	free(segment);
}

/* Take an element of the list of stripes: names of PVs, each followed by its first extent. */
static void take_stripe(struct parse *parse, unsigned int index, const struct word *word)
{
	unsigned int stripe = index / 2;

	parse->stripes = stripe < LVM_STRIPES_MAX ? stripe + 1 : LVM_STRIPES_MAX + 1;
	if (stripe >= LVM_STRIPES_MAX)
		return;
	if (!(index % 2)) {
		parse->stripe_name[stripe] = *word;
		parse->stripe_extent[stripe] = UINT64_MAX;
	} else {
		parse->stripe_extent[stripe] = word_number(word);
	}
}

/* Take a value, or element @index of a list. */
static void take_value(struct parse *parse, const struct word *key, unsigned int index,
		       const struct word *word)
{
	if (parse->depth == DEPTH_GROUP) {
		if (word_is(key, "extent_size"))
			parse->extent = bounded_product(word_number(word), LVM_SECTOR);
		else if (word_is(key, "seqno"))
			parse->group->sequence = word_number(word);
	} else if (in_part(parse, "physical_volumes", DEPTH_VOLUME)) {
		if (word_is(key, "id"))
			parse->is_ours = is_id(word, parse->id);
		else if (word_is(key, "pe_start"))
			parse->pe_start = word_number(word);
	} else if (in_part(parse, "logical_volumes", DEPTH_SEGMENT)) {
		if (word_is(key, "start_extent"))
			parse->first = word_number(word);
		else if (word_is(key, "extent_count"))
			parse->count = word_number(word);
		else if (word_is(key, "stripe_size"))
			parse->unit = word_number(word);
		else if (word_is(key, "type"))
			parse->is_striped = word_is(word, "striped");
		else if (word_is(key, "stripes"))
			take_stripe(parse, index, word);
	}
}

/* Returns false if memory fails. */
static bool add_segment(struct parse *parse, const struct volume_segment *segment)
{
	if (parse->segments == parse->room) {
		unsigned int room = parse->room ? 2 * parse->room : 4;
		void *longer = reallocarray(parse->segment, room, sizeof(*segment));

		if (!longer) {
			fail_memory();
			return false;
		}
		parse->segment = longer;
		parse->room = room;
	}
	parse->segment[parse->segments++] = *segment;
	parse->all_segments++;
	return true;
}

static void set_stripe(const struct parse *parse, unsigned int i, struct volume_stripe *stripe)
{
	uint64_t start = bounded_product(parse->stripe_extent[i], parse->extent);

	stripe->here = parse->ours.bytes && start != UINT64_MAX &&
		       same_words(&parse->stripe_name[i], &parse->ours) &&
		       !__builtin_add_overflow(start, parse->ours_start, &stripe->start);
}

/* Convert the segment that ends here. Returns false if memory fails. */
static bool end_segment(struct parse *parse)
{
	struct volume_segment segment = {
		.start = bounded_product(parse->first, parse->extent),
		.length = bounded_product(parse->count, parse->extent),
		.stripes = parse->stripes,
	};
	unsigned int i;

	segment.unit = parse->stripes == 1 ? segment.length :
					     bounded_product(parse->unit, LVM_SECTOR);
	if (!parse->is_striped || !parse->stripes || parse->stripes > LVM_STRIPES_MAX ||
	    !segment.length || segment.unit < LVM_UNIT_MIN || segment.start == UINT64_MAX ||
	    segment.length >= UINT64_MAX - segment.start || segment.unit == UINT64_MAX ||
	    parse->all_segments == LVM_SEGMENTS_MAX) {
		parse->is_odd = true;
		return true;
	}
	segment.stripe = calloc(parse->stripes, sizeof(*segment.stripe));
	if (!segment.stripe) {
		fail_memory();
		return false;
	}
	for (i = 0; i < parse->stripes; i++)
		set_stripe(parse, i, &segment.stripe[i]);
	return add_segment(parse, &segment);
}

static void end_physical(struct parse *parse)
{
	uint64_t start = bounded_product(parse->pe_start, LVM_SECTOR);

	if (!parse->is_ours || start == UINT64_MAX)
		return;
	parse->ours = parse->name;
	parse->ours_start = start;
}

/* Move the segments of the logical volume that ends here to the result. */
static bool end_logical(struct parse *parse)
{
	struct lvm_group *group = parse->group;
	struct volume *longer, volume = { .segment = parse->segment, .segments = parse->segments };
	unsigned int i;

	if (parse->is_odd || !parse->segments) {
		group->others++;
		return true;
	}
	for (i = 0; i < volume.segments; i++)
		if (volume.size < volume.segment[i].start + volume.segment[i].length)
			volume.size = volume.segment[i].start + volume.segment[i].length;
	longer = reallocarray(group->volume, group->volumes + 1, sizeof(*longer));
	if (!longer) {
		fail_memory();
		return false;
	}
	group->volume = longer;
	group->volume[group->volumes++] = volume;
	parse->segment = NULL;
	parse->segments = parse->room = 0;
	return true;
}

static void begin_section(struct parse *parse, const struct word *name)
{
	parse->depth++;
	if (parse->depth == DEPTH_PART) {
		parse->part = *name;
	} else if (parse->depth == DEPTH_VOLUME) {
		parse->name = *name;
		parse->is_ours = false;
		parse->pe_start = UINT64_MAX;
		parse->is_odd = false;
		free_segments(parse->segment, parse->segments);
		parse->segment = NULL;
		parse->segments = parse->room = 0;
	} else if (parse->depth == DEPTH_SEGMENT) {
		parse->first = parse->count = UINT64_MAX;
		parse->unit = 0;
		parse->is_striped = false;
		parse->stripes = 0;
	}
}

/* Returns false if there is no open section, or memory fails. */
static bool end_section(struct parse *parse)
{
	bool good = parse->depth;

	if (in_part(parse, "logical_volumes", DEPTH_SEGMENT))
		good = end_segment(parse);
	else if (in_part(parse, "logical_volumes", DEPTH_VOLUME))
		good = end_logical(parse);
	else if (in_part(parse, "physical_volumes", DEPTH_VOLUME))
		end_physical(parse);
	if (parse->depth)
		parse->depth--;
	return good;
}

/* Parse the value behind KEY =. */
static bool read_value(struct parse *parse, const struct word *key)
{
	struct word word = next_word(parse);
	unsigned int index = 0;

	if (word.kind == 'w' || word.kind == '"') {
		take_value(parse, key, 0, &word);
		return true;
	}
	if (word.kind != '[')
		return false;
	for (word = next_word(parse); word.kind != ']'; word = next_word(parse)) {
		if (word.kind == 'w' || word.kind == '"')
			take_value(parse, key, index++, &word);
		else if (word.kind != ',')
			return false;
	}
	return true;
}

/* Parse one KEY = VALUE, or the start or end of a section. */
static bool read_item(struct parse *parse, const struct word *word)
{
	struct word sign;

	if (word->kind == '}')
		return end_section(parse);
	if (word->kind != 'w')
		return false;
	sign = next_word(parse);
	if (sign.kind == '=')
		return read_value(parse, word);
	if (sign.kind != '{' || parse->depth == DEPTH_MAX)
		return false;
	begin_section(parse, word);
	return true;
}

/*
 * Parse the text of a volume group. @id: LVM_ID bytes, the PV to which the stripes in the result
 * refer. Call lvm_free() even after a failure. Returns false if the text is not as LVM writes it,
 * and if memory fails (recorded with fail()).
 */
bool lvm_parse(const char *text, size_t bytes, const char *id, struct lvm_group *group)
{
	struct parse *parse = calloc(1, sizeof(*parse));
	struct word word;
	bool good = parse;

	memset(group, 0, sizeof(*group));
	if (!parse) {
		fail_memory();
		return false;
	}
	parse->at = text;
	/* The text ends with a 0 byte. */
	parse->end = memchr(text, 0, bytes) ?: text + bytes;
	parse->id = id;
	parse->group = group;
	parse->extent = UINT64_MAX;
	do {
		skip_blanks(parse);
		if (parse->at == parse->end)
			break;
		word = next_word(parse);
		good = read_item(parse, &word);
	} while (good);
	good = good && !parse->depth;
	free_segments(parse->segment, parse->segments);
	free(parse);
	return good;
}

void lvm_free(struct lvm_group *group)
{
	while (group->volumes) {
		struct volume *volume = &group->volume[--group->volumes];

		free_segments((struct volume_segment *)volume->segment, volume->segments);
	}
	free(group->volume);
	memset(group, 0, sizeof(*group));
}
