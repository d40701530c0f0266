/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's rbtree.h as a search tree that is not balanced: tests are small. */
#ifndef UNIT_LINUX_RBTREE_H
#define UNIT_LINUX_RBTREE_H

#include <linux/types.h>

struct rb_node {
	struct rb_node *rb_parent, *rb_left, *rb_right;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct rb_root_cached {
	struct rb_root rb_root;
};

#define RB_ROOT		((struct rb_root) { NULL })
#define RB_ROOT_CACHED	((struct rb_root_cached) { { NULL } })
#define rb_entry(node, type, member) \
	((type *)((char *)(node) - offsetof(type, member)))
#define rb_entry_safe(node, type, member) \
	({ struct rb_node *rb_n = (node); rb_n ? rb_entry(rb_n, type, member) : NULL; })
#define rb_insert_color(node, root)	((void)(node), (void)(root))

static inline void rb_link_node(struct rb_node *node, struct rb_node *parent, struct rb_node **link)
{
	*node = (struct rb_node) { .rb_parent = parent };
	*link = node;
}

static inline struct rb_node *rb_leftmost(struct rb_node *node)
{
	while (node && node->rb_left)
		node = node->rb_left;
	return node;
}

static inline struct rb_node *rb_next(const struct rb_node *node)
{
	if (node->rb_right)
		return rb_leftmost(node->rb_right);
	while (node->rb_parent && node == node->rb_parent->rb_right)
		node = node->rb_parent;
	return node->rb_parent;
}

/* Put @with, or NULL, into the place of @node below its parent. */
static inline void rb_put_in_place(struct rb_node *node, struct rb_node *with, struct rb_root *root)
{
	struct rb_node *parent = node->rb_parent;

	*(!parent ? &root->rb_node : parent->rb_left == node ? &parent->rb_left :
							       &parent->rb_right) = with;
	if (with)
		with->rb_parent = parent;
}

static inline void rb_erase(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *next;

	if (!node->rb_left || !node->rb_right) {
		rb_put_in_place(node, node->rb_left ? node->rb_left : node->rb_right, root);
		return;
	}
	next = rb_leftmost(node->rb_right);
	if (next->rb_parent != node) {
		rb_put_in_place(next, next->rb_right, root);
		next->rb_right = node->rb_right;
		next->rb_right->rb_parent = next;
	}
	rb_put_in_place(node, next, root);
	next->rb_left = node->rb_left;
	next->rb_left->rb_parent = next;
}

/* The deepest node that a walk to the left, or else to the right, reaches. */
static inline struct rb_node *rb_left_deepest(struct rb_node *node)
{
	while (node && (node->rb_left || node->rb_right))
		node = node->rb_left ? node->rb_left : node->rb_right;
	return node;
}

static inline struct rb_node *rb_next_postorder(const struct rb_node *node)
{
	struct rb_node *parent = node->rb_parent;

	return parent && node == parent->rb_left && parent->rb_right ?
		rb_left_deepest(parent->rb_right) : parent;
}

#define rbtree_postorder_for_each_entry_safe(at, n, root, member)			\
	for (at = rb_entry_safe(rb_left_deepest((root)->rb_node), __typeof__(*at), member);	\
	     at && ({ n = rb_entry_safe(rb_next_postorder(&at->member), __typeof__(*at), member);	\
		      1; });								\
	     at = n)

#endif /* UNIT_LINUX_RBTREE_H */
