// SPDX-License-Identifier: GPL-2.0-only
/* Simulates the kernel around kmod/: memory, strings, block devices, device-mapper. */
#include <ctype.h>
#include <sanitizer/asan_interface.h>
#include <stdarg.h>

#include "doubt.h"
#include "fuzz.h"
#include "store.h"

/* It is a bug if the module allocates more bytes: any device of the fuzzers needs fewer. */
#define ALLOCATED_MAX	(48UL << 20)

struct chunk {
	size_t bytes;
	char memory[] __attribute__((aligned(SMP_CACHE_BYTES)));
};

/* keep() stores freed chunks of at least this size, poisoned, for reuse: mapping memory is slow. */
#define KEPT_MIN	(128UL << 10)
static struct chunk *kept[4];

size_t fuzz_allocated;
char fuzz_said[FUZZ_SAID_SIZE];
struct target_type *fuzz_target;
struct block_device fuzz_origin, fuzz_cache, fuzz_witness, fuzz_small;
const struct block_device *fuzz_fail_only;
u32 fuzz_fail_at, fuzz_fail_count, fuzz_failures, fuzz_flush_fails, fuzz_no_memory;
unsigned long fuzz_jiffies;

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=1";
}

static struct chunk *take_kept(size_t bytes)
{
	struct chunk *c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kept); i++) {
		c = kept[i];
		if (c && c->bytes == bytes) {
			kept[i] = NULL;
			ASAN_UNPOISON_MEMORY_REGION(c->memory, bytes);
			return c;
		}
	}
	return NULL;
}

static bool keep(struct chunk *c)
{
	size_t i;

	if (c->bytes < KEPT_MIN)
		return false;
	ASAN_POISON_MEMORY_REGION(c->memory, c->bytes);
	/* Insert the chunk in front and free the oldest. */
	swap(kept[0], c);
	for (i = 1; i < ARRAY_SIZE(kept) && c; i++)
		swap(kept[i], c);
	free(c);
	return true;
}

void *fuzz_alloc(size_t bytes)
{
	struct chunk *c;

	if (fuzz_no_memory && !--fuzz_no_memory)
		return NULL;
	fuzz_allocated += bytes;
	if (bytes > ALLOCATED_MAX || fuzz_allocated > ALLOCATED_MAX)
		fuzz_bug("%zu bytes allocated", fuzz_allocated);
	c = take_kept(bytes);
	if (!c && posix_memalign((void **)&c, _Alignof(struct chunk), sizeof(*c) + bytes))
		abort();
	c->bytes = bytes;
	return c->memory;
}

void *fuzz_zalloc(size_t bytes)
{
	void *memory = fuzz_alloc(bytes);

	return memory ? memset(memory, 0, bytes) : NULL;
}

void fuzz_free(const void *memory)
{
	struct chunk *c;

	if (!memory)
		return;
	c = container_of(memory, struct chunk, memory);
	fuzz_allocated -= c->bytes;
	if (!keep(c))
		free(c);
}

/* Append a message to fuzz_said, cut off where printk() cuts it. */
void fuzz_log(const char *format, ...)
{
	size_t n = strlen(fuzz_said);
	char record[FUZZ_RECORD_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(record, sizeof(record), format, args);
	va_end(args);
	snprintf(fuzz_said + n, sizeof(fuzz_said) - n, "%s\n", record);
}

void fuzz_bug(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "fuzz: ");
	vfprintf(stderr, format, args);
	fprintf(stderr, "\nfuzz: kernel log: %s\n", fuzz_said);
	va_end(args);
	abort();
}

int scnprintf(char *to, size_t room, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(to, room, format, args);
	va_end(args);
	return n < (int)room ? n : room ? (int)room - 1 : 0;
}

int kstrtou64(const char *text, unsigned int base, u64 *value)
{
	u64 sum = 0;

	text += *text == '+';
	if (base != 10 || !isdigit((unsigned char)*text))
		return -EINVAL;
	for (; isdigit((unsigned char)*text); text++)
		if (__builtin_mul_overflow(sum, 10, &sum) ||
		    __builtin_add_overflow(sum, *text - '0', &sum))
			return -ERANGE;
	if (*text && strcmp(text, "\n"))
		return -EINVAL;
	*value = sum;
	return 0;
}

int kstrtouint(const char *text, unsigned int base, unsigned int *value)
{
	u64 wide;
	int r = kstrtou64(text, base, &wide);

	if (r)
		return r;
	if (wide > UINT_MAX)
		return -ERANGE;
	*value = wide;
	return 0;
}

int match_string(const char *const *list, size_t n, const char *word)
{
	size_t i;

	for (i = 0; i < n && list[i]; i++)
		if (!strcmp(list[i], word))
			return i;
	return -EINVAL;
}

int dm_get_device(struct dm_target *ti, const char *path, int mode, struct dm_dev **dev)
{
	struct block_device *bdev = NULL;

	(void)ti;
	(void)mode;
	if (!strcmp(path, "/dev/origin") || !strcmp(path, "7:0"))
		bdev = &fuzz_origin;
	else if (!strcmp(path, "/dev/cache") || !strcmp(path, "7:16"))
		bdev = &fuzz_cache;
	else if (!strcmp(path, "/dev/witness") || !strcmp(path, "7:32"))
		bdev = &fuzz_witness;
	else if (!strcmp(path, "/dev/small"))
		bdev = &fuzz_small;
	if (!bdev)
		return -ENODEV;
	*dev = fuzz_alloc(sizeof(**dev));
	if (!*dev)
		return -ENOMEM;
	(*dev)->bdev = bdev;
	snprintf((*dev)->name, sizeof((*dev)->name), "%u:%u", MAJOR(bdev->bd_dev),
		 MINOR(bdev->bd_dev));
	return 0;
}

