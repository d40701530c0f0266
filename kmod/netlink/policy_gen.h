/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	Documentation/netlink/specs/nearcache.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_NEARCACHE_GEN_H
#define _LINUX_NEARCACHE_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/nearcache.h>

/* Common nested types */
extern const struct nla_policy nearcache_job_nl_policy[NEARCACHE_A_JOB_PEER_DEV + 1];
extern const struct nla_policy nearcache_plan_nl_policy[NEARCACHE_A_PLAN_NO_PREFETCH + 1];
extern const struct nla_policy nearcache_range_nl_policy[NEARCACHE_A_RANGE_EXPIRES + 1];

extern const struct nla_policy nearcache_device_get_nl_policy[NEARCACHE_A_DEVICE_NAME + 1];

extern const struct nla_policy nearcache_device_set_nl_policy[NEARCACHE_A_DEVICE_FILL_MEMORY + 1];

extern const struct nla_policy nearcache_invalidate_nl_policy[NEARCACHE_A_DEVICE_LENGTH + 1];

extern const struct nla_policy nearcache_residency_get_nl_policy[NEARCACHE_A_DEVICE_LENGTH + 1];

extern const struct nla_policy nearcache_range_add_nl_policy[NEARCACHE_A_DEVICE_RANGE + 1];

extern const struct nla_policy nearcache_range_delete_nl_policy[NEARCACHE_A_DEVICE_RANGE + 1];

extern const struct nla_policy nearcache_range_get_nl_policy[NEARCACHE_A_DEVICE_NAME + 1];

extern const struct nla_policy nearcache_label_get_nl_policy[NEARCACHE_A_DEVICE_NAME + 1];

extern const struct nla_policy nearcache_job_submit_nl_policy[NEARCACHE_A_DEVICE_JOB + 1];

extern const struct nla_policy nearcache_job_cancel_nl_policy[NEARCACHE_A_DEVICE_JOB + 1];

extern const struct nla_policy nearcache_job_get_nl_policy[NEARCACHE_A_DEVICE_JOB + 1];

extern const struct nla_policy nearcache_plan_submit_nl_policy[NEARCACHE_A_DEVICE_PLAN + 1];

extern const struct nla_policy nearcache_plan_clear_nl_policy[NEARCACHE_A_DEVICE_NAME + 1];

extern const struct nla_policy nearcache_plan_get_nl_policy[NEARCACHE_A_DEVICE_NAME + 1];

extern const struct nla_policy nearcache_range_replace_nl_policy[NEARCACHE_A_DEVICE_KEEP + 1];

extern const struct nla_policy nearcache_stage_get_nl_policy[NEARCACHE_A_DEVICE_NAME + 1];

extern const struct nla_policy nearcache_stage_set_nl_policy[NEARCACHE_A_DEVICE_ON_FULL + 1];

/* Ops table for nearcache */
extern const struct genl_ops nearcache_nl_ops[17];

int nearcache_nl_device_get_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_device_get_dumpit(struct sk_buff *skb,
				   struct netlink_callback *cb);
int nearcache_nl_device_set_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_invalidate_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_residency_get_doit(struct sk_buff *skb,
				    struct genl_info *info);
int nearcache_nl_residency_get_dumpit(struct sk_buff *skb,
				      struct netlink_callback *cb);
int nearcache_nl_range_add_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_range_delete_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_range_get_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_range_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int nearcache_nl_label_get_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_label_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int nearcache_nl_job_submit_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_job_cancel_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_job_get_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_job_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int nearcache_nl_plan_submit_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_plan_clear_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_plan_get_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_plan_get_dumpit(struct sk_buff *skb,
				 struct netlink_callback *cb);
int nearcache_nl_range_replace_doit(struct sk_buff *skb,
				    struct genl_info *info);
int nearcache_nl_stage_get_doit(struct sk_buff *skb, struct genl_info *info);
int nearcache_nl_stage_get_dumpit(struct sk_buff *skb,
				  struct netlink_callback *cb);
int nearcache_nl_stage_set_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	NEARCACHE_NLGRP_EVENTS,
};

#endif /* _LINUX_NEARCACHE_GEN_H */
