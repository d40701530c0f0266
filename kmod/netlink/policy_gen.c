// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/nearcache.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "policy_gen.h"

#include <uapi/nearcache.h>

/* Integer value ranges */
static const struct netlink_range_validation nearcache_a_device_cache_timeout_range = {
	.max	= NEARCACHE_CACHE_TIMEOUT_MAX,
};

static const struct netlink_range_validation nearcache_a_device_origin_timeout_range = {
	.max	= NEARCACHE_ORIGIN_TIMEOUT_MAX,
};

static const struct netlink_range_validation nearcache_a_device_fill_memory_range = {
	.min	= NEARCACHE_FILL_MEMORY_MIN,
	.max	= NEARCACHE_FILL_MEMORY_MAX,
};

/* Common nested types */
const struct nla_policy nearcache_job_nl_policy[NEARCACHE_A_JOB_PEER_DEV + 1] = {
	[NEARCACHE_A_JOB_ID] = { .type = NLA_U32, },
	[NEARCACHE_A_JOB_LABEL] = { .type = NLA_NUL_STRING, .len = NEARCACHE_LABEL_MAX, },
	[NEARCACHE_A_JOB_STATE] = NLA_POLICY_MAX(NLA_U32, 4),
	[NEARCACHE_A_JOB_PRIORITY] = NLA_POLICY_MAX(NLA_U32, NEARCACHE_PRIORITY_MAX),
	[NEARCACHE_A_JOB_DEADLINE] = { .type = NLA_U32, },
	[NEARCACHE_A_JOB_BANDWIDTH] = { .type = NLA_U64, },
	[NEARCACHE_A_JOB_BYTES] = { .type = NLA_U64, },
	[NEARCACHE_A_JOB_FETCHED] = { .type = NLA_U64, },
	[NEARCACHE_A_JOB_PRESENT] = { .type = NLA_U64, },
	[NEARCACHE_A_JOB_LEFT] = { .type = NLA_U64, },
	[NEARCACHE_A_JOB_FLYING] = { .type = NLA_U64, },
	[NEARCACHE_A_JOB_PEER_FD] = { .type = NLA_U32, },
	[NEARCACHE_A_JOB_PEER_DEV] = { .type = NLA_U32, },
};

const struct nla_policy nearcache_plan_nl_policy[NEARCACHE_A_PLAN_NO_PREFETCH + 1] = {
	[NEARCACHE_A_PLAN_AT] = { .type = NLA_U64, },
	[NEARCACHE_A_PLAN_COMMIT] = { .type = NLA_FLAG, },
	[NEARCACHE_A_PLAN_STATE] = NLA_POLICY_MAX(NLA_U32, 4),
	[NEARCACHE_A_PLAN_RANGES] = { .type = NLA_U64, },
	[NEARCACHE_A_PLAN_VISITS] = { .type = NLA_U64, },
	[NEARCACHE_A_PLAN_BLOCKS] = { .type = NLA_U64, },
	[NEARCACHE_A_PLAN_POSITION] = { .type = NLA_U64, },
	[NEARCACHE_A_PLAN_HITS] = { .type = NLA_U64, },
	[NEARCACHE_A_PLAN_MISSES] = { .type = NLA_U64, },
	[NEARCACHE_A_PLAN_SKIPPED] = { .type = NLA_U64, },
	[NEARCACHE_A_PLAN_ASTRAY] = { .type = NLA_U64, },
	[NEARCACHE_A_PLAN_REFUSED] = { .type = NLA_U64, },
	[NEARCACHE_A_PLAN_SOUGHT] = { .type = NLA_U64, },
	[NEARCACHE_A_PLAN_MEMORY] = { .type = NLA_U64, },
	[NEARCACHE_A_PLAN_APPEND] = { .type = NLA_FLAG, },
	[NEARCACHE_A_PLAN_NO_PREFETCH] = { .type = NLA_FLAG, },
};

const struct nla_policy nearcache_range_nl_policy[NEARCACHE_A_RANGE_EXPIRES + 1] = {
	[NEARCACHE_A_RANGE_START] = { .type = NLA_U64, },
	[NEARCACHE_A_RANGE_LENGTH] = NLA_POLICY_MIN(NLA_U64, 1),
	[NEARCACHE_A_RANGE_LABEL] = { .type = NLA_NUL_STRING, .len = NEARCACHE_LABEL_MAX, },
	[NEARCACHE_A_RANGE_FLAGS] = NLA_POLICY_MASK(NLA_U32, 0x7),
	[NEARCACHE_A_RANGE_PRIORITY] = NLA_POLICY_MAX(NLA_U32, NEARCACHE_PRIORITY_MAX),
	[NEARCACHE_A_RANGE_EXPIRES] = { .type = NLA_U32, },
};

/* NEARCACHE_CMD_DEVICE_GET - do */
const struct nla_policy nearcache_device_get_nl_policy[NEARCACHE_A_DEVICE_NAME + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
};

