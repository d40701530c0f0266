// SPDX-License-Identifier: GPL-2.0-only
#include "lib/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/sanitize.h"

static enum exit_code first_code;
static char message[2048];

static void append_message(const char *format, va_list args)
{
	size_t used = strlen(message);

	vsnprintf(message + used, sizeof(message) - used, format, args);
}

static void append_text(const char *text)
{
	size_t used = strlen(message);

	snprintf(message + used, sizeof(message) - used, "%s", text);
}

static int record_error(enum exit_code code, const char *format, va_list args)
{
	/* A second error comes from the cleanup after the first one: keep both. */
	if (first_code)
		append_text("; moreover ");
	else
		first_code = code;
	append_message(format, args);
	return first_code;
}

/* Records an error. The first recorded @code is the exit code of the run. */
int fail(enum exit_code code, const char *format, ...)
{
	va_list args;
	int result;

	va_start(args, format);
	result = record_error(code, format, args);
	va_end(args);
	return result;
}

static enum exit_code code_of_errno(int error)
{
	switch (error) {
	case EPERM:
	case EACCES:
		return CODE_PERMISSION;
	case ENOMEM:
		return CODE_MEMORY;
	case EBUSY:
	case EEXIST:
		return CODE_BUSY;
	default:
		return CODE_DEVICE;
	}
}

/*
 * Records a failed system call. @error: its errno, which selects the exit code and whose text ends
 * the message.
 */
int fail_errno(int error, const char *format, ...)
{
	va_list args;
	int result;

	va_start(args, format);
	result = record_error(code_of_errno(error), format, args);
	va_end(args);
	append_text(": ");
	append_text(strerror(error));
	if (code_of_errno(error) == CODE_PERMISSION)
		append_text(" (are you root?)");
	return result;
}

/* Appends a reason or a hint to the recorded error. */
int fail_add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append_text("; ");
	append_message(format, args);
	va_end(args);
	return first_code;
}

int fail_memory(void)
{
	return fail(CODE_MEMORY, "out of memory");
}

/* Prints a warning on stderr. The run continues. */
void warn(const char *format, ...)
{
	char text[sizeof(message)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "nearcache: warning: %s\n", text_clean(text));
}

/* Returns the recorded exit code, or CODE_OK without an error. */
enum exit_code fail_code(void)
{
	return first_code;
}

/* Returns the name of @code in JSON errors and in --help. */
const char *fail_code_word(enum exit_code code)
{
	static const char *const word[CODE_COUNT] = {
		[CODE_OK] = "ok",
		[CODE_USAGE] = "usage",
		[CODE_PERMISSION] = "permission",
		[CODE_MEMORY] = "memory",
		[CODE_DEVICE] = "wrong device",
		[CODE_BUSY] = "exists or busy",
	};

	return word[code];
}

const char *fail_message(void)
{
	return message;
}

/* Forgets all recorded errors, for a caller that can do without the failed step. */
void fail_reset(void)
{
	first_code = CODE_OK;
	message[0] = '\0';
}
