// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/known_addresses.h"

#include <stdio.h>
#include <string.h>

/* Set the host name. If it is another one, forget the addresses of the old one. */
void known_set_host(struct known_addresses *known, const char *host)
{
	if (!strcmp(known->host, host))
		return;
	snprintf(known->host, sizeof(known->host), "%s", host);
	known->count = 0;
}

/*
 * Returns a place for a further address: if there is none left, that of an address that answers lack;
 * NULL: none.
 */
static struct known_address *find_place(struct known_addresses *known)
{
	struct known_address *one;

	if (known->count < NEARCACHE_CLUSTER_NODES_MAX)
		return &known->known[known->count++];
	for (one = known->known; one < known->known + known->count; one++)
		if (one->answers)
			return one;
	return NULL;
}

/* Add an address, see struct known_address, unless it is known or there is no room. */
void known_add(struct known_addresses *known, const char *address, uint64_t since,
	       unsigned int answers)
{
	struct known_address *one = known->known;

	while (one < known->known + known->count && strcmp(one->address, address))
		one++;
	if (one < known->known + known->count)
		return;
	one = find_place(known);
	if (!one)
		return;
	snprintf(one->address, sizeof(one->address), "%s", address);
	one->since = since;
	one->answers = answers;
}

static bool has_address(char (*address)[ADDRESS_TEXT], size_t count, const char *wanted)
{
	while (count)
		if (!strcmp(address[--count], wanted))
			return true;
	return false;
}

/* Count an answer that lacks the address. Returns whether the address stays. */
static bool count_missing(struct known_address *one, uint64_t now)
{
	/* A time in the future is of another boot. */
	if (!one->answers || one->since > now)
		one->since = now;
	one->answers++;
	return one->answers < KNOWN_ANSWERS || now - one->since < KNOWN_SECONDS;
}

/*
 * Take the addresses in an answer of the name server at time @now, seconds of CLOCK_MONOTONIC.
 * Without addresses the name server did not answer: nothing changes.
 */
void known_take_answer(struct known_addresses *known, char (*address)[ADDRESS_TEXT], size_t count,
		       uint64_t now)
{
	size_t i, stay = 0;

	for (i = 0; count && i < known->count; i++) {
		struct known_address *one = &known->known[i];

		if (has_address(address, count, one->address))
			one->answers = 0;
		else if (!count_missing(one, now))
			continue;
		known->known[stay++] = *one;
	}
	if (count)
		known->count = stay;
	for (i = 0; i < count; i++)
		known_add(known, address[i], 0, 0);
}
