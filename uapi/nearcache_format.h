/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * nearcache on-disk format, version 1.
 *
 * Shared by the kernel module, the helper, the tests and (later) libblkid.  All
 * integers are little-endian.  All structures are packed by construction: no
 * implicit padding, as the asserts at the end check.  Offsets and lengths are in
 * bytes unless a name says otherwise.
 *
 * Layout of a cache device:
 *
 *	0		never touched (boot sectors, partition tables)
 *	4 KiB		superblock, copy 0		(4 KiB)
 *	512 KiB		superblock, copy 1		(4 KiB)
 *	1 MiB ...	areas, each described in the superblock's table
 *	data_offset	slots: slot_count blocks of block_size bytes
 *
 * A cache may have several members: slot s is block s / stripe_count of member
 * s % stripe_count.  Member 0 holds all metadata.  The only metadata of another member is
 * a superblock, copied from member 0 at create, with these differences: device_size and
 * data_offset are the member's own, areas and table_pages are 0, and state, table_epoch
 * and commit_sequence say which slot table the member's data belongs to.
 *
 * Checksums are CRC-32C (Castagnoli, reflected, initial value and final XOR
 * all ones, as in iSCSI) over the whole structure or page with the checksum field
 * taken as zero.
 *
 * kmod/doc/format.md states the ordering rules and the state after a crash between
 * any two steps.
 */
#ifndef NEARCACHE_FORMAT_H
#define NEARCACHE_FORMAT_H

#include <linux/types.h>

#define NEARCACHE_MAGIC			"nearcach"	/* 8 bytes, no NUL */
#define NEARCACHE_MAGIC_LEN		8
#define NEARCACHE_VERSION		1

#define NEARCACHE_SUPER_OFFSET_0	4096ULL
#define NEARCACHE_SUPER_OFFSET_1	(512ULL << 10)
#define NEARCACHE_SUPER_SIZE		4096
#define NEARCACHE_SUPER_COPIES		2

/* The size of a cache block is a power of two in this range, in bytes. */
#define NEARCACHE_BLOCK_MIN		(64U << 10)
#define NEARCACHE_BLOCK_MAX		(4U << 20)
/* Largest number of members of a cache. */
#define NEARCACHE_MEMBERS_MAX		16U
/* A block's valid bitmap has one bit per sub-block.  A sub-block has
 * max(block / 64, 4 KiB, logical block sizes of origin and cache device) bytes.
 */
#define NEARCACHE_SUBBLOCKS_MAX		64
#define NEARCACHE_SUBBLOCK_MIN		4096U

#define NEARCACHE_MIN_SLOTS		2ULL
#define NEARCACHE_MAX_SLOTS		0x80000000ULL
/* Origin block numbers have 40 bits: 1 PiB in blocks of 64 KiB needs 34 of them. */
#define NEARCACHE_MAX_ORIGIN_BLOCKS	0x10000000000ULL
/* Highest sequence, session number or table_epoch.  All of them count up, and no
 * device lives long enough to reach this limit, so a higher value is damage.
 */
#define NEARCACHE_MAX_SEQUENCE		0x7fffffffffffffffULL

/* Feature masks: code refuses a device with an unknown incompat bit; it ignores
 * and preserves an unknown compat bit.
 */
#define NEARCACHE_COMPAT_KNOWN		0ULL
#define NEARCACHE_INCOMPAT_KNOWN	(NEARCACHE_INCOMPAT_CRC32C | \
					 NEARCACHE_INCOMPAT_STRIPES)
#define NEARCACHE_INCOMPAT_CRC32C	0x1ULL	/* checksum area in use */
#define NEARCACHE_INCOMPAT_STRIPES	0x2ULL	/* one of several members */
/* For a later version; code whose INCOMPAT_KNOWN lacks this bit refuses the device. */
#define NEARCACHE_INCOMPAT_DIRTY	0x4ULL	/* slots may be newer than the origin */

/* Superblock state: decides whether the next load may use the slot table. */
enum nearcache_super_state {
	NEARCACHE_STATE_CLEAN	= 0,	/* slot table is complete and correct */
	NEARCACHE_STATE_ACTIVE	= 1,	/* in use: the slot table is invalid */
	NEARCACHE_STATE_LIVE	= 2,	/* in use, or stopped uncleanly: the
					 * slot table is correct but may lack
					 * the latest fills
					 */
	NEARCACHE_STATE_WRITING	= 3,	/* as LIVE, if the witness says that the
					 * cache device missed no write; the slot
					 * table may be wrong about regions that
					 * the write-intent bitmap marks
					 */
};

