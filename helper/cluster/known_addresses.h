/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The addresses that a host name had lately. A name server may give a part of them in each answer, so
 * an address that is missing from an answer stays until many answers have lacked it.
 */
#ifndef HELPER_CLUSTER_KNOWN_ADDRESSES_H
#define HELPER_CLUSTER_KNOWN_ADDRESSES_H

#include <stdint.h>

#include "cluster/addresses.h"
#include "nearcache_cluster.h"

/* Forget an address that this number of answers in a row, over this time, have lacked. */
#define KNOWN_ANSWERS	10U
#define KNOWN_SECONDS	300U

/**
 * struct known_address - an address
 * @address: text form
 * @since: time of the first of the @answers answers, seconds of CLOCK_MONOTONIC
 * @answers: number of the last answers in a row that lack it; 0: the last answer had it
 */
struct known_address {
	char address[ADDRESS_TEXT];
	uint64_t since;
	unsigned int answers;
};

/**
 * struct known_addresses - addresses of a host name
 * @host: the name; "": no addresses are known
 * @known: the addresses, @count of them
 */
struct known_addresses {
	char host[ADDRESS_HOST];
	struct known_address known[NEARCACHE_CLUSTER_NODES_MAX];
	size_t count;
};

void known_set_host(struct known_addresses *known, const char *host);
void known_add(struct known_addresses *known, const char *address, uint64_t since,
	       unsigned int answers);
void known_take_answer(struct known_addresses *known, char (*address)[ADDRESS_TEXT], size_t count,
		       uint64_t now);

#endif /* HELPER_CLUSTER_KNOWN_ADDRESSES_H */
