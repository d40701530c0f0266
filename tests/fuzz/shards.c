// SPDX-License-Identifier: GPL-2.0-only
/* Generates shards of each format, changes bytes of them, and corrects their checksums. */
#include "shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/le.h"
#include "shard/tar_header.h"

/* Draw a number below @below (> 0) from the generator with the state @random. */
uint32_t shards_random(uint64_t *random, uint32_t below)
{
	*random = *random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*random >> 33) % below;
}

#define RANDOM(below)	shards_random(random, below)

static void make_long_name(struct shard *shard, uint64_t *random)
{
	static const char type[] = { TAR_LONG_NAME, TAR_LONG_LINK };
	size_t bytes = 90 + RANDOM(600);

	shard_tar_header(shard, "././@LongLink", type[RANDOM(2)], bytes);
	shard_fill(shard, 'n', bytes - 1);
	shard_fill(shard, 0, 1 + -bytes % TAR_BLOCK);
}

static void make_tar(struct shard *shard, uint64_t *random)
{
	static const char *const name[] = {
		"a.jpg", "a.cls", "b.jpg", "d/a.x", "d.e/f", ".hidden", "d/",
		"./c.tar.gz", "",
	};
	static const char *const pax[] = {
		"12 path=p.x\n", "9 size=5\n", "8 size=\n", "8 path=\n",
		"22 GNU.sparse.major=1\n", "12 path=p.x\n11 size=700\n",
		"16 comment=none\n",
	};
	static const char type[] = "0000000\0007123456xgLKSMVX";
	unsigned int members = RANDOM(12), kind;

	while (members--) {
		kind = RANDOM(8);
		if (kind == 0)
			make_long_name(shard, random);
		else if (kind == 1)
			shard_tar_pax(shard, RANDOM(4) ? 'x' : 'g',
				      pax[RANDOM(sizeof(pax) / sizeof(*pax))]);
		else if (kind == 2)
			shard_tar_header(shard, name[RANDOM(9)],
					 type[RANDOM(sizeof(type))], RANDOM(2));
		else
			shard_tar_file(shard, name[RANDOM(9)], RANDOM(1200));
	}
	if (RANDOM(8))
		shard_tar_end(shard);
	if (!RANDOM(8))
		make_tar(shard, random);
}

static void make_tfrecord(struct shard *shard, uint64_t *random)
{
	unsigned int records = RANDOM(20);

	while (records--)
		shard_tfrecord(shard, RANDOM(10) ? RANDOM(100) : RANDOM(9000));
}

static void make_file(struct shard *shard, enum index_format format,
		      uint64_t *random)
{
	if (format == INDEX_TAR)
		make_tar(shard, random);
	else if (format == INDEX_TFRECORD)
		make_tfrecord(shard, random);
	else if (format == INDEX_PARQUET)
		shard_parquet(shard, RANDOM(20), RANDOM(20));
	else if (format == INDEX_MDS)
		shard_mds(shard, RANDOM(50));
	else
		shard_npz(shard, RANDOM(30), RANDOM(2));
}

/* Draw an offset in the file, often near its start or end or at a tar header. */
static size_t place(const struct shard *shard, uint64_t *random)
{
	size_t length = shard->length;

	switch (RANDOM(4)) {
	case 0:
		return RANDOM(length < 64 ? length : 64);
	case 1:
		return length - 1 - RANDOM(length < 100 ? length : 100);
	case 2:
		return RANDOM(length / TAR_BLOCK + 1) * TAR_BLOCK % length;
	default:
		return RANDOM(length);
	}
}

