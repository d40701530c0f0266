// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dm target "nearcache-map": a device that shows which units of the volume a cache holds, and
 * how recently they were read.  A node exports it to its peers.  uapi/nearcache_map.h describes its
 * content.
 *
 * Nothing is stored: a worker answers each read from the index of the cache.  A map of many units
 * takes many lookups, so all reads of a table share one worker, and the peers that read it cost the
 * node at most one processor.  The worker waits for no device, so that a suspend of the map, which
 * waits for its reads, ends even while the cache hangs.
 *
 * A table keeps the dm device of the cache open, so that no other device gets its number.  But the
 * table of that device may be replaced, even by one of another target.  So the worker looks for the
 * cache again for each page, and holds it for that long: the destructor of the cache waits for the
 * holder.
 */
#include <linux/bio.h>
#include <linux/crc32c.h>
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "cache.h"
#include "core/compat.h"
#include "cluster/map.h"
#include "dm/claim_registry.h"
#include "dm/option.h"
#include "io/residency.h"
#include "nearcache_map.h"

#define MAP_PAGE_SECTORS	(NEARCACHE_MAP_PAGE >> SECTOR_SHIFT)

/* Number of blocks to look up between two calls of cond_resched(). */
#define LOOK_AT	1024U

static_assert(sizeof(struct nearcache_map_header) == 64);
static_assert(NEARCACHE_MAP_ALL << NEARCACHE_MAP_HEAT_SHIFT == NC_HEAT_MAX * 16);

/**
 * struct nc_map - a table of the target
 * @ti: the target in device-mapper
 * @cache: dm device of the cache
 * @queue: answers the reads
 * @sectors: size of the volume
 * @unit_shift: log2 of a unit, in sectors
 * @header: start of the device's content
 *
 * All fields are constant after the constructor.
 */
struct nc_map {
	struct dm_target *ti;
	struct dm_dev *cache;
	struct workqueue_struct *queue;
	sector_t sectors;
	u8 unit_shift;
	struct nearcache_map_header header;
};

/**
 * struct nc_map_io - a read of at most a page, inside one page
 * @work: answers the read
 * @map: the table
 * @bio: the read
 */
struct nc_map_io {
	struct work_struct work;
	struct nc_map *map;
	struct bio *bio;
};

/* @cache: the cache of dm device @number, held, or NULL */
struct map_search {
	dev_t number;
	struct nc_cache *cache;
};

static int match_cache(struct nc_cache *c, struct nc_target *t, void *arg)
{
	struct map_search *search = arg;

	if (c->dev.dm_devt == search->number) {
		nc_registry_hold(c);
		search->cache = c;
	}
	/* The devices come in the order of their numbers. */
	return 1;
}

/* Find the cache of the table.  Returns NULL, or the cache for nc_registry_release(). */
static struct nc_cache *map_hold_cache(const struct nc_map *map)
{
	struct map_search search = { .number = map->cache->bdev->bd_dev };
	unsigned int changes;

	do {
		/* Look again if the device may have been missed. */
		changes = nc_registry_changes();
		nc_registry_each(search.number - 1, match_cache, &search);
	} while (!search.cache && changes != nc_registry_changes());
	return search.cache;
}

/* Does a unit consist of whole blocks, and not of too many? */
static bool unit_fits(const struct nc_map *map, const struct nc_cache *c)
{
	return map->unit_shift >= c->hot.block_shift &&
	       map->unit_shift - c->hot.block_shift <= ilog2(NEARCACHE_MAP_BLOCKS_MAX);
}

static u8 unit_byte(const struct nc_map *map, struct nc_cache *c, u64 number)
{
	sector_t first = (sector_t)number << map->unit_shift;
	sector_t end = min(first + (1ULL << map->unit_shift), map->sectors);
	struct nc_unit unit;
	u32 share;

	nc_residency_unit(c, first, end, &unit);
	if (!unit.sectors)
		return 0;
	share = unit.sectors == end - first ? NEARCACHE_MAP_ALL :
		max_t(u32, div64_u64(unit.sectors * (NEARCACHE_MAP_ALL - 1), end - first), 1);
	return share | unit.heat << NEARCACHE_MAP_HEAT_SHIFT;
}