/* NEARCACHE_CMD_DEVICE_SET - do */
const struct nla_policy nearcache_device_set_nl_policy[NEARCACHE_A_DEVICE_FILL_MEMORY + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
	[NEARCACHE_A_DEVICE_VERIFY] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_CACHE_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &nearcache_a_device_cache_timeout_range),
	[NEARCACHE_A_DEVICE_ORIGIN_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &nearcache_a_device_origin_timeout_range),
	[NEARCACHE_A_DEVICE_FILL_MEMORY] = NLA_POLICY_FULL_RANGE(NLA_U64, &nearcache_a_device_fill_memory_range),
};

/* NEARCACHE_CMD_INVALIDATE - do */
const struct nla_policy nearcache_invalidate_nl_policy[NEARCACHE_A_DEVICE_LENGTH + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
	[NEARCACHE_A_DEVICE_START] = { .type = NLA_U64, },
	[NEARCACHE_A_DEVICE_LENGTH] = NLA_POLICY_MIN(NLA_U64, 1),
};

/* NEARCACHE_CMD_RESIDENCY_GET - do */
const struct nla_policy nearcache_residency_get_nl_policy[NEARCACHE_A_DEVICE_LENGTH + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
	[NEARCACHE_A_DEVICE_START] = { .type = NLA_U64, },
	[NEARCACHE_A_DEVICE_LENGTH] = NLA_POLICY_MIN(NLA_U64, 1),
};

/* NEARCACHE_CMD_RANGE_ADD - do */
const struct nla_policy nearcache_range_add_nl_policy[NEARCACHE_A_DEVICE_RANGE + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
	[NEARCACHE_A_DEVICE_RANGE] = NLA_POLICY_NESTED(nearcache_range_nl_policy),
};

/* NEARCACHE_CMD_RANGE_DELETE - do */
const struct nla_policy nearcache_range_delete_nl_policy[NEARCACHE_A_DEVICE_RANGE + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
	[NEARCACHE_A_DEVICE_RANGE] = NLA_POLICY_NESTED(nearcache_range_nl_policy),
};

/* NEARCACHE_CMD_RANGE_GET - do */
const struct nla_policy nearcache_range_get_nl_policy[NEARCACHE_A_DEVICE_NAME + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
};

/* NEARCACHE_CMD_LABEL_GET - do */
const struct nla_policy nearcache_label_get_nl_policy[NEARCACHE_A_DEVICE_NAME + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
};

/* NEARCACHE_CMD_JOB_SUBMIT - do */
const struct nla_policy nearcache_job_submit_nl_policy[NEARCACHE_A_DEVICE_JOB + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
	[NEARCACHE_A_DEVICE_RANGE] = NLA_POLICY_NESTED(nearcache_range_nl_policy),
	[NEARCACHE_A_DEVICE_JOB] = NLA_POLICY_NESTED(nearcache_job_nl_policy),
};

/* NEARCACHE_CMD_JOB_CANCEL - do */
const struct nla_policy nearcache_job_cancel_nl_policy[NEARCACHE_A_DEVICE_JOB + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
	[NEARCACHE_A_DEVICE_JOB] = NLA_POLICY_NESTED(nearcache_job_nl_policy),
};

/* NEARCACHE_CMD_JOB_GET - do */
const struct nla_policy nearcache_job_get_nl_policy[NEARCACHE_A_DEVICE_JOB + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
	[NEARCACHE_A_DEVICE_JOB] = NLA_POLICY_NESTED(nearcache_job_nl_policy),
};

/* NEARCACHE_CMD_PLAN_SUBMIT - do */
const struct nla_policy nearcache_plan_submit_nl_policy[NEARCACHE_A_DEVICE_PLAN + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
	[NEARCACHE_A_DEVICE_RANGE] = NLA_POLICY_NESTED(nearcache_range_nl_policy),
	[NEARCACHE_A_DEVICE_PLAN] = NLA_POLICY_NESTED(nearcache_plan_nl_policy),
};

/* NEARCACHE_CMD_PLAN_CLEAR - do */
const struct nla_policy nearcache_plan_clear_nl_policy[NEARCACHE_A_DEVICE_NAME + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
};

/* NEARCACHE_CMD_PLAN_GET - do */
const struct nla_policy nearcache_plan_get_nl_policy[NEARCACHE_A_DEVICE_NAME + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
};

/* NEARCACHE_CMD_RANGE_REPLACE - do */
const struct nla_policy nearcache_range_replace_nl_policy[NEARCACHE_A_DEVICE_KEEP + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
	[NEARCACHE_A_DEVICE_RANGE] = NLA_POLICY_NESTED(nearcache_range_nl_policy),
	[NEARCACHE_A_DEVICE_DROP] = NLA_POLICY_NESTED(nearcache_range_nl_policy),
	[NEARCACHE_A_DEVICE_KEEP] = NLA_POLICY_NESTED(nearcache_range_nl_policy),
};

/* NEARCACHE_CMD_STAGE_GET - do */
const struct nla_policy nearcache_stage_get_nl_policy[NEARCACHE_A_DEVICE_NAME + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
};

