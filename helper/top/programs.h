/* SPDX-License-Identifier: GPL-2.0-only */
/* Streams and latencies, as far as BPF programs tell them, for 'nearcache top'. */
#ifndef HELPER_TOP_PROGRAMS_H
#define HELPER_TOP_PROGRAMS_H

#include "top/model.h"

int programs_take(struct top_model *model);
void programs_name(struct top_model *model);

#endif /* HELPER_TOP_PROGRAMS_H */