/* Write the bytes of @bytes units, from unit @first on.  They are 0 in other states than normal:
 * reads then go to the origin, as if nothing were cached.
 */
static void map_put_units(const struct nc_map *map, struct nc_cache *c, u64 first, u8 *to,
			  unsigned int bytes)
{
	u64 units = (map->sectors + (1ULL << map->unit_shift) - 1) >> map->unit_shift;
	u32 blocks = 1U << (map->unit_shift - c->hot.block_shift), looked = 0;
	unsigned int i;

	for (i = 0; i < bytes; i++) {
		to[i] = 0;
		if (first + i >= units || READ_ONCE(c->hot.state) != NEARCACHE_NORMAL)
			continue;
		to[i] = unit_byte(map, c, first + i);
		looked += blocks;
		if (looked >= LOOK_AT) {
			looked = 0;
			cond_resched();
		}
	}
}

/* Write @bytes bytes of the page of the header, from offset @at on. */
static void map_put_header(const struct nc_map *map, unsigned int at, u8 *to, unsigned int bytes)
{
	memset(to, 0, bytes);
	if (at < sizeof(map->header))
		memcpy(to, (const u8 *)&map->header + at,
		       min_t(unsigned int, bytes, sizeof(map->header) - at));
}

static blk_status_t map_fill_bio(const struct nc_map *map, struct nc_cache *c, struct bio *bio)
{
	u64 at = (u64)bio->bi_iter.bi_sector << SECTOR_SHIFT;
	struct bvec_iter iter;
	struct bio_vec bv;

	/* While the cache is being loaded, its index is not complete yet. */
	if (READ_ONCE(c->hot.state) == NEARCACHE_NOT_LOADED || !unit_fits(map, c))
		return BLK_STS_IOERR;
	bio_for_each_segment(bv, bio, iter) {
		u8 *to = bvec_kmap_local(&bv);

		if (at < NEARCACHE_MAP_PAGE)
			map_put_header(map, at, to, bv.bv_len);
		else
			map_put_units(map, c, at - NEARCACHE_MAP_PAGE, to, bv.bv_len);
		kunmap_local(to);
		flush_dcache_page(bv.bv_page);
		at += bv.bv_len;
	}
	return BLK_STS_OK;
}

static void map_read_work(struct work_struct *work)
{
	struct nc_map_io *io = container_of(work, struct nc_map_io, work);
	struct nc_cache *c = map_hold_cache(io->map);

	io->bio->bi_status = BLK_STS_IOERR;
	if (c) {
		io->bio->bi_status = map_fill_bio(io->map, c, io->bio);
		nc_registry_release(c);
	}
	/* Frees @io. */
	bio_endio(io->bio);
}

/* Refuse all that could change something.  device-mapper itself refuses discards and write-zeroes,
 * which the target does not offer, and completes flushes.
 */
static int map_start_read(struct dm_target *ti, struct bio *bio)
{
	struct nc_map_io *io = dm_per_bio_data(bio, sizeof(*io));

	if (bio_op(bio) != REQ_OP_READ)
		return DM_MAPIO_KILL;
	io->map = ti->private;
	io->bio = bio;
	INIT_WORK(&io->work, map_read_work);
	queue_work(io->map->queue, &io->work);
	return DM_MAPIO_SUBMITTED;
}

static int map_parse_unit(struct nc_map *map, const char *word)
{
	struct nc_cache *c;
	u32 sectors;
	bool fits;

	if (kstrtou32(word, 10, &sectors) || !is_power_of_2(sectors))
		return nc_refuse_word(map->ti, "Unit must be a power of two, in sectors", word);
	map->unit_shift = ilog2(sectors);
	c = map_hold_cache(map);
	if (!c)
		return nc_refuse_word(map->ti, "No device of the target nearcache with a cache",
				      map->cache->name);
	fits = unit_fits(map, c);
	nc_registry_release(c);
	return fits ? 0 :
	       nc_refuse_word(map->ti, "Unit must be 1 to 256 blocks of the cache", word);
}