/* NEARCACHE_CMD_STAGE_SET - do */
const struct nla_policy nearcache_stage_set_nl_policy[NEARCACHE_A_DEVICE_ON_FULL + 1] = {
	[NEARCACHE_A_DEVICE_DEV] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_NAME] = { .type = NLA_NUL_STRING, .len = NEARCACHE_NAME_MAX, },
	[NEARCACHE_A_DEVICE_RATE] = { .type = NLA_U64, },
	[NEARCACHE_A_DEVICE_MAX_BEHIND] = { .type = NLA_U64, },
	[NEARCACHE_A_DEVICE_MAX_BEHIND_TIME] = { .type = NLA_U32, },
	[NEARCACHE_A_DEVICE_ORIGIN_TIMEOUT] = NLA_POLICY_FULL_RANGE(NLA_U32, &nearcache_a_device_origin_timeout_range),
	[NEARCACHE_A_DEVICE_ON_FULL] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* Ops table for nearcache */
const struct genl_ops nearcache_nl_ops[17] = {
	{
		.cmd		= NEARCACHE_CMD_DEVICE_GET,
		.doit		= nearcache_nl_device_get_doit,
		.dumpit		= nearcache_nl_device_get_dumpit,
		.policy		= nearcache_device_get_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_NAME,
	},
	{
		.cmd		= NEARCACHE_CMD_DEVICE_SET,
		.doit		= nearcache_nl_device_set_doit,
		.policy		= nearcache_device_set_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_FILL_MEMORY,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= NEARCACHE_CMD_INVALIDATE,
		.doit		= nearcache_nl_invalidate_doit,
		.policy		= nearcache_invalidate_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_LENGTH,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= NEARCACHE_CMD_RESIDENCY_GET,
		.doit		= nearcache_nl_residency_get_doit,
		.dumpit		= nearcache_nl_residency_get_dumpit,
		.policy		= nearcache_residency_get_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_LENGTH,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= NEARCACHE_CMD_RANGE_ADD,
		.doit		= nearcache_nl_range_add_doit,
		.policy		= nearcache_range_add_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_RANGE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= NEARCACHE_CMD_RANGE_DELETE,
		.doit		= nearcache_nl_range_delete_doit,
		.policy		= nearcache_range_delete_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_RANGE,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= NEARCACHE_CMD_RANGE_GET,
		.doit		= nearcache_nl_range_get_doit,
		.dumpit		= nearcache_nl_range_get_dumpit,
		.policy		= nearcache_range_get_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_NAME,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= NEARCACHE_CMD_LABEL_GET,
		.doit		= nearcache_nl_label_get_doit,
		.dumpit		= nearcache_nl_label_get_dumpit,
		.policy		= nearcache_label_get_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_NAME,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= NEARCACHE_CMD_JOB_SUBMIT,
		.doit		= nearcache_nl_job_submit_doit,
		.policy		= nearcache_job_submit_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_JOB,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= NEARCACHE_CMD_JOB_CANCEL,
		.doit		= nearcache_nl_job_cancel_doit,
		.policy		= nearcache_job_cancel_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_JOB,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= NEARCACHE_CMD_JOB_GET,
		.doit		= nearcache_nl_job_get_doit,
		.dumpit		= nearcache_nl_job_get_dumpit,
		.policy		= nearcache_job_get_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_JOB,
	},
	{
		.cmd		= NEARCACHE_CMD_PLAN_SUBMIT,
		.doit		= nearcache_nl_plan_submit_doit,
		.policy		= nearcache_plan_submit_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_PLAN,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= NEARCACHE_CMD_PLAN_CLEAR,
		.doit		= nearcache_nl_plan_clear_doit,
		.policy		= nearcache_plan_clear_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_NAME,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= NEARCACHE_CMD_PLAN_GET,
		.doit		= nearcache_nl_plan_get_doit,
		.dumpit		= nearcache_nl_plan_get_dumpit,
		.policy		= nearcache_plan_get_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_NAME,
	},
	{
		.cmd		= NEARCACHE_CMD_RANGE_REPLACE,
		.doit		= nearcache_nl_range_replace_doit,
		.policy		= nearcache_range_replace_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_KEEP,
		.flags		= GENL_ADMIN_PERM,
	},
	{
		.cmd		= NEARCACHE_CMD_STAGE_GET,
		.doit		= nearcache_nl_stage_get_doit,
		.dumpit		= nearcache_nl_stage_get_dumpit,
		.policy		= nearcache_stage_get_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_NAME,
	},
	{
		.cmd		= NEARCACHE_CMD_STAGE_SET,
		.doit		= nearcache_nl_stage_set_doit,
		.policy		= nearcache_stage_set_nl_policy,
		.maxattr	= NEARCACHE_A_DEVICE_ON_FULL,
		.flags		= GENL_ADMIN_PERM,
	},
};

static const struct genl_multicast_group nearcache_nl_mcgrps[] = {
	[NEARCACHE_NLGRP_EVENTS] = { "events", },
};
