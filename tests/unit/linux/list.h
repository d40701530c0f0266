/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of the kernel's list.h that the tested sources use. */
#ifndef UNIT_LINUX_LIST_H
#define UNIT_LINUX_LIST_H

#include <linux/types.h>

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline void list_insert(struct list_head *new, struct list_head *prev,
			       struct list_head *next)
{
	new->prev = prev;
	new->next = next;
	prev->next = new;
	next->prev = new;
}

static inline void list_add_tail(struct list_head *new, struct list_head *head)
{
	list_insert(new, head->prev, head);
}

static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	entry->next = NULL;
	entry->prev = NULL;
}

static inline void list_move(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_insert(entry, head, head->next);
}

static inline void list_move_tail(struct list_head *entry, struct list_head *head)
{
	list_del(entry);
	list_add_tail(entry, head);
}

static inline void list_splice_init(struct list_head *list, struct list_head *head)
{
	if (list->next == list)
		return;
	list->next->prev = head;
	list->prev->next = head->next;
	head->next->prev = list->prev;
	head->next = list->next;
	INIT_LIST_HEAD(list);
}

#define list_entry(item, type, member) \
	((type *)((char *)(item) - offsetof(type, member)))
#define list_last_entry(head, type, member) list_entry((head)->prev, type, member)
#define list_for_each_entry(at, head, member) \
	for (at = list_entry((head)->next, __typeof__(*at), member); \
	     &at->member != (head); \
	     at = list_entry(at->member.next, __typeof__(*at), member))
#define list_for_each_entry_safe(at, n, head, member) \
	for (at = list_entry((head)->next, __typeof__(*at), member), \
	     n = list_entry(at->member.next, __typeof__(*at), member); \
	     &at->member != (head); \
	     at = n, n = list_entry(n->member.next, __typeof__(*n), member))

#endif /* UNIT_LINUX_LIST_H */
