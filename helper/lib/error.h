/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The error that ends a run of the helper: an exit code and a message. Messages have no newline,
 * quote the bad value and say what to do. main() prints the message, as text or JSON. fail(),
 * fail_errno(), fail_memory() and fail_add() return the exit code of the run, never 0.
 */
#ifndef HELPER_LIB_ERROR_H
#define HELPER_LIB_ERROR_H

/*
 * CODE_USAGE: the command line is wrong.
 * CODE_PERMISSION: not allowed, usually because the user is not root.
 * CODE_DEVICE: wrong device, wrong content, or refused by the kernel.
 * CODE_BUSY: exists already, or is in use.
 */
enum exit_code {
	CODE_OK		= 0,
	CODE_USAGE	= 1,
	CODE_PERMISSION	= 2,
	CODE_MEMORY	= 3,
	CODE_DEVICE	= 4,
	CODE_BUSY	= 5,
	CODE_COUNT	= 6,
};

int fail(enum exit_code code, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int fail_errno(int error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int fail_memory(void);
int fail_add(const char *format, ...) __attribute__((format(printf, 1, 2)));
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

enum exit_code fail_code(void);
const char *fail_code_word(enum exit_code code);
const char *fail_message(void);
void fail_reset(void);

#endif /* HELPER_LIB_ERROR_H */
