// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzes hibernations of one cache in a writing mode (kmod/cache_sleep.c): phases, writes, the work
 * after the sleep, use of the cache device by another system, and I/O errors come in any order.
 * The rules under test: queued work or a later event ends each write that waits, and no write
 * passes while an image exists whose kernel would trust the cache device as it is.
 */
#include "fuzz.h"

#include "cache.h"
#include "cache_sleep.h"
#include "core/sleep.h"
#include "dm/target.h"
#include "image.h"
#include "store.h"

#define WRITES	16U

enum event {
	PHASE,	/* the next phase of a hibernation */
	WRITE,
	WAKE,	/* run nc_workers.wake, if it is queued */
	LATE,	/* nc_workers.wake decides to release writes, and does so at the next LATE */
	MARK,	/* run the queued work that marks regions or records "left" */
	OTHERS,	/* another system uses the cache device, and stops it cleanly */
	WORN,	/* all writes to the cache device fail, until the next WORN */
	DEAD,	/* all I/O of the cache device fails, until the next DEAD */
	EVENTS
};

static struct nc_cache *live;
static struct bio bios[WRITES];
static u32 sent;
static bool image_taken;
static bool late;
/* The kernel of the image, if it is resumed, compares the superblocks.  If they have these sequence
 * numbers, it trusts the slot table.
 */
static bool image_trusts;
static u64 image_sequences[2];

static u64 super_offset(u32 copy)
{
	return copy ? NEARCACHE_SUPER_OFFSET_1 : NEARCACHE_SUPER_OFFSET_0;
}

/* Read a copy of the superblock; @unit (FUZZ_UNIT bytes) is its whole sector. */
static void read_super(u32 copy, struct nearcache_super *sb, u8 *unit)
{
	store_read(&fuzz_cache, super_offset(copy), false, unit);
	memcpy(sb, unit, sizeof(*sb));
}

static u64 sequence_of(u32 copy)
{
	struct nearcache_super sb;
	u8 unit[FUZZ_UNIT];

	read_super(copy, &sb, unit);
	return le64_to_cpu(sb.sequence);
}

static bool image_matches(void)
{
	return image_trusts && sequence_of(0) == image_sequences[0] &&
	       sequence_of(1) == image_sequences[1];
}

void fuzz_submit(struct bio *bio)
{
	HOLDS(bio->done == FUZZ_BIO_HELD);
	HOLDS(!image_taken || !image_matches());
	bio->done = FUZZ_BIO_SENT;
}

static void begin_write(void)
{
	struct bio *bio = &bios[sent];

	if (sent == WRITES)
		return;
	*bio = (struct bio) { .bi_opf = REQ_OP_WRITE, .bi_iter = { 4096 * ++sent, 4096 } };
	live->origin.written = true;
	if (nc_intent_admit(live, &live->intent, bio))
		fuzz_submit(bio);
}

static void use_elsewhere(void)
{
	struct nearcache_super sb;
	u8 unit[FUZZ_UNIT];
	u32 i;

	for (i = 0; i < 2; i++) {
		read_super(i, &sb, unit);
		sb.write_id = cpu_to_le64(le64_to_cpu(sb.write_id) + 7);
		sb.state = cpu_to_le32(NEARCACHE_STATE_CLEAN);
		nc_super_seal(&sb);
		memcpy(unit, &sb, sizeof(sb));
		store_write(&fuzz_cache, super_offset(i), true, unit);
	}
}

/* Do as dm/system_sleep.c does before and after an image. */
static void next_phase(void)
{
	if (nc_sleep_phase() == NC_SLEEP_AWAKE) {
		nc_sleep_set(NC_SLEEP_REST);
		live->life.asleep = true;
	} else if (nc_sleep_phase() == NC_SLEEP_IMAGE) {
		image_taken = true;
		nc_sleep_set(NC_SLEEP_REST);
		queue_work(live->workers.cache, &live->workers.wake);
	} else if (image_taken) {
		image_taken = false;
		nc_sleep_set(NC_SLEEP_AWAKE);
		queue_work(live->workers.cache, &live->workers.wake);
	} else {
		nc_sleep_set(NC_SLEEP_IMAGE);
		nc_cache_hold(live, true);
		flush_work(&live->workers.hold);
		image_trusts = live->hot.state != NEARCACHE_BYPASS && live->life.settled;
		image_sequences[0] = sequence_of(0);
		image_sequences[1] = sequence_of(1);
	}
}

