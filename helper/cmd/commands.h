/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of the verbs.  Each returns 0, or an exit code after recording an error with
 * fail().
 */
#ifndef HELPER_CMD_COMMANDS_H
#define HELPER_CMD_COMMANDS_H

#include "cli/options.h"

/* All verbs, in the order of the help; ends with NULL. */
extern const struct verb *const verbs[];

int cmd_create(const struct arguments *args);
int cmd_open(const struct arguments *args);
int cmd_close(const struct arguments *args);
int cmd_set(const struct arguments *args);
int cmd_attach(const struct arguments *args);
int cmd_resize(const struct arguments *args);
int cmd_residency(const struct arguments *args);
int cmd_pin(const struct arguments *args);
int cmd_unpin(const struct arguments *args);
int cmd_ranges(const struct arguments *args);
int cmd_prefetch(const struct arguments *args);
int cmd_plan(const struct arguments *args);
int cmd_jobs(const struct arguments *args);
int cmd_cancel(const struct arguments *args);
int cmd_invalidate(const struct arguments *args);
int cmd_scrub(const struct arguments *args);
int cmd_cluster(const struct arguments *args);
int cmd_list(const struct arguments *args);
int cmd_status(const struct arguments *args);
int cmd_stats(const struct arguments *args);
int cmd_verify(const struct arguments *args);
int cmd_get(const struct arguments *args);
int cmd_destroy(const struct arguments *args);
int cmd_classifier(const struct arguments *args);
int cmd_trace(const struct arguments *args);
int cmd_actions(const struct arguments *args);
int cmd_metrics(const struct arguments *args);
int cmd_latency(const struct arguments *args);
int cmd_heat(const struct arguments *args);
int cmd_heatmap(const struct arguments *args);
int cmd_index(const struct arguments *args);
int cmd_super(const struct arguments *args);

#endif /* HELPER_CMD_COMMANDS_H */
