/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's interval_tree_generic.h on a tree sorted by the starts, without subtree_last. */
#ifndef UNIT_LINUX_INTERVAL_TREE_GENERIC_H
#define UNIT_LINUX_INTERVAL_TREE_GENERIC_H

#include <linux/rbtree.h>

#define INTERVAL_TREE_DEFINE(type, rb, number, subtree, START, LAST, scope, name)		\
scope void name##_insert(type *item, struct rb_root_cached *root)				\
{												\
	struct rb_node **link = &root->rb_root.rb_node, *parent = NULL;				\
												\
	while (*link) {										\
		parent = *link;									\
		link = START(item) < START(rb_entry(parent, type, rb)) ? &parent->rb_left :	\
									 &parent->rb_right;	\
	}											\
	rb_link_node(&item->rb, parent, link);							\
}												\
												\
scope void name##_remove(type *item, struct rb_root_cached *root)				\
{												\
	rb_erase(&item->rb, &root->rb_root);							\
}												\
												\
/* The first item from @node on that overlaps. */						\
static type *name##_overlap(struct rb_node *node, number first, number last)			\
{												\
	for (; node; node = rb_next(node)) {							\
		type *item = rb_entry(node, type, rb);						\
												\
		if (START(item) <= last && LAST(item) >= first)					\
			return item;								\
	}											\
	return NULL;										\
}												\
												\
scope type *name##_iter_first(struct rb_root_cached *root, number first, number last)		\
{												\
	return name##_overlap(rb_leftmost(root->rb_root.rb_node), first, last);			\
}												\
												\
scope type *name##_iter_next(type *item, number first, number last)				\
{												\
	return name##_overlap(rb_next(&item->rb), first, last);					\
}

#endif /* UNIT_LINUX_INTERVAL_TREE_GENERIC_H */