/* Type of a fingerprint, which is a SHA-256: the data that was hashed.  origin_fingerprint
 * has type NONE or ENDS, file_system_fingerprint has NONE or one of the other types.  Code that
 * does not know the type of file_system_fingerprint does not compare it.
 */
enum nearcache_fingerprint {
	NEARCACHE_FP_NONE	= 0,
	NEARCACHE_FP_ENDS	= 1,	/* first and last 64 KiB */
	NEARCACHE_FP_EXT4	= 2,	/* superblocks, group descriptors */
	NEARCACHE_FP_XFS	= 3,	/* allocation group headers, log head */
	NEARCACHE_FP_EROFS	= 4,	/* superblock, metadata, samples */
	NEARCACHE_FP_BTRFS	= 5,	/* superblock */
	NEARCACHE_FP_VOLUMES	= 6,	/* partition tables, LVM metadata, the
					 * above in partitions and volumes
					 */
	/* Added to NONE or EXT4 to VOLUMES in file_system_type: the hash of that type, continued
	 * with the hash of more data.  With NONE: the content was looked at and not recognised.
	 */
	NEARCACHE_FP_MORE	= 256,
};

/**
 * enum nearcache_area_type - index into nearcache_super.area[]
 * @NEARCACHE_AREA_TABLE: slot table, with two copies of every page: copy 0 of all
 *	pages first, then copy 1 of all pages
 * @NEARCACHE_AREA_COMMIT: ring of struct nearcache_commit, 4 KiB each.  A commit
 *	names the table pages here, durably, before it rewrites them
 * @NEARCACHE_AREA_INTENT: write-intent bitmap of origin regions, 256 sectors of
 *	struct nearcache_intent, one copy; meaningful in state writing only
 * @NEARCACHE_AREA_CHECKSUM: one copy; length 0 without NEARCACHE_INCOMPAT_CRC32C.
 *	The __le32 at index slot * sub-blocks per block + sub-block is the CRC-32C of
 *	all bytes of that sub-block.  It has no meaning for an invalid sub-block.  A
 *	mismatch drops the sub-block, since its data or its checksum is damaged
 * @NEARCACHE_AREA_RANGES: room for two copies of persistent ranges; not used yet
 * @NEARCACHE_AREA_STRIPES: room for metadata about the members; not used yet
 * @NEARCACHE_AREA_DIRTY: dirty bitmaps of a later writeback mode, length 0
 * @NEARCACHE_AREA_COUNT: number of areas in version 1
 */
enum nearcache_area_type {
	NEARCACHE_AREA_TABLE	= 0,
	NEARCACHE_AREA_COMMIT	= 1,
	NEARCACHE_AREA_INTENT	= 2,
	NEARCACHE_AREA_CHECKSUM	= 3,
	NEARCACHE_AREA_RANGES	= 4,
	NEARCACHE_AREA_STRIPES	= 5,
	NEARCACHE_AREA_DIRTY	= 6,
	NEARCACHE_AREA_COUNT	= 7,
};

/* Entries of nearcache_super.area[].  A later version that adds areas sets a feature bit. */
#define NEARCACHE_AREA_ROOM		16
#define NEARCACHE_AREA_VERSION		1
/* Areas start at or after this offset and at multiples of 4 KiB. */
#define NEARCACHE_AREA_START		1048576ULL
#define NEARCACHE_COMMIT_AREA_SIZE	(64ULL << 10)
#define NEARCACHE_INTENT_AREA_SIZE	(128ULL << 10)
#define NEARCACHE_STRIPES_AREA_SIZE	4096ULL

/**
 * struct nearcache_area - location of an area
 * @offset: bytes from the start of the cache device, multiple of 4096
 * @length: bytes, all copies together, multiple of 4096; 0: not present
 * @version: layout version of the area, NEARCACHE_AREA_VERSION
 * @reserved: zero
 */
struct nearcache_area {
	__le64 offset;
	__le64 length;
	__le32 version;
	__le32 reserved;
};