static int map_check_length(struct nc_map *map)
{
	u64 bytes = nearcache_map_bytes((u64)map->sectors << SECTOR_SHIFT,
					1ULL << map->unit_shift << SECTOR_SHIFT);
	char wanted[32];

	if (!map->ti->begin && map->ti->len == bytes >> SECTOR_SHIFT)
		return 0;
	snprintf(wanted, sizeof(wanted), "0 %llu", bytes >> SECTOR_SHIFT);
	return nc_refuse_word(map->ti, "Start and length of the table must be these", wanted);
}

static void map_make_header(struct nc_map *map)
{
	struct nearcache_map_header *header = &map->header;

	memcpy(header->magic, NEARCACHE_MAP_MAGIC, sizeof(header->magic));
	header->version = cpu_to_le32(NEARCACHE_MAP_VERSION);
	header->header_bytes = cpu_to_le32(NEARCACHE_MAP_PAGE);
	header->volume_bytes = cpu_to_le64((u64)map->sectors << SECTOR_SHIFT);
	header->unit_bytes = cpu_to_le64(1ULL << map->unit_shift << SECTOR_SHIFT);
	header->checksum = cpu_to_le32(~crc32c(~0U, header, offsetof(typeof(*header), checksum)));
}

static int map_parse(struct nc_map *map, unsigned int argc, char **argv)
{
	int r;

	if (argc != 2) {
		map->ti->error = "Expected: the dm device of a cache, and sectors of a unit";
		return -EINVAL;
	}
	r = dm_get_device(map->ti, argv[0], NC_MODE_READ, &map->cache);
	if (r) {
		map->cache = NULL;
		nc_refuse_word(map->ti, "Cannot open the device of the cache", argv[0]);
		return r;
	}
	map->sectors = bdev_nr_sectors(map->cache->bdev);
	r = map_parse_unit(map, argv[1]) ?: map_check_length(map);
	if (r)
		return r;
	map_make_header(map);
	return dm_set_target_max_io_len(map->ti, MAP_PAGE_SECTORS);
}

static void map_free(struct nc_map *map)
{
	destroy_workqueue(map->queue);
	if (map->cache)
		dm_put_device(map->ti, map->cache);
	kfree(map);
}

static int map_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct nc_map *map = kzalloc(sizeof(*map), GFP_KERNEL);
	int r;

	ti->error = "Out of memory";
	if (!map)
		return -ENOMEM;
	map->queue = alloc_ordered_workqueue("nearcache-map", WQ_MEM_RECLAIM);
	if (!map->queue) {
		kfree(map);
		return -ENOMEM;
	}
	map->ti = ti;
	r = map_parse(map, argc, argv);
	if (r) {
		map_free(map);
		return r;
	}
	ti->private = map;
	ti->per_io_data_size = sizeof(struct nc_map_io);
	return 0;
}

static void map_dtr(struct dm_target *ti)
{
	map_free(ti->private);
}

static void map_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
		       char *result, unsigned int maxlen)
{
	struct nc_map *map = ti->private;
	size_t sz = 0;

	switch (type) {
	case STATUSTYPE_INFO:
		*result = '\0';
		break;
	case STATUSTYPE_TABLE:
		DMEMIT("%s %u", map->cache->name, 1U << map->unit_shift);
		break;
	case STATUSTYPE_IMA:
		DMEMIT_TARGET_NAME_VERSION(ti->type);
		DMEMIT(",cache=%s;", map->cache->name);
		break;
	}
}

/* No iterate_devices: no I/O goes to the device of the cache, so its limits do not matter.  No
 * DM_TARGET_NOWAIT: each read waits for the worker, so the block layer refuses RWF_NOWAIT.
 */
static struct target_type map_target = {
	.name		= "nearcache-map",
	.version	= { 1, 0, 0 },
	.features	= DM_TARGET_SINGLETON,
	.module		= THIS_MODULE,
	.ctr		= map_ctr,
	.dtr		= map_dtr,
	.map		= map_start_read,
	.status		= map_status,
};

int nc_map_register(void)
{
	return dm_register_target(&map_target);
}

void nc_map_unregister(void)
{
	dm_unregister_target(&map_target);
}
