/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verbs: operands, options, help and function of each.  Each is at the end of the file with its
 * name.  The functions return 0, or an exit code after recording an error with fail().
 */
#ifndef HELPER_CMD_COMMANDS_H
#define HELPER_CMD_COMMANDS_H

#include "cli/options.h"

/* All verbs, group by group, in the order of the help; ends with NULL. */
extern const struct verb *const verbs[];

extern const struct verb create_verb;
extern const struct verb open_verb;
extern const struct verb close_verb;
extern const struct verb set_verb;
extern const struct verb get_verb;
extern const struct verb attach_verb;
extern const struct verb resize_verb;
extern const struct verb upgrade_verb;
extern const struct verb pin_verb;
extern const struct verb unpin_verb;
extern const struct verb ranges_verb;
extern const struct verb prefetch_verb;
extern const struct verb plan_verb;
extern const struct verb jobs_verb;
extern const struct verb cancel_verb;
extern const struct verb residency_verb;
extern const struct verb invalidate_verb;
extern const struct verb verify_verb;
extern const struct verb scrub_verb;
extern const struct verb cluster_verb;
extern const struct verb stage_verb;
extern const struct verb list_verb;
extern const struct verb status_verb;
extern const struct verb stats_verb;
extern const struct verb destroy_verb;
extern const struct verb index_verb;
extern const struct verb classifier_verb;
extern const struct verb latency_verb;
extern const struct verb heat_verb;
extern const struct verb trace_verb;
extern const struct verb heatmap_verb;
extern const struct verb actions_verb;
extern const struct verb metrics_verb;
extern const struct verb super_verb;
extern const struct verb report_verb;
extern const struct verb events_verb;
extern const struct verb help_verb;

#endif /* HELPER_CMD_COMMANDS_H */
