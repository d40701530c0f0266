// SPDX-License-Identifier: GPL-2.0-only
#include <endian.h>
#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#include "../../selftests/nearcache/sector.h"
#include "nearcache_stage.h"
#include "recovery.h"

#define BLOCK	NEARCACHE_STAGE_BLOCK

static uint32_t sum(uint32_t crc, const void *data, size_t bytes)
{
	return ~crc32_iscsi((unsigned char *)data, bytes, ~crc);
}

static const struct nearcache_stage_super *super_good(const void *data)
{
	struct nearcache_stage_super sb;
	uint32_t checksum;

	memcpy(&sb, data, sizeof(sb));
	checksum = le32toh(sb.checksum);
	sb.checksum = 0;
	if (memcmp(sb.magic, NEARCACHE_STAGE_MAGIC, sizeof(sb.magic)) ||
	    le32toh(sb.version) != NEARCACHE_STAGE_VERSION ||
	    sum(0, &sb, sizeof(sb)) != checksum)
		return NULL;
	return data;
}

static bool desc_good(const struct nearcache_stage_desc *d, const unsigned char uuid[16],
		      uint64_t salt)
{
	struct nearcache_stage_desc copy;
	uint64_t disk_salt = htole64(salt);
	uint32_t count = le32toh(d->count);

	if (le32toh(d->magic) != NEARCACHE_STAGE_DESC_MAGIC || count > NEARCACHE_STAGE_DESC_ENTRIES)
		return false;
	memcpy(&copy, d, sizeof(copy));
	copy.checksum = 0;
	return sum(sum(sum(0, uuid, 16), &disk_salt, sizeof(disk_salt)), &copy,
		   offsetof(struct nearcache_stage_desc, entry) + count * sizeof(d->entry[0])) ==
	       le32toh(d->checksum);
}

/*
 * State of one recovery; @part: per sector of the origin, number of its newest entry, 0: none.
 * @committed: number of entries up to the commit @last; @before_last: up to the commit before it.
 */
struct recovery {
	struct state *s;
	const unsigned char *log;
	const struct nearcache_stage_super *sb;
	uint64_t ring_blocks, volume;
	uint32_t *part;
	struct entry {
		const struct nearcache_stage_entry *disk;
		uint64_t place, epoch;
	} *entry;
	size_t count, room, committed;
	const struct nearcache_stage_desc *last;
	size_t before_last;
};

static const void *block_at(const struct recovery *r, uint64_t place)
{
	return r->log + NEARCACHE_STAGE_RING_OFFSET + place % r->ring_blocks * BLOCK;
}

/* Add the entries of a descriptor; returns the place of the next one, or 0 if it is malformed. */
static uint64_t entries_add(struct recovery *r, const struct nearcache_stage_desc *d)
{
	uint64_t place = le64toh(d->place) + 1, blocks;
	uint32_t i, sectors;

	for (i = 0; i < le32toh(d->count); i++) {
		const struct nearcache_stage_entry *e = &d->entry[i];

		sectors = le32toh(e->sectors);
		blocks = nearcache_stage_blocks(e->kind, sectors);
		if (e->kind < NEARCACHE_STAGE_DATA || e->kind > NEARCACHE_STAGE_SKIP || e->flags ||
		    (blocks && place % r->ring_blocks + blocks > r->ring_blocks))
			return 0;
		if (e->kind != NEARCACHE_STAGE_SKIP &&
		    (le64toh(e->sector) > r->volume || sectors > r->volume - le64toh(e->sector)))
			return 0;
		if (r->count == r->room) {
			r->room = r->room * 2 + 1024;
			r->entry = realloc(r->entry, r->room * sizeof(*r->entry));
			if (!r->entry)
				abort();
		}
		r->entry[r->count++] = (struct entry){ e, place, le64toh(d->epoch) };
		place += blocks;
	}
	return place;
}

/* Has the descriptor the generation that belongs to its number? */
static bool generation_fits(const struct recovery *r, const struct nearcache_stage_desc *d)
{
	uint64_t start = le64toh(r->sb->generation);

	return le64toh(d->number) < le64toh(r->sb->start_number) ?
	       le64toh(d->generation) < start : le64toh(d->generation) == start;
}

