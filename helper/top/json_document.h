/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints a sample of all devices as JSON. */
#ifndef HELPER_TOP_JSON_DOCUMENT_H
#define HELPER_TOP_JSON_DOCUMENT_H

#include "top/model.h"

void document_print(const struct top_model *model, bool ended);

#endif /* HELPER_TOP_JSON_DOCUMENT_H */
