/* SPDX-License-Identifier: GPL-2.0-only */
/* cmocka; RUN() runs the tests of a file, with TAP on standard output. */
#ifndef HELPER_UNIT_H
#define HELPER_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define RUN(tests)							\
	(cmocka_set_message_output(CM_OUTPUT_TAP),			\
	 cmocka_run_group_tests(tests, NULL, NULL))

#endif /* HELPER_UNIT_H */