/* Is the data of the last commit right?  Only a checked one can have other data. */
static bool last_good(const struct recovery *r)
{
	uint64_t total = 0, left, place, n;
	size_t i;

	if (!r->last || !(le32toh(r->last->flags) & NEARCACHE_STAGE_CHECKED))
		return true;
	for (i = r->before_last; i < r->committed; i++) {
		if (r->entry[i].disk->kind != NEARCACHE_STAGE_DATA)
			continue;
		left = (uint64_t)le32toh(r->entry[i].disk->sectors) * SECTOR;
		for (place = r->entry[i].place; left; place++, left -= n) {
			n = left < BLOCK ? left : BLOCK;
			total += (2 * place + 1) * sum(0, block_at(r, place), n);
		}
	}
	return total == le64toh(r->last->data_checksum);
}

/* Follow the chain up to the last commit. */
static const char *chain_follow(struct recovery *r, struct recovered_log *out)
{
	uint64_t place = le64toh(r->sb->tail), number = le64toh(r->sb->tail_number);
	uint64_t epoch = le64toh(r->sb->tail_epoch), last = number - 1, blocks = 0, next;

	out->committed = epoch - 1;
	while (blocks <= r->ring_blocks) {
		const struct nearcache_stage_desc *d = block_at(r, place);

		if (!desc_good(d, r->sb->uuid, le64toh(r->sb->salt)) ||
		    le64toh(d->place) != place || le64toh(d->number) != number ||
		    !generation_fits(r, d))
			break;
		if (le64toh(d->epoch) != epoch)
			return "a descriptor has a wrong epoch";
		next = entries_add(r, d);
		if (!next)
			return "a descriptor is malformed";
		if (le32toh(d->flags) & NEARCACHE_STAGE_COMMIT) {
			r->before_last = r->committed;
			r->committed = r->count;
			r->last = d;
			last = number;
			out->committed = epoch++;
		}
		blocks += next - place;
		place = next;
		number++;
	}
	if (blocks > r->ring_blocks)
		return "the chain is longer than the ring";
	if (!last_good(r)) {
		r->committed = r->before_last;
		out->committed--;
		out->dropped = true;
		last--;
	}
	if (last < le64toh(r->sb->drained_number))
		return "the chain ends before the descriptor that is marked";
	if (last < le64toh(r->sb->committed_number))
		return "the chain ends before a descriptor that was committed";
	return NULL;
}

/* Has each sector at the ends of the origin a checksum that the superblock knows? */
static bool origin_fits(const struct recovery *r)
{
	uint64_t end = r->volume / NEARCACHE_STAGE_BLOCK_SECTORS * NEARCACHE_STAGE_BLOCK_SECTORS;
	uint64_t half = NEARCACHE_STAGE_PRINT_SECTORS / 2, sector, i;
	uint32_t now, next, has;

	for (i = 0; i < NEARCACHE_STAGE_PRINT_SECTORS; i++) {
		sector = i < half ? i : end - 2 * half + i;
		now = le32toh(r->sb->origin_now[i]);
		next = le32toh(r->sb->origin_next[i]);
		has = sum(0, r->s->image + sector * SECTOR, SECTOR) ?: 1;
		if (now && next && has != now && has != next)
			return false;
	}
	return true;
}

static void sector_put(struct recovery *r, uint64_t sector, const void *data)
{
	static const unsigned char zeros[SECTOR];

	if (!data)
		data = zeros;
	if (memcmp(r->s->image + sector * SECTOR, data, SECTOR))
		state_put(r->s, sector, data);
}

