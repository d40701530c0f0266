/* SPDX-License-Identifier: GPL-2.0-only */
/* cmocka; RUN() runs the tests of a file, with TAP on standard output. */
#ifndef HELPER_UNIT_H
#define HELPER_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Before cmocka.h, which defines a macro fail(). */
#include "lib/error.h"

#include <cmocka.h>

#define RUN(tests)							\
	(cmocka_set_message_output(CM_OUTPUT_TAP),			\
	 cmocka_run_group_tests(tests, NULL, NULL))

/* Fail unless @text is a part of the message of fail(). */
static inline void assert_said(const char *text)
{
	if (!strstr(fail_message(), text))
		fail_msg("no '%s' in: %s", text, fail_message());
}

#endif /* HELPER_UNIT_H */