void dm_put_device(struct dm_target *ti, struct dm_dev *dev)
{
	(void)ti;
	fuzz_free(dev);
}

int fuzz_target_register(struct target_type *type)
{
	fuzz_target = type;
	return 0;
}

static bool fails(const struct block_device *bdev)
{
	if ((fuzz_fail_only && bdev != fuzz_fail_only) || !fuzz_fail_at || --fuzz_fail_at)
		return false;
	fuzz_failures++;
	if (fuzz_fail_count) {
		fuzz_fail_count--;
		fuzz_fail_at = 1;
	}
	return true;
}

/* Flush a device; the next fuzz_flush_fails flushes of the origin fail. */
int fuzz_flush(const struct block_device *bdev)
{
	if (bdev != &fuzz_origin)
		store_flush(bdev);
	else if (fuzz_flush_fails && fuzz_flush_fails--)
		return -EIO;
	return 0;
}

static void write_unit(const struct dm_io_region *region, u64 offset, bool durable,
		       const void *from)
{
	if (region->bdev == &fuzz_witness)
		doubt_witness_write(offset, from);
	store_write(region->bdev, offset, durable, from);
}

static int sync_io(struct dm_io_request *request, int regions, struct dm_io_region *region)
{
	bool write = request->bi_opf & REQ_OP_WRITE;
	u64 offset = region->sector << SECTOR_SHIFT, bytes = region->count << SECTOR_SHIFT;
	unsigned char *buffer = request->mem.ptr.vma;
	u64 at;

	if (regions != 1 || !bytes || offset > region->bdev->bytes ||
	    bytes > region->bdev->bytes - offset)
		fuzz_bug("I/O of %llu bytes at %llu, device of %llu", bytes, offset,
			 region->bdev->bytes);
	if (fails(region->bdev) || (write && region->bdev->worn))
		return -EIO;
	if (write && region->bdev->io)
		region->bdev->io(request->bi_opf);
	if (region->bdev == &fuzz_origin) {
		if (write)
			fuzz_bug("write to the origin");
		memset(buffer, 0, bytes);
		return 0;
	}
	if (request->bi_opf & REQ_PREFLUSH && !region->bdev->unit)
		store_flush(region->bdev);
	for (at = 0; at < bytes; at += FUZZ_UNIT)
		if (region->bdev->unit && write)
			memcpy(region->bdev->unit(offset + at, true), buffer + at, FUZZ_UNIT);
		else if (region->bdev->unit)
			memcpy(buffer + at, region->bdev->unit(offset + at, false), FUZZ_UNIT);
		else if (write)
			write_unit(region, offset + at, request->bi_opf & REQ_FUA, buffer + at);
		else
			store_read(region->bdev, offset + at, false, buffer + at);
	return 0;
}

/* Cache device and witness: I/O in units of 4096 bytes.  Origin: reads of zeros, no writes. */
int dm_io(struct dm_io_request *request, int regions, struct dm_io_region *region, void *bits)
{
	int r = sync_io(request, regions, region);

	(void)bits;
	if (!request->notify.fn)
		return r;
	request->notify.fn(r != 0, request->notify.context);
	return 0;
}

static struct block_device device(u32 minor, u64 bytes)
{
	static struct gendisk disks[4];
	struct gendisk *disk = &disks[minor / 16];

	memset(disk, 0, sizeof(*disk));
	return (struct block_device) {
		.bd_dev = 7 << 20 | minor, .bd_disk = disk, .bytes = bytes, .lbs = 512,
	};
}

/* Reset all devices, failures and the log; the arguments are sizes in bytes. */
void fuzz_devices(u64 origin_bytes, u64 cache_bytes, u64 witness_bytes)
{
	fuzz_origin = device(0, origin_bytes);
	fuzz_cache = device(16, cache_bytes);
	fuzz_witness = device(32, witness_bytes);
	fuzz_small = device(48, NEARCACHE_WITNESS_SIZE - 512);
	fuzz_fail_at = fuzz_fail_count = fuzz_failures = fuzz_flush_fails = fuzz_no_memory = 0;
	fuzz_fail_only = NULL;
	fuzz_ends = 0;
	fuzz_jiffies = 0;
	fuzz_said[0] = 0;
}

static bool is_space(char c)
{
	return isspace((unsigned char)c) || (unsigned char)c == 0xa0;
}

/**
 * fuzz_split() - split text into words as dm_split_args() does
 * @text: changed in place
 * @argv: FUZZ_WORDS_MAX pointers; further words are ignored
 *
 * Return: number of words.
 */
int fuzz_split(char *text, char **argv)
{
	char *out;
	int n = 0;

	for (;;) {
		while (is_space(*text))
			text++;
		if (!*text || n == FUZZ_WORDS_MAX)
			return n;
		argv[n++] = out = text;
		while (*text && !is_space(*text)) {
			if (*text == '\\' && text[1])
				text++;
			*out++ = *text++;
		}
		if (*text)
			text++;
		*out = 0;
	}
}

/**
 * fuzz_ctr() - load a table
 * @t: zeroed except table.mode
 * @sectors: length of the table
 * @argc: number of arguments
 * @argv: arguments after the target's name
 *
 * Return: result of the constructor, 0 or a negative errno.
 */
int fuzz_ctr(struct fuzz_table *t, u64 sectors, int argc, char **argv)
{
	t->table.md = &t->md;
	t->ti.table = &t->table;
	t->ti.len = sectors;
	t->ti.type = fuzz_target;
	t->md.disk.devt = 253 << 20;
	return fuzz_target->ctr(&t->ti, argc, argv);
}
