// SPDX-License-Identifier: GPL-2.0-only
#include "shard/thrift.h"

/* Deepest nesting of structures and lists. */
#define DEPTH_MAX	32
/* Maximum bytes of an encoded 64-bit number: each byte has 7 of its bits. */
#define VARINT_MAX	10

static uint64_t report_damage(struct thrift *thrift, const char *what)
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
		return report_damage(thrift, "the metadata ends inside a value");
	at = scan_look(thrift->scan, thrift->at, 1);
	if (!at) {
		thrift->failed = true;
		return 0;
	}
	thrift->at++;
	return *at;
}

static uint64_t read_varint(struct thrift *thrift)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < VARINT_MAX; i++) {
		unsigned int byte = next_byte(thrift);

		value |= (uint64_t)(byte & 0x7f) << 7 * i;
		if (!(byte & 0x80))
			return value;
	}
	return report_damage(thrift, "a number of more than 64 bits");
}

/* Zigzag encoding: the lowest bit is the sign. */
static int64_t read_zigzag(struct thrift *thrift)
{
	uint64_t value = read_varint(thrift);

	return (int64_t)(value >> 1 ^ -(value & 1));
}

static void skip_bytes(struct thrift *thrift, uint64_t bytes)
{
	if (thrift->failed)
		return;
	if (bytes > thrift->end - thrift->at)
		report_damage(thrift, "a value reaches beyond the end of the metadata");
	else
		thrift->at += bytes;
}

static enum thrift_type known_type(struct thrift *thrift, unsigned int type)
{
	if (type < THRIFT_TYPES)
		return type;
	return report_damage(thrift, "a value of an unknown type");
}

/*
 * Advances to the next field. The caller zeroes @field before the first call. Returns false at the
 * end of the structure and after an error.
 */
bool thrift_next(struct thrift *thrift, struct thrift_field *field)
{
	unsigned int byte = next_byte(thrift);

	field->type = known_type(thrift, byte & 0xf);
	if (field->type == THRIFT_STOP)
		return false;
	/* The upper bits are the difference to the previous id. If they are 0, the id follows. */
	if (byte >> 4)
		field->id += (int32_t)(byte >> 4);
	else
		field->id = (int16_t)read_zigzag(thrift);
	if (field->id > INT16_MAX)
		report_damage(thrift, "a field number out of range");
	return !thrift->failed;
}

/* Records an error if @count members cannot fit, because each one takes at least one byte. */
static uint64_t check_count(struct thrift *thrift, uint64_t count)
{
	if (!thrift->failed && count > thrift->end - thrift->at)
		return report_damage(thrift, "a list is longer than the metadata");
	return thrift->failed ? 0 : count;
}

static uint64_t list_header(struct thrift *thrift, enum thrift_type *type)
{
	unsigned int byte = next_byte(thrift);
	uint64_t count = byte >> 4;

	*type = known_type(thrift, byte & 0xf);
	if (count == 15)
		count = read_varint(thrift);
	if (count && *type == THRIFT_STOP)
		return report_damage(thrift, "a list of an unknown type");
	return check_count(thrift, count);
}

/* Enters a list whose members must have @type. Returns their number, or 0 after an error. */
uint64_t thrift_list(struct thrift *thrift, const struct thrift_field *field,
		     enum thrift_type type)
{
	enum thrift_type found;
	uint64_t count;

	if (field->type != THRIFT_LIST)
		return report_damage(thrift, "a field is not a list");
	count = list_header(thrift, &found);
	if (count && found != type)
		return report_damage(thrift, "a list with members of another type");
	return count;
}

/* Enters a structure. Returns false after recording an error. */
bool thrift_struct(struct thrift *thrift, const struct thrift_field *field)
{
	if (field->type != THRIFT_STRUCT)
		report_damage(thrift, "a field is not a structure");
	return !thrift->failed;
}

/* Returns an offset or length in bytes, less than 2^63. */
uint64_t thrift_size(struct thrift *thrift, const struct thrift_field *field)
{
	uint64_t start = thrift->at;
	int64_t value;

	if (field->type != THRIFT_I64)
		return report_damage(thrift, "an offset or length is not a 64-bit number");
	value = read_zigzag(thrift);
	if (value >= 0)
		return (uint64_t)value;
	thrift->at = start;
	return report_damage(thrift, "an offset or length is negative");
}

/* Skips a string. Returns its length in bytes; afterwards @thrift->at is the end of the string. */
uint64_t thrift_binary(struct thrift *thrift)
{
	uint64_t bytes = read_varint(thrift);

	skip_bytes(thrift, bytes);
	return thrift->failed ? 0 : bytes;
}

static void skip_value(struct thrift *thrift, enum thrift_type type, bool in_list,
		       unsigned int depth);

static void skip_struct(struct thrift *thrift, unsigned int depth)
{
	struct thrift_field field = { 0 };

	while (thrift_next(thrift, &field))
		skip_value(thrift, field.type, false, depth + 1);
}

static void skip_list(struct thrift *thrift, unsigned int depth)
{
	enum thrift_type type;
	uint64_t count = list_header(thrift, &type);

	while (count-- && !thrift->failed)
		skip_value(thrift, type, true, depth + 1);
}

static void skip_map(struct thrift *thrift, unsigned int depth)
{
	uint64_t count = check_count(thrift, read_varint(thrift));
	unsigned int types = count ? next_byte(thrift) : 0;

	while (count-- && !thrift->failed) {
		skip_value(thrift, known_type(thrift, types >> 4), true, depth + 1);
		skip_value(thrift, known_type(thrift, types & 0xf), true, depth + 1);
	}
}

/* Skips a value. A bool takes a byte in a list; in a field it takes none: the type is the value. */
static void skip_value(struct thrift *thrift, enum thrift_type type, bool in_list,
		       unsigned int depth)
{
	if (depth == DEPTH_MAX)
		report_damage(thrift, "too many nested structures");
	else if (type == THRIFT_BYTE ||
		 (in_list && (type == THRIFT_TRUE || type == THRIFT_FALSE)))
		skip_bytes(thrift, 1);
	else if (type >= THRIFT_I16 && type <= THRIFT_I64)
		read_varint(thrift);
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
		report_damage(thrift, "a value of an unknown type");
}

void thrift_skip(struct thrift *thrift, const struct thrift_field *field)
{
	skip_value(thrift, field->type, false, 0);
}
