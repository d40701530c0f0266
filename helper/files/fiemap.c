// SPDX-License-Identifier: GPL-2.0-only
#include "files/fiemap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "files/erofs_tail.h"
#include "lib/error.h"

/* Extents per ioctl. */
#define BATCH	256U

/* Values of statfs.f_type. */
#define MAGIC_F2FS	0xF2F52010
#define MAGIC_XFS	0x58465342

/**
 * struct mapping - state while a file is mapped
 * @extents: the result
 * @fd: the file
 * @path: name of the file in messages
 * @next: first byte not mapped yet
 * @is_erofs: the file system is EROFS
 * @allocated: also map blocks that are allocated beyond the end of the file
 * @over: the whole file is mapped, or the kernel has no more extents
 */
struct mapping {
	struct extents *extents;
	int fd;
	const char *path;
	uint64_t next;
	bool is_erofs;
	bool allocated;
	bool over;
};

/* Flags of extents without a known location. The first flag found is the reason. */
static const struct {
	uint32_t flag;
	const char *why;
} unlocated[] = {
	{ FIEMAP_EXTENT_DATA_INLINE,
	  "is stored inside the file system's metadata (inline)" },
	{ FIEMAP_EXTENT_DATA_TAIL,
	  "is packed into a block with other files (tail)" },
	{ FIEMAP_EXTENT_DELALLOC,
	  "has no location on the device yet (delayed allocation): 'sync' and try again" },
	{ FIEMAP_EXTENT_DATA_ENCRYPTED | FIEMAP_EXTENT_ENCODED,
	  "is compressed or encrypted (encoded)" },
	{ FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_NOT_ALIGNED,
	  "has a location that the file system does not report" },
};

static bool is_continued(const struct extent *last, const struct extent *extent)
{
	return last->kind == extent->kind && last->why == extent->why &&
	       last->offset + last->length == extent->offset &&
	       (last->kind == EXTENT_UNLOCATED || last->start + last->length == extent->start);
}

static int append_extent(struct extents *extents, const struct extent *extent)
{
	struct extent *last = extents->count ?
			      &extents->extent[extents->count - 1] : NULL;

	if (last && is_continued(last, extent)) {
		last->length += extent->length;
		return 0;
	}
	if (extents->count == extents->room) {
		size_t room = extents->room ? 2 * extents->room : 16;

		last = reallocarray(extents->extent, room, sizeof(*last));
		if (!last)
			return fail_memory();
		extents->extent = last;
		extents->room = room;
	}
	extents->extent[extents->count++] = *extent;
	return 0;
}

/* Sets the kind and the start of @extent, which the kernel described by @fe. */
static int place_extent(const struct mapping *map, const struct fiemap_extent *fe,
			struct extent *extent)
{
	unsigned int i;

	extent->start = fe->fe_physical;
	if (map->is_erofs && fe->fe_flags & FIEMAP_EXTENT_DATA_INLINE) {
		if (erofs_tail(map->extents->device, map->fd, map->path, &extent->start))
			return fail_code();
		if (extent->start)
			return 0;
	}
	for (i = 0; i < sizeof(unlocated) / sizeof(unlocated[0]); i++)
		if (fe->fe_flags & unlocated[i].flag) {
			extent->kind = EXTENT_UNLOCATED;
			extent->why = unlocated[i].why;
			return 0;
		}
	if (fe->fe_flags & FIEMAP_EXTENT_UNWRITTEN)
		extent->kind = EXTENT_UNWRITTEN;
	return 0;
}

static int take_extent(struct mapping *map, const struct fiemap_extent *fe)
{
	struct extent extent = { .offset = fe->fe_logical };
	uint64_t size = map->extents->size;
	uint64_t end = fe->fe_logical + fe->fe_length;

	/* An extent beyond the end of the file is preallocated and has no data of this host. */
	if (fe->fe_logical >= size && !map->allocated) {
		map->over = true;
		return 0;
	}
	if (fe->fe_logical < map->next || end <= map->next)
		return fail(CODE_DEVICE,
			    "'%s': its extents changed during the mapping: try again when nothing writes to it",
			    map->path);
	if (place_extent(map, fe, &extent))
		return fail_code();
	map->next = end;
	map->over = fe->fe_flags & FIEMAP_EXTENT_LAST || (end >= size && !map->allocated);
	/* Beyond the end, an extent without a location is a reservation in memory (XFS). */
	if (end > size && (!map->allocated || extent.kind == EXTENT_UNLOCATED))
		end = size;
	if (end <= fe->fe_logical)
		return 0;
	extent.length = end - fe->fe_logical;
	return append_extent(map->extents, &extent);
}

static int ask_kernel(const struct mapping *map, struct fiemap *fiemap)
{
	memset(fiemap, 0, sizeof(*fiemap));
	fiemap->fm_start = map->next;
	fiemap->fm_length = FIEMAP_MAX_OFFSET - map->next;
	fiemap->fm_flags = FIEMAP_FLAG_SYNC;
	fiemap->fm_extent_count = BATCH;
	if (!ioctl(map->fd, FS_IOC_FIEMAP, fiemap))
		return 0;
	if (errno == EOPNOTSUPP || errno == ENOTTY)
		return fail(CODE_DEVICE,
			    "'%s': its file system does not report where files are (FIEMAP); ext4, XFS and EROFS do",
			    map->path);
	return fail_errno(errno, "'%s': cannot map the file", map->path);
}

