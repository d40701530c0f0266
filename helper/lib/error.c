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
	/* What fails while cleaning up is told after the cause. */
	if (first_code)
		append_text("; moreover ");
	else
		first_code = code;
	append_message(format, args);
	return first_code;
}

/**
 * fail() - record the error that the run ends with
 * @code: exit code; the first one recorded counts
 * @format: message without a newline: quote the bad value, say what to do
 *
 * Return: the exit code of the run, never 0.
 */
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

/**
 * fail_errno() - record a failed system call
 * @error: its errno; chooses the exit code and ends the message
 * @format: what was tried
 *
 * Return: the exit code of the run, never 0.
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

/**
 * fail_add() - add to the recorded error
 * @format: what belongs to it: a reason, a hint
 *
 * Return: the exit code of the run, never 0.
 */
int fail_add(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append_text("; ");
	append_message(format, args);
	va_end(args);
	return first_code;
}

/**
 * fail_memory() - record that memory ran out
 *
 * Return: the exit code of the run, never 0.
 */
int fail_memory(void)
{
	return fail(CODE_MEMORY, "out of memory");
}

/**
 * warn() - tell something that does not stop the run, on stderr
 * @format: message without a newline
 */
void warn(const char *format, ...)
{
	char text[sizeof(message)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "nearcache: warning: %s\n", text_clean(text));
}

/* The exit code recorded so far, CODE_OK without an error. */
enum exit_code fail_code(void)
{
	return first_code;
}

/* The word for an exit code in JSON errors and in --help. */
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

/* The message recorded so far, without a newline. */
const char *fail_message(void)
{
	return message;
}

/* Forget the error: for a look-up whose failure has another way out. */
void fail_reset(void)
{
	first_code = CODE_OK;
	message[0] = '\0';
}