/**
 * struct nearcache_super - superblock, 4096 bytes
 * @magic: NEARCACHE_MAGIC
 * @version: NEARCACHE_VERSION
 * @checksum: CRC-32C of all 4096 bytes with this field zero
 * @sequence: incremented on each rewrite; of two valid copies the one with the higher
 *	sequence counts
 * @compat: features that old code may ignore
 * @incompat: features that old code must refuse
 * @uuid: UUID of this cache, generated at create
 * @label: NUL-terminated name given at create
 * @created: seconds since 1970, UTC
 * @state: enum nearcache_super_state.  In members other than 0 it says to which commit
 *	records the member's data belongs.  Clean means record @commit_sequence.  Live means
 *	that record, or the one before it or after it.  Active means no record
 * @block_size: bytes, power of two
 * @subblock_size: bytes, power of two
 * @origin_lbs: logical block size of the origin at create, bytes
 * @cache_lbs: logical block size of the cache device at create, bytes
 * @stripe_index: number of this member, 0 for the first or only one
 * @stripe_count: number of members, 1 without NEARCACHE_INCOMPAT_STRIPES
 * @reserved0: zero
 * @device_size: bytes of the cache device that the format uses
 * @slot_count: slots of all members
 * @data_offset: bytes, multiple of block_size
 * @table_pages: pages in one copy of the slot table
 * @table_epoch: pages with another epoch count as empty, so that one superblock
 *	write empties the whole table
 * @intent_region: origin bytes per bit of the write-intent bitmap
 * @commit_sequence: number of the last commit record written before this superblock
 * @origin_size: bytes
 * @origin_id: NUL-terminated stable identity of the origin ("wwid:...",
 *	"serial:..." or "" when the device has none)
 * @origin_fingerprint_type: enum nearcache_fingerprint
 * @reserved1: zero
 * @origin_fingerprint: SHA-256, zero for NEARCACHE_FP_NONE
 * @dataset_version: NUL-terminated text given by the user, or ""
 * @area: indexed by enum nearcache_area_type
 * @file_system_type: enum nearcache_fingerprint, with or without MORE.  The kernel, which does
 *	not parse file systems, sets it to NONE whenever it renews @origin_fingerprint
 * @reserved2: zero
 * @file_system_fingerprint: SHA-256; zero if @file_system_type is 0
 * @session: number of the last write session with a witness.  When the session stops, this
 *	field gets the next number.  Numbers only grow
 * @witness: NUL-terminated path of the witness device, or ""; used by the helper only
 * @write_id: random number that the kernel changes with each rewrite, or 0.  @sequence counts from
 *	the same number again after the device was set back to an older state; this number does not
 * @reserved3: zero
 */
struct nearcache_super {
	__u8   magic[NEARCACHE_MAGIC_LEN];
	__le32 version;
	__le32 checksum;
	__le64 sequence;
	__le64 compat;
	__le64 incompat;
	__u8   uuid[16];
	__u8   label[64];
	__le64 created;
	__le32 state;
	__le32 block_size;
	__le32 subblock_size;
	__le32 origin_lbs;
	__le32 cache_lbs;
	__le16 stripe_index;
	__le16 stripe_count;
	__le64 reserved0;
	__le64 device_size;
	__le64 slot_count;
	__le64 data_offset;
	__le64 table_pages;
	__le64 table_epoch;
	__le64 intent_region;
	__le64 commit_sequence;
	__le64 origin_size;
	__u8   origin_id[128];
	__le32 origin_fingerprint_type;
	__le32 reserved1;
	__u8   origin_fingerprint[32];
	__u8   dataset_version[64];
	struct nearcache_area area[NEARCACHE_AREA_ROOM];
	__le32 file_system_type;
	__le32 reserved2;
	__u8   file_system_fingerprint[32];
	__le64 session;
	__u8   witness[128];
	__le64 write_id;
	__u8   reserved3[3072];
};

/* nearcache_slot.origin_block of a free slot. */
#define NEARCACHE_NO_BLOCK		(~0ULL)

/* nearcache_slot.flags; a slot with unknown bits is dropped at load. */
#define NEARCACHE_SLOT_PINNED		0x1U
#define NEARCACHE_SLOT_DIRTY		0x2U	/* only with INCOMPAT_DIRTY */
#define NEARCACHE_SLOT_FLAGS_KNOWN	NEARCACHE_SLOT_PINNED

/**
 * struct nearcache_slot - slot table entry of one slot
 * @origin_block: origin offset / block_size, NEARCACHE_NO_BLOCK when free
 * @valid: bit n is set if sub-block n holds the origin's data
 * @generation: number of the commit that assigned the slot to this block, modulo 2^32;
 *	of two slots with the same @origin_block the one with the higher generation counts
 * @flags: NEARCACHE_SLOT_*
 */
