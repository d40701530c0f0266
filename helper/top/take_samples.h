/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples all devices: data from the kernel and from BPF programs. */
#ifndef HELPER_TOP_TAKE_SAMPLES_H
#define HELPER_TOP_TAKE_SAMPLES_H

#include "cli/options.h"
#include "top/model.h"

int gather(const struct arguments *args, const struct top_model *before, struct top_model *model);

#endif /* HELPER_TOP_TAKE_SAMPLES_H */