/* Only the wake work releases or fails writes that a sleep holds.  So while it is not queued, no
 * write that must fail may wait, and before the image no write at all: the kernel may wait for it.
 */
static void check_writes(void)
{
	if (live->workers.wake.queued || !nc_intent_any_held(&live->intent))
		return;
	HOLDS(nc_sleep_has_image());
	HOLDS(!nc_intent_refuses(&live->intent));
}

/* The processor may leave nc_workers.wake for any time between its decision and the release. */
static void release_late(void)
{
	static unsigned int images;

	if (late) {
		nc_intent_release(live, images);
	} else if (nc_sleep_phase() == NC_SLEEP_IMAGE || (image_taken && image_matches())) {
		return;
	} else {
		images = nc_sleep_images();
	}
	late = !late;
}

static void run_marks(void)
{
	flush_work(&live->intent.mark_work);
	flush_work(&live->intent.leave_work);
	flush_work(&live->intent.ready_work);
}

static void run_event(enum event event)
{
	switch (event) {
	case PHASE:
		next_phase();
		break;
	case WRITE:
		begin_write();
		break;
	case WAKE:
		flush_work(&live->workers.wake);
		break;
	case LATE:
		release_late();
		break;
	case MARK:
		run_marks();
		break;
	case OTHERS:
		use_elsewhere();
		break;
	case WORN:
		fuzz_cache.worn = !fuzz_cache.worn;
		break;
	default:
		fuzz_fail_only = &fuzz_cache;
		fuzz_fail_at = !fuzz_fail_at;
		fuzz_fail_count = fuzz_fail_at ? ~0U : 0;
	}
	check_writes();
}

/* End the last sleep, and let all queued work run: then no write may still wait. */
static void settle(void)
{
	u32 i;

	while (nc_sleep_phase() != NC_SLEEP_AWAKE)
		next_phase();
	for (i = 0; i < 4; i++) {
		flush_work(&live->workers.wake);
		run_marks();
	}
	for (i = 0; i < sent; i++)
		HOLDS(bios[i].done != FUZZ_BIO_HELD);
}

static void start(struct fuzz_table *t, bool witness)
{
	char *argv[] = { "writearound", "/dev/origin", "/dev/cache", "2", "witness", "/dev/witness" };
	static struct image im;
	u64 random = 1;

	image_create(&im, &random, 32 << 20, 64 << 20, 65536);
	nc_witness_init(&im.known[0], im.copy[0].uuid);
	image_seal(&im);
	fuzz_devices(im.origin_bytes, im.cache_bytes, im.witness_bytes);
	image_place(&im);
	memset(t, 0, sizeof(*t));
	t->table.mode = BLK_OPEN_READ | BLK_OPEN_WRITE;
	HOLDS(!fuzz_ctr(t, im.sectors, witness ? 6 : 3, argv));
	HOLDS(!fuzz_target->preresume(&t->ti));
	fuzz_target->resume(&t->ti);
	live = ((struct nc_target *)t->ti.private)->cache;
	sent = 0;
	late = false;
}

/* Each byte of the input is an event; the first byte also says whether there is a witness. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_table t;
	size_t i;

	if (!fuzz_target)
		nc_target_register();
	start(&t, size && data[0] & 128);
	for (i = 0; i < min(size, 64UL); i++)
		run_event(data[i] % 128 % EVENTS);
	settle();
	fuzz_count("fuzz_inputs", 1);
	fuzz_target->presuspend(&t.ti);
	fuzz_target->postsuspend(&t.ti);
	fuzz_target->dtr(&t.ti);
	HOLDS(!fuzz_allocated);
	return 0;
}