struct nearcache_slot {
	__le64 origin_block;
	__le64 valid;
	__le32 generation;
	__le32 flags;
};

#define NEARCACHE_PAGE_SIZE		4096
#define NEARCACHE_PAGE_MAGIC		0x7074636eU	/* "nctp" */
#define NEARCACHE_SLOTS_PER_PAGE	168

/**
 * struct nearcache_page - one page of the slot table
 * @magic: NEARCACHE_PAGE_MAGIC
 * @checksum: CRC-32C of all 4096 bytes with this field zero
 * @uuid: UUID of the superblock; a page with another UUID was written by an older cache
 * @index: number of this page, from 0; a page with another number is misplaced
 * @sequence: number of the commit that wrote the page; of two valid copies the one with
 *	the higher number counts.  Create writes both copies, so an invalid copy was torn
 *	or damaged later, and the other copy may be out of date.  Load uses the other copy
 *	only if the last commit record names the invalid one; if not, load drops the
 *	page's slots
 * @epoch: table_epoch of the superblock at the time of the write
 * @reserved: zero
 * @slot: slots index * 168 ... index * 168 + 167; those past slot_count are
 *	free
 */
struct nearcache_page {
	__le32 magic;
	__le32 checksum;
	__u8   uuid[16];
	__le64 index;
	__le64 sequence;
	__le64 epoch;
	__u8   reserved[16];
	struct nearcache_slot slot[NEARCACHE_SLOTS_PER_PAGE];
};

#define NEARCACHE_COMMIT_MAGIC		0x6f63636eU	/* "ncco" */
#define NEARCACHE_COMMIT_PAGES		505
/* In nearcache_commit.page[]: set if the commit rewrites copy 1 of the page, clear for copy 0. */
#define NEARCACHE_COMMIT_COPY_1		0x8000000000000000ULL

/**
 * struct nearcache_commit - the pages that one commit rewrites
 * @magic: NEARCACHE_COMMIT_MAGIC
 * @checksum: CRC-32C of all 4096 bytes with this field zero
 * @uuid: UUID of the superblock
 * @sequence: record number; record n is at ring position n % 16
 * @count: entries of @page in use; 0: all earlier commits are complete
 * @reserved: zero
 * @page: pages that the commit rewrites; NEARCACHE_COMMIT_COPY_1 selects the copy.  A
 *	crash may tear this copy; then the other copy counts.  If the other copy does not
 *	verify, the page is lost: the copy named here may still have its old content, which
 *	assigns slots to blocks that have lost them since
 *
 * A commit writes a record durably, then the pages, then an empty record.  The @sequence
 * of the pages is that of the first of these two records.
 */
struct nearcache_commit {
	__le32 magic;
	__le32 checksum;
	__u8   uuid[16];
	__le64 sequence;
	__le32 count;
	__u8   reserved[20];
	__le64 page[NEARCACHE_COMMIT_PAGES];
};

#define NEARCACHE_INTENT_MAGIC		0x6e69636eU	/* "ncin" */
#define NEARCACHE_INTENT_SIZE		512
#define NEARCACHE_INTENT_BITS		2048
#define NEARCACHE_INTENT_REGIONS	524288U
/* In nearcache_intent.flags of sector 0: marks the first and last 64 KiB of the origin. */
#define NEARCACHE_INTENT_ENDS		0x1U

/**
 * struct nearcache_intent - one sector of the write-intent bitmap
 * @magic: NEARCACHE_INTENT_MAGIC
 * @checksum: CRC-32C of all 512 bytes with this field zero
 * @uuid: UUID of the superblock
 * @session: nearcache_super.session of the session that wrote the sector.  If the superblock
 *	names another session, all bits count as set.  Exception: if the witness says that
 *	the sector's session was about to begin, no bit counts as set, because load has
 *	already dropped the slots of the regions marked earlier
 * @index: number of this sector; bit n of @bits is region index * 2048 + n
 * @flags: NEARCACHE_INTENT_*
 * @reserved: zero
 * @bits: bit n is bit n % 8 of byte n / 8.  Set durably before a write to the region is
 *	sent to the origin; cleared when the write is durable on the origin and
 *	recorded in the slot table
 *
 * Devices write 512 bytes atomically, so a sector cannot be torn.  If a sector does not
 * verify, all its bits count as set.
 */
