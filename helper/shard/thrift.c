// SPDX-License-Identifier: GPL-2.0-only
#include "shard/thrift.h"

/* Structures and lists in each other. */
#define DEPTH_MAX	32
/* Bytes of the longest number: 64 bits, 7 in each. */
#define VARINT_MAX	10

static uint64_t damage(struct thrift *thrift, const char *what)
{
	if (!thrift->failed)
		scan_damage(thrift->scan, thrift->at, "%s", what);
	thrift->failed = true;
	return 0;
}

static unsigned int next_byte(struct thrift *thrift)
{
	const unsigned char *at;

	if (thrift->failed)
		return 0;
	if (thrift->at >= thrift->end)
		return damage(thrift, "the metadata ends in the middle");
	at = scan_look(thrift->scan, thrift->at, 1);
	if (!at) {
		thrift->failed = true;
		return 0;
	}
	thrift->at++;
	return *at;
}

static uint64_t varint(struct thrift *thrift)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < VARINT_MAX; i++) {
		unsigned int byte = next_byte(thrift);

		value |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80))
			return value;
	}
	return damage(thrift, "a number of more than 64 bits");
}

/* Zigzag: the lowest bit is the sign. */
static int64_t number(struct thrift *thrift)
{
	uint64_t value = varint(thrift);

	return (int64_t)(value >> 1 ^ -(value & 1));
}

static void skip_bytes(struct thrift *thrift, uint64_t bytes)
{
	if (thrift->failed)
		return;
	if (bytes > thrift->end - thrift->at)
		damage(thrift, "a value reaches beyond the end of the metadata");
	else
		thrift->at += bytes;
}

static enum thrift_type known_type(struct thrift *thrift, unsigned int type)
{
	if (type < THRIFT_TYPES)
		return type;
	return damage(thrift, "a value of no known type");
}

/**
 * thrift_next() - go to the next field of a structure
 * @thrift: the position
 * @field: the field before it, the result
 *
 * Return: whether there is one.
 */
bool thrift_next(struct thrift *thrift, struct thrift_field *field)
{
	unsigned int byte = next_byte(thrift);

	field->type = known_type(thrift, byte & 0xf);
	if (field->type == THRIFT_STOP)
		return false;
	/* The difference to the number before, or the number itself. */
	if (byte >> 4)
		field->id += (int32_t)(byte >> 4);
	else
		field->id = (int16_t)number(thrift);
	if (field->id > INT16_MAX)
		damage(thrift, "a field of a number that there is not");
	return !thrift->failed;
}

/* Each member takes at least one byte. */
static uint64_t check_count(struct thrift *thrift, uint64_t count)
{
	if (!thrift->failed && count > thrift->end - thrift->at)
		return damage(thrift, "a list is longer than the metadata");
	return thrift->failed ? 0 : count;
}

static uint64_t list_header(struct thrift *thrift, enum thrift_type *type)
{
	unsigned int byte = next_byte(thrift);
	uint64_t count = byte >> 4;

	*type = known_type(thrift, byte & 0xf);
	if (count == 15)
		count = varint(thrift);
	if (count && *type == THRIFT_STOP)
		return damage(thrift, "a list of no known type");
	return check_count(thrift, count);
}

/**
 * thrift_list() - go into the list that a field has
 * @thrift: the position
 * @field: the field
 * @type: what its members must be
 *
 * Return: how many members follow.
 */
uint64_t thrift_list(struct thrift *thrift, const struct thrift_field *field,
		     enum thrift_type type)
{
	enum thrift_type found;
	uint64_t count;

	if (field->type != THRIFT_LIST)
		return damage(thrift, "a field that must be a list is none");
	count = list_header(thrift, &found);
	if (count && found != type)
		return damage(thrift, "a list with members of another type");
	return count;
}

/**
 * thrift_struct() - go into the structure that a field has
 * @thrift: the position
 * @field: the field
 *
 * Return: whether it has one.
 */
bool thrift_struct(struct thrift *thrift, const struct thrift_field *field)
{
	if (field->type != THRIFT_STRUCT)
		damage(thrift, "a field that must be a structure is none");
	return !thrift->failed;
}

/**
 * thrift_size() - read an offset or length
 * @thrift: the position
 * @field: the field
 *
 * Return: its value, bytes, less than 2^63.
 */
uint64_t thrift_size(struct thrift *thrift, const struct thrift_field *field)
{
	uint64_t start = thrift->at;
	int64_t value;

	if (field->type != THRIFT_I64)
		return damage(thrift, "an offset or length is no number of 64 bits");
	value = number(thrift);
	if (value >= 0)
		return (uint64_t)value;
	thrift->at = start;
	return damage(thrift, "an offset or length is negative");
}

/**
 * thrift_binary() - pass over a text
 * @thrift: the position, behind the text afterwards
 *
 * Return: its length, bytes.
 */
uint64_t thrift_binary(struct thrift *thrift)
{
	uint64_t bytes = varint(thrift);

	skip_bytes(thrift, bytes);
	return thrift->failed ? 0 : bytes;
}

static void skip(struct thrift *thrift, enum thrift_type type, bool in_list,
		 unsigned int depth);

static void skip_struct(struct thrift *thrift, unsigned int depth)
{
	struct thrift_field field = { 0 };

	while (thrift_next(thrift, &field))
		skip(thrift, field.type, false, depth + 1);
}

static void skip_list(struct thrift *thrift, unsigned int depth)
{
	enum thrift_type type;
	uint64_t count = list_header(thrift, &type);

	while (count-- && !thrift->failed)
		skip(thrift, type, true, depth + 1);
}

static void skip_map(struct thrift *thrift, unsigned int depth)
{
	uint64_t count = check_count(thrift, varint(thrift));
	unsigned int types = count ? next_byte(thrift) : 0;

	while (count-- && !thrift->failed) {
		skip(thrift, known_type(thrift, types >> 4), true, depth + 1);
		skip(thrift, known_type(thrift, types & 0xf), true, depth + 1);
	}
}

/* A truth value of a field is in its type; in a list it takes a byte. */
static void skip(struct thrift *thrift, enum thrift_type type, bool in_list,
		 unsigned int depth)
{
	if (depth == DEPTH_MAX)
		damage(thrift, "structures in structures, too many of them");
	else if (type == THRIFT_BYTE ||
		 (in_list && (type == THRIFT_TRUE || type == THRIFT_FALSE)))
		skip_bytes(thrift, 1);
	else if (type >= THRIFT_I16 && type <= THRIFT_I64)
		varint(thrift);
	else if (type == THRIFT_DOUBLE)
		skip_bytes(thrift, 8);
	else if (type == THRIFT_BINARY)
		thrift_binary(thrift);
	else if (type == THRIFT_LIST || type == THRIFT_SET)
		skip_list(thrift, depth);
	else if (type == THRIFT_MAP)
		skip_map(thrift, depth);
	else if (type == THRIFT_STRUCT)
		skip_struct(thrift, depth);
	else if (type == THRIFT_STOP)
		damage(thrift, "a value of no known type");
}

/**
 * thrift_skip() - pass over the value of a field
 * @thrift: the position
 * @field: the field
 */
void thrift_skip(struct thrift *thrift, const struct thrift_field *field)
{
	skip(thrift, field->type, false, 0);
}
