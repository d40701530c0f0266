// SPDX-License-Identifier: GPL-2.0-only
/* Fake of open/members.c: every cache has one cache device, so there are no further members. */
#include "open/members.h"

/* Weak: a test need not define this function; without it any place of the witness is accepted. */
extern __typeof__(witness_check_place) witness_check_place __attribute__((weak));

int members_open(struct members *members, const struct arguments *args)
{
	(void)args;
	members->count = 0;
	return 0;
}

int members_find(struct members *members, const struct arguments *args,
		 const struct device *first, const struct super *super,
		 const struct device *origin, const struct params *used)
{
	(void)first;
	(void)super;
	(void)origin;
	(void)used;
	return members_open(members, args);
}

int members_open_numbers(struct members *members, const struct params *params)
{
	(void)params;
	members->count = 0;
	return 0;
}

int members_check_first(const struct device *first, const struct super *super)
{
	(void)first;
	(void)super;
	return 0;
}

int members_check_witness(const struct members *members,
			  const struct witness *witness,
			  const struct device *first, const struct device *origin)
{
	(void)members;
	return witness_check_place ? witness_check_place(witness, first, origin) : 0;
}

void members_to_params(const struct members *members, struct params *params)
{
	(void)members;
	params->members = 0;
}

void members_print(const struct members *members)
{
	(void)members;
}

void members_print_numbers(const struct params *params)
{
	(void)params;
}

void members_list_numbers(const struct params *params)
{
	(void)params;
}

void members_close(struct members *members)
{
	(void)members;
}
