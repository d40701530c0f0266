// SPDX-License-Identifier: GPL-2.0-only
/* Reads a trace from a file, or writes it to one. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/atomic_file.h"
#include "trace/trace_format.h"

/* Maximum file size, enough for a billion extents: a wrong file must not take all the memory. */
#define FILE_MAX	(4LL << 30)

static int read_all(int file, unsigned char *data, size_t bytes, const char *path)
{
	ssize_t n;

	while (bytes) {
		n = read(file, data, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail_errno(n ? errno : ENODATA, "cannot read '%s'", path);
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static int read_file(struct trace *trace, int file, const char *path)
{
	unsigned char *data;
	struct stat st;

	if (fstat(file, &st))
		return fail_errno(errno, "cannot read '%s'", path);
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		return fail(CODE_DEVICE,
			    "'%s' is not a trace: 'nearcache trace record' makes one", path);
	data = malloc((size_t)st.st_size + 1);
	if (!data)
		return fail_memory();
	if (!read_all(file, data, (size_t)st.st_size, path))
		trace_decode(trace, data, (size_t)st.st_size, path);
	free(data);
	return fail_code();
}

/* Read a trace. The caller zeroes @trace before, and calls trace_free() even after a failure. */
int trace_read(struct trace *trace, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return fail_errno(errno, "cannot open '%s'", path);
	read_file(trace, file, path);
	close(file);
	return fail_code();
}

/* Write a trace to a file. An existing file is replaced only when the new one is complete. */
int trace_write(const struct trace *trace, const char *path)
{
	size_t bytes;
	unsigned char *data = trace_encode(trace, &bytes);

	if (!data)
		return fail_code();
	atomic_file_write(path, data, bytes, true);
	free(data);
	return fail_code();
}
