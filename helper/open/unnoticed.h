/* SPDX-License-Identifier: GPL-2.0-only */
/* Says which changes of an origin 'nearcache open' will not notice. */
#ifndef HELPER_OPEN_UNNOTICED_H
#define HELPER_OPEN_UNNOTICED_H

#include <stdbool.h>

#include "ondisk/fingerprint_fs.h"

/* Size of the text of unnoticed_text(). */
#define UNNOTICED_TEXT	256

const char *unnoticed_text(const struct fsprint_result *content, bool sampled, bool blind,
			   char *text);
void unnoticed_print(const struct fsprint_result *content, bool sampled, bool blind);

#endif /* HELPER_OPEN_UNNOTICED_H */
