/* SPDX-License-Identifier: GPL-2.0-only */
/* A time span, as the user writes it. */
#ifndef HELPER_LIB_DURATION_H
#define HELPER_LIB_DURATION_H

const char *duration_parse(const char *text, unsigned int *seconds);

#endif /* HELPER_LIB_DURATION_H */