/* Overwrite 1 to 8 bytes by a number that is likely to break a check. */
static void change_number(struct shard *shard, uint64_t *random)
{
	const uint64_t value[] = {
		0, 1, 2, 0xff, 0xffff, 0x7fffffff, UINT32_MAX, INT64_MAX,
		UINT64_MAX, shard->length, shard->length - 1, shard->length + 1,
		RANDOM(shard->length), RANDOM(UINT32_MAX),
	};
	size_t at = place(shard, random);
	unsigned int bytes = 1U << RANDOM(4);

	if (bytes > shard->length - at)
		bytes = 1;
	shard_set_le(shard, at,
		     value[RANDOM(sizeof(value) / sizeof(value[0]))], bytes);
}

/* Copy a range to another offset; in one of four cases also shorten the file by that length. */
static void move_range(struct shard *shard, uint64_t *random)
{
	size_t from = place(shard, random), to = place(shard, random);
	size_t bytes = RANDOM(600);

	if (bytes > shard->length - from)
		bytes = shard->length - from;
	if (bytes > shard->length - to)
		bytes = shard->length - to;
	memmove(shard->bytes + to, shard->bytes + from, bytes);
	if (!RANDOM(4))
		shard->length -= bytes;
}

static void change(struct shard *shard, uint64_t *random)
{
	unsigned int times = RANDOM(4);

	while (times-- && shard->length) {
		switch (RANDOM(6)) {
		case 0:
			shard->length -= RANDOM(shard->length);
			break;
		case 1:
			move_range(shard, random);
			break;
		case 2:
			shard->bytes[place(shard, random)] ^= 1U << RANDOM(8);
			break;
		default:
			change_number(shard, random);
		}
	}
}

/**
 * shards_make() - generate an input
 * @input: output
 * @room: size of @input, more than a struct shards_head
 * @random: state of the generator
 *
 * Return: bytes of the input.
 */
size_t shards_make(unsigned char *input, size_t room, uint64_t *random)
{
	static const char *const list[] = {
		"", "0", "0-3", "2,1,0", "0-0,2-4", "d/a", "=a", "a,b", "5-2",
		"array-01.npy", "\\a", "\\d\\x2fa", "\\\\x", "\\x6",
	};
	enum index_format format = INDEX_ANY + 1 + RANDOM(INDEX_FORMATS - 1);
	struct shards_head head = { .flags = (uint8_t)RANDOM(16) };
	struct shard shard = { 0 };
	size_t bytes;

	if (RANDOM(2))
		head.format = RANDOM(8) ? format : RANDOM(INDEX_FORMATS);
	strncpy(head.list, list[RANDOM(sizeof(list) / sizeof(list[0]))],
		sizeof(head.list) - 1);
	make_file(&shard, format, random);
	change(&shard, random);
	bytes = shard.length < room - sizeof(head) ? shard.length :
						     room - sizeof(head);
	memcpy(input, &head, sizeof(head));
	if (bytes)
		memcpy(input + sizeof(head), shard.bytes, bytes);
	shard_free(&shard);
	return sizeof(head) + bytes;
}

static void seal_tar(unsigned char *file, size_t bytes)
{
	size_t at;

	for (at = 0; bytes - at >= TAR_BLOCK; at += TAR_BLOCK)
		if (!memcmp(file + at + SHARD_TAR_MAGIC, "ustar", 5))
			shard_tar_seal(file + at);
}

static void put_le32(unsigned char *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static void seal_tfrecord(unsigned char *file, size_t bytes)
{
	size_t at = 0;

	while (bytes - at >= 16) {
		uint64_t length = get_le64(file + at);

		put_le32(file + at + 8, shard_masked_crc(file + at, 8));
		if (length > bytes - at - 16)
			return;
		put_le32(file + at + 12 + length,
			 shard_masked_crc(file + at + 12, length));
		at += 16 + length;
	}
}

/* Correct the checksums that @flags (SHARDS_SEAL_*) selects in a file of @bytes bytes. */
void shards_seal(unsigned char *file, size_t bytes, unsigned int flags)
{
	if (flags & SHARDS_SEAL_TAR)
		seal_tar(file, bytes);
	if (flags & SHARDS_SEAL_TFRECORD)
		seal_tfrecord(file, bytes);
}
