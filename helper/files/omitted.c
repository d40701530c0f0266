// SPDX-License-Identifier: GPL-2.0-only
#include "files/omitted.h"

#include <stddef.h>

#include "lib/error.h"
#include "lib/print.h"

/* Prints the fields of a result; text has only those that are not 0. */
void omitted_print(const struct omitted *omitted)
{
	print_number("passed_over", omitted->passed_over ? "files passed over" : NULL,
		     omitted->passed_over);
	print_bytes("empty_bytes", omitted->empty_bytes ? "holes and unwritten" : NULL,
		    omitted->empty_bytes);
	print_number("unlocated_files", omitted->unlocated_files ? "files with unknown location" : NULL,
		     omitted->unlocated_files);
	print_bytes("unlocated_bytes", omitted->unlocated_bytes ? "bytes with unknown location" : NULL,
		    omitted->unlocated_bytes);
}

/* For output that has no room for fields: warns about files that it shows only in part. */
void omitted_warn(const struct omitted *omitted)
{
	if (omitted->passed_over)
		warn("%llu files were passed over: --strict names the first one",
		     (unsigned long long)omitted->passed_over);
	if (omitted->unlocated_files)
		warn("%llu files have %llu bytes whose location on the device is unknown: --strict names the first one",
		     (unsigned long long)omitted->unlocated_files,
		     (unsigned long long)omitted->unlocated_bytes);
}
