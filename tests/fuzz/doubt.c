// SPDX-License-Identifier: GPL-2.0-only
/* Model of the data that a load must not trust; doubt.h states its rules. */
#include "doubt.h"
#include "fuzz.h"
#include "store.h"

/* Common head of intent sectors and witness records. */
struct head {
	__le32 magic;
	__le32 checksum;
	__u8 uuid[16];
};

static bool sound(const void *what, size_t bytes, u32 magic, const u8 *uuid)
{
	unsigned char copy[NEARCACHE_PAGE_SIZE];
	const struct head *head = what;
	u32 sum = le32toh(head->checksum);

	memcpy(copy, what, bytes);
	memset(copy + 4, 0, 4);
	return le32toh(head->magic) == magic && !memcmp(head->uuid, uuid, 16) &&
	       crc_extend(0, copy, bytes) == sum;
}

/* Read superblock copy @copy; -1: the newer valid copy.  Returns false if that copy is invalid. */
static bool read_super(struct nearcache_super *sb, int copy, bool durable)
{
	static const u64 at[] = { 4096, 512 << 10 };
	struct nearcache_super both[2];
	struct nc_geometry geo;
	char why[NC_WHY_SIZE];
	bool good[2];
	int i;

	for (i = 0; i < 2; i++) {
		store_read(&fuzz_cache, at[i], durable, &both[i]);
		good[i] = nc_super_check(&both[i], fuzz_cache.bytes, &geo, why);
	}
	if (copy < 0)
		copy = good[1] &&
		       (!good[0] || le64toh(both[1].sequence) > le64toh(both[0].sequence));
	*sb = both[copy];
	return good[copy];
}

/* Read the cache's witness record; all zeros if there is none or @sb names another witness. */
static struct nearcache_witness ask(const struct nearcache_super *sb, bool durable)
{
	struct nearcache_witness record;
	u64 at;

	for (at = 0; at < 64 * 4096 && at + 4096 <= fuzz_witness.bytes; at += 4096) {
		store_read(&fuzz_witness, at, durable, &record);
		if (!sound(&record, sizeof(record), 0x6977636e, sb->uuid) ||
		    le64toh(record.session) >> 63)
			continue;
		if (le32toh(record.state) == 4)
			break;
		return record;
	}
	return (struct nearcache_witness) { };
}

static bool proves(const struct nearcache_super *sb, const struct nearcache_witness *record)
{
	return le32toh(record->state) == 1 && sb->session &&
	       (record->session == sb->session || record->previous == sb->session);
}

/* Does the witness have a later session than @sb, which did not directly follow that of @sb? */
static bool passed(const struct nearcache_super *sb, const struct nearcache_witness *record)
{
	return le64toh(record->session) > le64toh(sb->session) &&
	       (!record->previous || record->previous != sb->session);
}

static void judge_sector(struct doubt *d, u32 i, const struct nearcache_witness *record)
{
	const struct nearcache_intent *s = &d->area[i];
	bool good = sound(s, sizeof(*s), 0x6e69636e, d->super.uuid) && le32toh(s->index) == i;
	/* @next: the sector is of the session that was about to begin, which marked nothing. */
	bool next = good && s->session == record->session &&
		    record->session != d->super.session;

	d->full[i] = !good || (s->session != d->super.session && !next);
	if (next)
		memset(&d->area[i], 0, sizeof(d->area[i]));
}

/**
 * doubt_read() - derive the regions in doubt from cache device and witness
 * @d: output
 * @copy: number of the superblock copy to use; -1: the newer valid one
 * @witness: the dm table names a witness
 * @durable: read the content that would survive a power cut
 *
 * Return: false if this superblock is invalid; @d is then incomplete.
 */
bool doubt_read(struct doubt *d, int copy, bool witness, bool durable)
{
	struct nearcache_witness record = { };
	u32 i, state;
	u64 at;

	memset(d, 0, sizeof(*d));
	if (!read_super(&d->super, copy, durable))
		return false;
	state = le32toh(d->super.state);
	d->region = le64toh(d->super.intent_region);
	if (witness)
		record = ask(&d->super, durable);
	if (state == 1 || (state != 3 && passed(&d->super, &record)))
		d->all = true;
	if (state != 3)
		return true;
	if (!proves(&d->super, &record)) {
		d->all = true;
		return true;
	}
	at = le64toh(d->super.area[2].offset);
	for (i = 0; i < DOUBT_SECTORS; i += 8)
		store_read(&fuzz_cache, at + i * 512, durable, &d->area[i]);
	for (i = 0; i < DOUBT_SECTORS; i++)
		judge_sector(d, i, &record);
	d->all = d->full[0] || le32toh(d->area[0].flags) & 1;
	return true;
}

/* Is any byte of the origin from @from to before @to in doubt? */
bool doubt_of(const struct doubt *d, u64 from, u64 to)
{
	const struct nearcache_intent *s;
	u64 bit;

	if (d->all || le32toh(d->super.state) != 3)
		return d->all;
	for (bit = from / d->region; bit <= (to - 1) / d->region; bit++) {
		s = &d->area[bit / 2048];
		if (d->full[bit / 2048] || s->bits[bit % 2048 / 8] >> bit % 8 & 1)
			return true;
	}
	return false;
}

/* A write to the witness: abort unless old and new content are records of this cache. */
void doubt_witness_write(u64 offset, const void *record)
{
	struct nearcache_witness was;
	struct nearcache_super sb;
	int i;

	store_read(&fuzz_witness, offset, false, &was);
	for (i = 0; i < 2; i++)
		if (read_super(&sb, i, false) &&
		    sound(&was, sizeof(was), 0x6977636e, sb.uuid) &&
		    sound(record, sizeof(was), 0x6977636e, sb.uuid))
			return;
	fuzz_bug("write to the witness at %llu, not a record of the cache", offset);
}