/* Write the newest version of each sector to the origin; marked ones must already be there. */
static void entries_put(struct recovery *r, struct recovered_log *out)
{
	uint64_t sector, n;
	size_t i;

	for (i = 0; i < r->committed; i++) {
		const struct nearcache_stage_entry *e = r->entry[i].disk;

		if (e->kind != NEARCACHE_STAGE_SKIP)
			for (n = 0; n < le32toh(e->sectors); n++)
				r->part[le64toh(e->sector) + n] = i + 1;
	}
	for (sector = 0; sector < r->volume; sector++) {
		const struct entry *e = &r->entry[r->part[sector] - 1];
		const unsigned char *data = NULL;

		if (!r->part[sector] || e->disk->kind == NEARCACHE_STAGE_DISCARD)
			continue;
		if (e->disk->kind == NEARCACHE_STAGE_DATA)
			data = (const unsigned char *)block_at(r, e->place) +
			       (sector - le64toh(e->disk->sector)) * SECTOR;
		if (e->epoch > out->drained) {
			sector_put(r, sector, data);
			continue;
		}
		out->retained++;
		if (data && memcmp(r->s->image + sector * SECTOR, data, SECTOR))
			out->differs++;
	}
	for (i = 0; i < r->committed; i++)
		if (r->entry[i].epoch > out->drained && (!i || r->entry[i].epoch != r->entry[i - 1].epoch))
			out->epochs++;
}

/**
 * log_recover() - rules R1 to R3: put committed epochs that are not marked to the origin
 * @s: media, with the origin first; state_undo() takes the writes back
 * @origin_sectors: size of the origin
 * @log_sector: first sector of the log
 * @log_sectors: size of the log
 * @out: filled in
 */
void log_recover(struct state *s, uint64_t origin_sectors, uint64_t log_sector,
		 uint64_t log_sectors, struct recovered_log *out)
{
	struct recovery r = { .s = s, .log = s->image + log_sector * SECTOR };
	const struct nearcache_stage_super *a = super_good(r.log + NEARCACHE_STAGE_SUPER_OFFSET_0);
	const struct nearcache_stage_super *b = super_good(r.log + NEARCACHE_STAGE_SUPER_OFFSET_1);

	memset(out, 0, sizeof(*out));
	r.sb = !b || (a && le64toh(a->sequence) > le64toh(b->sequence)) ? a : b;
	if (!r.sb) {
		out->why = "no copy of the superblock is intact";
		return;
	}
	r.ring_blocks = le64toh(r.sb->ring_blocks);
	r.volume = le64toh(r.sb->volume_sectors);
	out->drained = le64toh(r.sb->drained_epoch);
	out->why = r.volume > origin_sectors ||
		   r.ring_blocks * BLOCK / SECTOR >
			   log_sectors - NEARCACHE_STAGE_RING_OFFSET / SECTOR ?
		   "the superblock is larger than the devices" : chain_follow(&r, out);
	if (!out->why && !origin_fits(&r))
		out->why = "the ends of the origin have other data";
	if (!out->why) {
		r.part = calloc(r.volume, sizeof(*r.part));
		if (!r.part)
			abort();
		entries_put(&r, out);
		free(r.part);
	}
	free(r.entry);
}

/* Note the commits and marks of a completed write or flush of the log, which follows the origin. */
void log_watch(struct watched_log *w, const struct log_entry *e, uint64_t origin_sectors)
{
	uint64_t offset = (e->sector - origin_sectors) * SECTOR, i;

	if (!e->sectors) {
		w->committed = w->unflushed;
		return;
	}
	if (offset == NEARCACHE_STAGE_SUPER_OFFSET_0 || offset == NEARCACHE_STAGE_SUPER_OFFSET_1) {
		const struct nearcache_stage_super *sb = super_good(e->data);

		if (!sb)
			return;
		w->salt = le64toh(sb->salt);
		memcpy(w->uuid, sb->uuid, sizeof(w->uuid));
		if (le64toh(sb->drained_epoch) > w->drained)
			w->drained = le64toh(sb->drained_epoch);
		return;
	}
	for (i = 0; i + BLOCK <= e->sectors * SECTOR; i += BLOCK) {
		const struct nearcache_stage_desc *d = (const void *)(e->data + i);

		if (desc_good(d, w->uuid, w->salt) &&
		    le32toh(d->flags) & NEARCACHE_STAGE_COMMIT && le64toh(d->epoch) > w->unflushed)
			w->unflushed = le64toh(d->epoch);
	}
	if (e->fua)
		w->committed = w->unflushed;
}
