/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compare a cache device with its record on a witness: is the cache device an old copy, and may its
 * cached data be used although a write session was interrupted?
 */
#ifndef HELPER_OPEN_WITNESS_PROOF_H
#define HELPER_OPEN_WITNESS_PROOF_H

#include "open/origin_match.h"

bool match_is_cold(const struct origin_match *match);
bool match_was_writing(const struct origin_match *match);
void match_read_witness(struct origin_match *match, const struct nearcache_witness *record,
			bool named);
bool match_read_recorded(struct origin_match *match);
void match_take_session(struct origin_match *match, u64 session);
void match_come_back(struct origin_match *match, const struct nearcache_witness *record);

#endif /* HELPER_OPEN_WITNESS_PROOF_H */
