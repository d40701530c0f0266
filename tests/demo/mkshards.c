// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make WebDataset shards from photos.
 *
 *   mkshards DIR BYTES SHARDS IMAGE.jpg...
 *
 * Each sample is a random crop of a photo, encoded as its own JPEG, with a JSON description and a
 * class label.  The samples are distributed so that each shard holds crops of all photos.  The same
 * arguments give the same bytes.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "tar.h"

#define CROP_MIN	448
#define CROP_MAX	896
#define QUALITY		92

struct photo {
	const char *name;
	unsigned char *pixels;
	unsigned int width;
	unsigned int height;
};

struct crop {
	unsigned int x;
	unsigned int y;
	unsigned int width;
	unsigned int height;
};

struct shard {
	FILE *file;
	uint64_t bytes;
};

static void die(const char *what, const char *which)
{
	fprintf(stderr, "mkshards: %s '%s'%s%s\n", what, which,
		errno ? ": " : "", errno ? strerror(errno) : "");
	exit(1);
}

/* xorshift64* with a fixed seed, so that each machine makes the same dataset. */
static uint32_t random_below(uint32_t limit)
{
	static uint64_t state = 0x9e3779b97f4a7c15ULL;

	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 0x2545f4914f6cdd1dULL) >> 33) % limit;
}

static void photo_read(struct photo *photo, const char *path)
{
	struct jpeg_decompress_struct jpeg;
	struct jpeg_error_mgr errors;
	FILE *file = fopen(path, "rb");
	unsigned char *row;

	if (!file)
		die("cannot read", path);
	/* On a decoding error, libjpeg's standard handler prints it and exits. */
	jpeg.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&jpeg);
	jpeg_stdio_src(&jpeg, file);
	jpeg_read_header(&jpeg, TRUE);
	jpeg.out_color_space = JCS_RGB;
	jpeg_start_decompress(&jpeg);
	photo->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	photo->width = jpeg.output_width;
	photo->height = jpeg.output_height;
	photo->pixels = malloc((size_t)photo->width * photo->height * 3);
	if (!photo->pixels)
		die("no memory for", path);
	while (jpeg.output_scanline < jpeg.output_height) {
		row = photo->pixels +
		      (size_t)jpeg.output_scanline * photo->width * 3;
		jpeg_read_scanlines(&jpeg, &row, 1);
	}
	jpeg_finish_decompress(&jpeg);
	jpeg_destroy_decompress(&jpeg);
	fclose(file);
	if (photo->width <= CROP_MAX || photo->height <= CROP_MAX)
		die("too small for crops:", path);
}

static unsigned long crop_encode(const struct photo *photo,
				 const struct crop *crop,
				 unsigned char **data)
{
	struct jpeg_compress_struct jpeg;
	struct jpeg_error_mgr errors;
	unsigned long length = 0;
	unsigned char *row;

	*data = NULL;
	jpeg.err = jpeg_std_error(&errors);
	jpeg_create_compress(&jpeg);
	jpeg_mem_dest(&jpeg, data, &length);
	jpeg.image_width = crop->width;
	jpeg.image_height = crop->height;
	jpeg.input_components = 3;
	jpeg.in_color_space = JCS_RGB;
	jpeg_set_defaults(&jpeg);
	jpeg_set_quality(&jpeg, QUALITY, TRUE);
	jpeg_start_compress(&jpeg, TRUE);
	while (jpeg.next_scanline < jpeg.image_height) {
		row = photo->pixels +
		      ((size_t)(crop->y + jpeg.next_scanline) * photo->width +
		       crop->x) * 3;
		jpeg_write_scanlines(&jpeg, &row, 1);
	}
	jpeg_finish_compress(&jpeg);
	jpeg_destroy_compress(&jpeg);
	return length;
}

static void append(struct shard *shard, unsigned int key, const char *suffix,
		   const void *data, size_t length)
{
	char name[TAR_NAME];
	long bytes;

	snprintf(name, sizeof(name), "%08u.%s", key, suffix);
	bytes = tar_write_member(shard->file, name, data, length);
	if (bytes < 0)
		die("cannot write the sample", name);
	shard->bytes += bytes;
}

static void sample_write(struct shard *shard, unsigned int key,
			 unsigned int label, const struct photo *photo)
{
	unsigned char *data;
	unsigned long length;
	struct crop crop;
	char text[512];

	crop.width = CROP_MIN + random_below(CROP_MAX - CROP_MIN);
	crop.height = CROP_MIN + random_below(CROP_MAX - CROP_MIN);
	crop.x = random_below(photo->width - crop.width);
	crop.y = random_below(photo->height - crop.height);
	length = crop_encode(photo, &crop, &data);
	append(shard, key, "jpg", data, length);
	free(data);
	snprintf(text, sizeof(text),
		 "{\"key\": \"%08u\", \"photo\": \"%s\", \"label\": %u, \"x\": %u, \"y\": %u, \"width\": %u, \"height\": %u}\n",
		 key, photo->name, label, crop.x, crop.y, crop.width,
		 crop.height);
	append(shard, key, "json", text, strlen(text));
	snprintf(text, sizeof(text), "%u", label);
	append(shard, key, "cls", text, strlen(text));
}

static struct shard *shards_open(const char *dir, unsigned int count)
{
	struct shard *shards = calloc(count, sizeof(*shards));
	char path[4096];
	unsigned int i;

	if (!shards)
		die("no memory for", dir);
	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/train-%06u.tar", dir, i);
		shards[i].file = fopen(path, "wb");
		if (!shards[i].file)
			die("cannot write", path);
	}
	return shards;
}

static void shards_close(struct shard *shards, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (tar_write_end(shards[i].file) < 0 ||
		    fclose(shards[i].file))
			die("cannot write", "a shard");
	free(shards);
}

int main(int argc, char **argv)
{
	uint64_t wanted, total = 0, before;
	unsigned int count, key = 0, photos, i;
	struct shard *shards, *shard;
	struct photo photo;

	if (argc < 5) {
		fprintf(stderr,
			"usage: mkshards DIR BYTES SHARDS IMAGE.jpg...\n");
		return 1;
	}
	wanted = strtoull(argv[2], NULL, 10);
	count = strtoul(argv[3], NULL, 10);
	if (!wanted || !count) {
		errno = 0;
		die("not a number of bytes or shards:",
		    wanted ? argv[3] : argv[2]);
	}
	photos = argc - 4;
	shards = shards_open(argv[1], count);
	for (i = 0; i < photos; i++) {
		photo_read(&photo, argv[4 + i]);
		while (total < wanted / photos * (i + 1)) {
			shard = &shards[key % count];
			before = shard->bytes;
			sample_write(shard, key++, i, &photo);
			total += shard->bytes - before;
		}
		free(photo.pixels);
	}
	shards_close(shards, count);
	printf("%u samples of %u photos in %u shards, %llu bytes\n", key,
	       photos, count, (unsigned long long)total);
	return 0;
}
