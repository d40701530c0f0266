/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples streams and latencies from BPF programs. */
#ifndef HELPER_TOP_SAMPLE_BPF_H
#define HELPER_TOP_SAMPLE_BPF_H

#include "top/model.h"

int programs_take(struct top_model *model);
void programs_mark_ended(struct top_model *model);
void programs_name(struct top_model *model);

#endif /* HELPER_TOP_SAMPLE_BPF_H */
