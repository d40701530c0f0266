/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions that the files of the netlink family share: family.c and cached_data.c define them. */
#ifndef NEARCACHE_NETLINK_OP_H
#define NEARCACHE_NETLINK_OP_H

#include <net/genetlink.h>

struct mapped_device;
struct nc_cache;
struct nc_target;
struct workqueue_struct;

/* Puts a description of a cache and its table into a message.  Returns 0 or -EMSGSIZE. */
typedef int nc_nl_put(struct sk_buff *skb, struct nc_cache *c, struct nc_target *t);

/**
 * struct nc_nl_dump - one message buffer of a dump of devices
 * @skb: the buffer
 * @cb: the dump
 */
struct nc_nl_dump {
	struct sk_buff *skb;
	struct netlink_callback *cb;
};

extern struct genl_family nc_nl_family;
extern struct workqueue_struct *nc_nl_queue;

int nc_nl_admin(struct sk_buff *skb, struct netlink_ext_ack *extack);
bool nc_nl_sees_labels(struct sk_buff *skb);
u32 nc_nl_devt(dev_t dev);
u32 nc_nl_dev(const struct nc_cache *c);
int nc_nl_put_name(struct sk_buff *skb, dev_t dev, struct mapped_device *md);
const struct nlattr *nc_nl_named(struct nlattr **attrs, struct netlink_ext_ack *extack);
bool nc_nl_is_named(const struct nlattr *attr, dev_t dev, struct mapped_device *md);
struct nc_cache *nc_nl_hold(struct nlattr **attrs, struct netlink_ext_ack *extack);
struct nc_cache *nc_nl_admin_hold(struct sk_buff *skb, struct genl_info *info);
struct nc_cache *nc_nl_dump_hold(struct netlink_callback *cb, bool *allowed);
int nc_nl_take_live(struct nc_cache *c, struct netlink_ext_ack *extack);
int nc_nl_piece(const struct nc_cache *c, const struct nlattr *start, const struct nlattr *length,
		struct netlink_ext_ack *extack, u64 *first, u64 *end);
struct sk_buff *nc_nl_reply(struct genl_info *info, u8 cmd, void **header);
int nc_nl_send(struct genl_info *info, struct sk_buff *reply, void *header, int r);
int nc_nl_describe(struct genl_info *info, u8 cmd, nc_nl_put *put);
void nc_nl_watch(struct netlink_callback *cb);
dev_t *nc_nl_dump_last(struct netlink_callback *cb);
void *nc_nl_dump_begin(const struct nc_nl_dump *dump, u8 cmd);
int nc_nl_dump_end(const struct nc_nl_dump *dump, void *header, int r, dev_t dev);
struct sk_buff *nc_nl_event_begin(gfp_t gfp, void **header);
void nc_nl_event_send(struct sk_buff *skb, void *header, gfp_t gfp, int r);
void *nc_nl_put_header(struct sk_buff *skb, struct netlink_callback *cb, const struct nc_cache *c,
		       u8 cmd);
int nc_nl_put_sectors(struct sk_buff *skb, u64 first, u64 end);
const struct nlattr *nc_nl_next_range(const struct genl_info *info, int type,
				      const struct nlattr *last);
u32 nc_nl_count_ranges(const struct genl_info *info, int type);

#endif /* NEARCACHE_NETLINK_OP_H */
