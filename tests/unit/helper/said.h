/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks of the message of fail().  Include it before unit.h: cmocka.h defines a macro fail(). */
#ifndef HELPER_SAID_H
#define HELPER_SAID_H

#include "lib/error.h"
#include "unit.h"

/* Fail unless @text is a part of the message of fail(). */
static inline void assert_said(const char *text)
{
	if (!strstr(fail_message(), text))
		fail_msg("no '%s' in: %s", text, fail_message());
}

#endif /* HELPER_SAID_H */
