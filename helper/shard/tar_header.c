// SPDX-License-Identifier: GPL-2.0-only
#include "shard/tar_header.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Offsets and lengths of the header's fields, bytes. */
#define NAME		0
#define NAME_BYTES	100
#define SIZE		124
#define SIZE_BYTES	12
#define CHECKSUM	148
#define CHECKSUM_BYTES	8
#define TYPE		156
#define MAGIC		257
#define PREFIX		345
#define PREFIX_BYTES	155

/* Returns whether the block has only zeros, which ends an archive. */
bool tar_is_end(const unsigned char *block)
{
	return !block[0] && !memcmp(block, block + 1, TAR_BLOCK - 1);
}

/* Parses octal digits, after spaces, up to a space or NUL. Returns NULL, or the fault as text. */
static const char *parse_octal(const unsigned char *field, size_t bytes,
			       uint64_t *value)
{
	size_t i = 0;

	*value = 0;
	while (i < bytes && field[i] == ' ')
		i++;
	for (; i < bytes && field[i] && field[i] != ' '; i++) {
		if (field[i] < '0' || field[i] > '7')
			return "is not an octal number";
		*value = *value << 3 | (field[i] - '0');
	}
	return NULL;
}

/* Parses GNU's binary number: behind the first bit, which is set, all bits are a signed number. */
static const char *parse_binary(const unsigned char *field, size_t bytes,
				uint64_t *value)
{
	size_t i;

	if (field[0] & 0x40)
		return "is negative";
	*value = field[0] & 0x3f;
	for (i = 1; i < bytes; i++) {
		if (*value >> 55)
			return "does not fit in 63 bits";
		*value = *value << 8 | field[i];
	}
	return NULL;
}

/* Compares the header's checksum with the sums of unsigned and of signed bytes: both are in use. */
bool tar_is_sound(const unsigned char *block)
{
	uint64_t stored, sum = CHECKSUM_BYTES * ' ', with_signs = sum;
	size_t i;

	if (parse_octal(block + CHECKSUM, CHECKSUM_BYTES, &stored))
		return false;
	for (i = 0; i < TAR_BLOCK; i++) {
		if (i >= CHECKSUM && i < CHECKSUM + CHECKSUM_BYTES)
			continue;
		sum += block[i];
		with_signs += (uint64_t)(int64_t)(signed char)block[i];
	}
	return stored == sum || stored == with_signs;
}

/*
 * Returns the type of a header that passed tar_is_sound(). Old archives mark a directory only by
 * a '/' at the end of its name.
 */
enum tar_type tar_type(const unsigned char *block)
{
	const char *name = (const char *)block + NAME;
	size_t length = strnlen(name, NAME_BYTES);

	if (block[TYPE] == TAR_FILE_OLD && length && name[length - 1] == '/')
		return TAR_DIRECTORY;
	return (enum tar_type)block[TYPE];
}

/* Reads the size in @block, which passed tar_is_sound(). Returns NULL, or the fault as text. */
const char *tar_size(const unsigned char *block, uint64_t *size)
{
	const unsigned char *field = block + SIZE;

	return field[0] & 0x80 ? parse_binary(field, SIZE_BYTES, size) :
				 parse_octal(field, SIZE_BYTES, size);
}

/* Writes the name in @block, which passed tar_is_sound(), to @name of TAR_NAME bytes. */
void tar_name(const unsigned char *block, char *name)
{
	const char *prefix = (const char *)block + PREFIX;
	/* The GNU format has another magic and other fields in place of the prefix. */
	bool posix = !memcmp(block + MAGIC, "ustar", 6);
	size_t length = posix ? strnlen(prefix, PREFIX_BYTES) : 0;

	snprintf(name, TAR_NAME, "%.*s%s%.*s", (int)length, prefix,
		 length ? "/" : "", NAME_BYTES, (const char *)block + NAME);
}

/*
 * Parses the record at the start of @text, "LENGTH KEY=VALUE\n". @bytes must not be 0. Returns
 * the length of the record, or 0 if it is invalid.
 */
size_t pax_next(const char *text, size_t bytes, struct pax_record *record)
{
	const char *equals;
	size_t i, length = 0;

	for (i = 0; i < bytes && isdigit((unsigned char)text[i]); i++) {
		length = length * 10 + (size_t)(text[i] - '0');
		if (length > bytes)
			return 0;
	}
	if (i + 1 >= length || text[i] != ' ' || text[length - 1] != '\n')
		return 0;
	record->key = text + i + 1;
	equals = memchr(record->key, '=', length - i - 1);
	if (!equals)
		return 0;
	record->key_length = (size_t)(equals - record->key);
	record->value = equals + 1;
	record->value_length = (size_t)(text + length - 1 - record->value);
	return length;
}

/* Returns whether the record has @key, or, if @key ends with a dot, a key with this prefix. */
bool pax_is(const struct pax_record *record, const char *key)
{
	size_t length = strlen(key);

	if (key[length - 1] != '.' && record->key_length != length)
		return false;
	return record->key_length >= length && !memcmp(record->key, key, length);
}

/* Returns false unless the value has 1 to 18 digits and nothing else. */
bool pax_number(const struct pax_record *record, uint64_t *number)
{
	size_t i;

	*number = 0;
	for (i = 0; i < record->value_length; i++) {
		if (!isdigit((unsigned char)record->value[i]))
			return false;
		*number = *number * 10 + (uint64_t)(record->value[i] - '0');
	}
	return i && i <= 18;
}