static int read_all(struct mapping *map)
{
	struct fiemap *fiemap = malloc(sizeof(*fiemap) +
				       BATCH * sizeof(fiemap->fm_extents[0]));
	unsigned int i;

	if (!fiemap)
		return fail_memory();
	while (!map->over && !ask_kernel(map, fiemap)) {
		map->over = !fiemap->fm_mapped_extents;
		for (i = 0; i < fiemap->fm_mapped_extents; i++)
			if (take_extent(map, &fiemap->fm_extents[i]) || map->over)
				break;
		if (fail_code())
			break;
	}
	free(fiemap);
	return fail_code();
}

/* Returns the reason why FIEMAP does not locate this file on the file system's device, or NULL. */
static const char *find_reason(const struct mapping *map, uint32_t magic)
{
	struct fsxattr attr;
	struct statx st;

	if (magic == MAGIC_XFS && !ioctl(map->fd, FS_IOC_FSGETXATTR, &attr) &&
	    attr.fsx_xflags & FS_XFLAG_REALTIME)
		return "is on the realtime device of its XFS, not on its data device";
	/* For a compressed file EROFS reports uncompressed lengths, not those on the device. */
	if (!statx(map->fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) &&
	    st.stx_attributes & STATX_ATTR_COMPRESSED)
		return "is compressed and cannot be located (use mkfs.erofs without -z)";
	return NULL;
}

/* Refuses file systems whose FIEMAP offsets do not refer to their device. */
static int check_file_system(struct mapping *map, uint32_t *magic)
{
	struct statfs fs;

	if (!major(map->extents->device))
		return fail(CODE_DEVICE,
			    "'%s': its file system has no block device of its own (btrfs, overlay, tmpfs, network): name files on ext4, XFS or EROFS",
			    map->path);
	if (fstatfs(map->fd, &fs))
		return fail_errno(errno, "'%s'", map->path);
	if ((uint32_t)fs.f_type == MAGIC_F2FS)
		return fail(CODE_DEVICE,
			    "'%s': F2FS may have several devices, and does not report which one holds a file",
			    map->path);
	*magic = (uint32_t)fs.f_type;
	map->is_erofs = *magic == EROFS_MAGIC;
	return map->is_erofs ? erofs_check(map->extents->device, map->path) : 0;
}

static int read_extents(struct extents *extents, int fd, const char *path, bool allocated)
{
	struct mapping map = {
		.extents = extents, .fd = fd, .path = path, .allocated = allocated,
	};
	struct extent whole = { .kind = EXTENT_UNLOCATED };
	uint32_t magic = 0;
	struct stat st;

	memset(extents, 0, sizeof(*extents));
	/* A read-only file system that has no fsync() has nothing to flush. */
	if (fsync(fd) && errno != EINVAL && errno != EROFS)
		return fail_errno(errno, "'%s': cannot write the file to its device",
				  path);
	if (fstat(fd, &st))
		return fail_errno(errno, "'%s'", path);
	extents->device = st.st_dev;
	extents->size = extents->selected = (uint64_t)st.st_size;
	if (check_file_system(&map, &magic) || (!extents->size && !allocated))
		return fail_code();
	whole.length = extents->size;
	whole.why = find_reason(&map, magic);
	if (!whole.why)
		return read_all(&map);
	return whole.length ? append_extent(extents, &whole) : 0;
}

/*
 * Maps the regular file @fd, open for reading; @path is its name in messages. Call
 * extents_free() after success and failure.
 *
 * Flushes the file first, so that data that was written before has its location. May read metadata
 * of the file system, and for EROFS the device itself, which needs root. An error names the file
 * and the reason.
 */
int extents_read(struct extents *extents, int fd, const char *path)
{
	return read_extents(extents, fd, path, false);
}

/*
 * Like extents_read(), but includes all blocks of the file, also those beyond its end: another host
 * may have written data there, and this host does not know the new size.
 */
int extents_read_allocated(struct extents *extents, int fd, const char *path)
{
	return read_extents(extents, fd, path, true);
}

/*
 * Reduces @extents to the parts of the file inside @range, an ascending array of @ranges disjoint
 * ranges. After an error @extents is unchanged.
 */
int extents_keep(struct extents *extents, const struct index_range *range,
		 size_t ranges)
{
	struct extents kept = { .device = extents->device,
				.size = extents->size };
	size_t i = 0, r = 0;

	while (r < ranges && range[r].offset < extents->size) {
		uint64_t left = extents->size - range[r].offset;

		kept.selected += range[r].length < left ? range[r].length : left;
		r++;
	}
	for (r = 0; i < extents->count && r < ranges;) {
		const struct extent *e = &extents->extent[i];
		uint64_t end = e->offset + e->length;
		uint64_t range_end = range[r].offset + range[r].length;
		uint64_t from = e->offset > range[r].offset ? e->offset :
							      range[r].offset;
		uint64_t to = end < range_end ? end : range_end;
		struct extent part = *e;

		part.offset = from;
		part.start += from - e->offset;
		part.length = to - from;
		if (from < to && append_extent(&kept, &part)) {
			extents_free(&kept);
			return fail_code();
		}
		if (end < range_end)
			i++;
		else
			r++;
	}
	extents_free(extents);
	*extents = kept;
	return 0;
}

void extents_free(struct extents *extents)
{
	free(extents->extent);
	memset(extents, 0, sizeof(*extents));
}