struct nearcache_intent {
	__le32 magic;
	__le32 checksum;
	__u8   uuid[16];
	__le64 session;
	__le32 index;
	__le32 flags;
	__u8   reserved[216];
	__u8   bits[NEARCACHE_INTENT_BITS / 8];
};

#define NEARCACHE_WITNESS_MAGIC		0x6977636eU	/* "ncwi" */
#define NEARCACHE_WITNESS_SIZE		4096
/* Number of records at the start of a witness device; each is for one cache. */
#define NEARCACHE_WITNESS_RECORDS	64

/* State of a write session, as the witness records it. */
enum nearcache_witness_state {
	NEARCACHE_WITNESS_NEW	= 0,	/* no session has begun yet */
	NEARCACHE_WITNESS_STAYED = 1,	/* the cache device recorded each write */
	NEARCACHE_WITNESS_LEFT	= 2,	/* the origin was written without the cache device */
	NEARCACHE_WITNESS_ENDED	= 3,	/* stopped: the superblock says clean */
	NEARCACHE_WITNESS_MOVED	= 4,	/* the cache has another witness, or none */
};

/**
 * struct nearcache_witness - record of a cache on its witness device, 4096 bytes
 * @magic: NEARCACHE_WITNESS_MAGIC
 * @checksum: CRC-32C of all 4096 bytes with this field zero
 * @uuid: UUID of the cache
 * @session: number of the session that @state describes, see nearcache_super
 * @previous: session in the superblock until the superblock gets @session: if a crash comes
 *	before that, the superblock with @previous is still trusted.  0 after that, or if
 *	the load did not trust the superblock
 * @state: enum nearcache_witness_state
 * @reserved: zero
 *
 * Record n of a witness device is at byte n * 4096.  A cache has one record, anywhere among
 * the first NEARCACHE_WITNESS_RECORDS.  An unused record is all zeros, or holds earlier
 * data of the device that is no witness record.
 */
struct nearcache_witness {
	__le32 magic;
	__le32 checksum;
	__u8   uuid[16];
	__le64 session;
	__le64 previous;
	__le32 state;
	__u8   reserved[4052];
};

#ifdef __KERNEL__
#define NEARCACHE_ASSERT(cond)	static_assert(cond)
#else
#include <assert.h>
#define NEARCACHE_ASSERT(cond)	static_assert(cond, #cond)
#endif

NEARCACHE_ASSERT(sizeof(struct nearcache_area) == 24);
NEARCACHE_ASSERT(sizeof(struct nearcache_slot) == 24);
NEARCACHE_ASSERT(sizeof(struct nearcache_super) == NEARCACHE_SUPER_SIZE);
NEARCACHE_ASSERT(sizeof(struct nearcache_page) == NEARCACHE_PAGE_SIZE);
NEARCACHE_ASSERT(sizeof(struct nearcache_commit) == NEARCACHE_PAGE_SIZE);
NEARCACHE_ASSERT(sizeof(struct nearcache_intent) == NEARCACHE_INTENT_SIZE);
NEARCACHE_ASSERT(sizeof(struct nearcache_witness) == NEARCACHE_WITNESS_SIZE);
NEARCACHE_ASSERT(NEARCACHE_INTENT_AREA_SIZE / NEARCACHE_INTENT_SIZE *
		 NEARCACHE_INTENT_BITS == NEARCACHE_INTENT_REGIONS);
NEARCACHE_ASSERT(__builtin_offsetof(struct nearcache_super, state) == 128);
NEARCACHE_ASSERT(__builtin_offsetof(struct nearcache_super, device_size) == 160);
NEARCACHE_ASSERT(__builtin_offsetof(struct nearcache_super, origin_id) == 224);
NEARCACHE_ASSERT(__builtin_offsetof(struct nearcache_super, area) == 456);
NEARCACHE_ASSERT(__builtin_offsetof(struct nearcache_super, file_system_type) == 840);
NEARCACHE_ASSERT(__builtin_offsetof(struct nearcache_super, session) == 880);
NEARCACHE_ASSERT(__builtin_offsetof(struct nearcache_super, write_id) == 1016);
NEARCACHE_ASSERT(__builtin_offsetof(struct nearcache_intent, bits) == 256);
NEARCACHE_ASSERT(__builtin_offsetof(struct nearcache_page, slot) == 64);

#endif /* NEARCACHE_FORMAT_H */
