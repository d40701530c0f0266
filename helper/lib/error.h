/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one error that a run of the helper ends with: an exit code and a message
 * that quotes the bad value and says what to do.  main() shows it, as text or
 * as JSON.
 */
#ifndef HELPER_LIB_ERROR_H
#define HELPER_LIB_ERROR_H

/**
 * enum exit_code - what the process exits with
 * @CODE_OK: done
 * @CODE_USAGE: the command line is wrong
 * @CODE_PERMISSION: not allowed; usually: not root
 * @CODE_MEMORY: out of memory
 * @CODE_DEVICE: wrong device, wrong content or refused by the kernel
 * @CODE_BUSY: exists already or is in use
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
