/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of nearcache-stage: ring, descriptors, superblock, recovery (rules C, S and R of
 * kmod/doc/stage.md).
 *
 * The log device is a mirror of two drives with volatile caches. A power cut leaves of each write
 * that is not durable, on each drive, the old content, the new one, or neither. Recovery reads one
 * drive; the next recovery may read the other. Once, a copy of the superblock that is not being
 * written is lost to a media error.
 *
 * An epoch can be marked as soon as it is committed: stage_order.pml has the drain. Each entry has
 * one log block of data, so that no entry NEARCACHE_STAGE_SKIP is needed. A write in flight is not
 * a state: each power cut chooses which of the writes that can be in flight are.
 *
 * In each recovery, the model asserts:
 *
 * - There is an intact copy of the superblock (R1), and the chain has all from its mark on (R3).
 * - The last commit is the newest one that was reported, or one that was written and not reported
 *   at the cut. So no commit that an earlier recovery dropped comes back (O2, O6).
 * - The data of the chain is whole (O2, O5).
 *
 * It also asserts that no block is overwritten that a read uses (S1), and that all writes find
 * room: while a write is missing, there is a next step (O7).
 *
 * A mutant (-DMUTANT=NAME) breaks one rule. log.sh has their list.
 */
#ifndef BLOCKS
#define BLOCKS	7	/* of the ring */
#endif
#ifndef DATA
#define DATA	4	/* writes */
#endif
#ifndef EPOCH
#define EPOCH	2	/* entries of an epoch, at most (W3) */
#endif
#ifndef READS
#define READS	0
#endif
#ifndef CRASHES
#define CRASHES	2
#endif
#ifndef ENTRIES
#define ENTRIES	1	/* of a descriptor: 1 or 2 */
#endif

mtype = { NONE, TAIL_BEFORE_MARK, REUSE_BEFORE_SUPER, REUSE_AFTER_ONE_COPY, REUSE_DURING_READ,
	ONE_COPY, NO_RESERVE, COMMIT_WITHOUT_FLUSH, COMMIT_BEFORE_PARTS, REPORT_BEFORE_COMMIT,
	CHECKED_WITHOUT_FLUSH, CHECKED_WITH_PARTS, EMBED_UNCHECKED, EMBED_DURING_COMMIT,
	KEEP_EMBEDDED, TAKE_OLDER, TAKE_UNCOMMITTED, IGNORE_NUMBER, IGNORE_PLACE,
	IGNORE_NUMBER_AND_PLACE, IGNORE_GENERATION, IGNORE_LOW_NUMBERS, GENERATION_NOT_LOWER,
	KEEP_UNCHECKED, NO_REWRITE, NO_DATA_REWRITE, NO_SUPER_REWRITE, SAME_GENERATION, SAME_START,
	GENERATION_IN_ONE_COPY, OVERWRITE_TAKEN, SERVE_EARLY };
#ifndef MUTANT
#define MUTANT	NONE
#endif

/* A log block: kind, generation, place, number, count of entries. */
#define GARBAGE	0
#define WRITTEN	1	/* data */
#define PART	2	/* descriptor without the commit flag */
#define COMMIT	3
#define CHECKED	4	/* COMMIT with a checksum of the data */
#define BLOCK(kind, g, p, q, n)	((kind) | ((g) << 3) | ((p) << 6) | ((q) << 10) | ((n) << 14))
#define KIND(x)		((x) & 7)
#define GENERATION(x)	(((x) >> 3) & 7)
#define PLACE(x)	(((x) >> 6) & 15)
#define NUMBER(x)	(((x) >> 10) & 15)
#define COUNT(x)	(((x) >> 14) & 3)
#define NEXT(x)		(PLACE(x) + 1 + COUNT(x))

/* A copy of the superblock. Of the sequence, only the order matters. */
#define TORN	0
#define OLDER	1
#define NEWER	2
#define SUPER(o, g, n, t, q, m) \
	((o) | ((g) << 3) | ((t) << 6) | ((q) << 10) | ((m) << 14) | ((n) << 18))
#define ORDER(x)	((x) & 7)
#define TAIL(x)		(((x) >> 6) & 15)
#define TAIL_NUMBER(x)	(((x) >> 10) & 15)
#define MARKED(x)	(((x) >> 14) & 15)
#define START(x)	(((x) >> 18) & 15)
#define OTHER(k)	((k) ^ 1)

/* The log device. Drive 0 is the one that is read. */
int medium[2 * BLOCKS];		/* drive * BLOCKS + block */
int cached[BLOCKS];		/* written, and not durable; 0: nothing */
int copy[4];			/* drive * 2 + copy */

/* In memory. */
byte generation = 1, start = 1;	/* of this start: generation, and number of its first descriptor */
byte slot, number = 1, count;	/* the open descriptor: place, number, entries */
byte filled;			/* full descriptors of the open epoch before it */
int closed;			/* last descriptor of the epoch that is being committed; 0: none */
byte parts;			/* other descriptors of that epoch */
/* Descriptor that was written with the first data of an epoch; 0: none. Of the closed one, if any. */
int embedded;
byte committed;			/* number of the newest commit */
byte tail, tail_number = 1;
byte usable;			/* the ring is in use from here on */
byte mark, mark_place;		/* number of the newest marked commit, and the place behind it */
byte target = 1;		/* copy of the superblock that is written next */
byte starting;			/* superblocks that recovery has still to write */
byte reading;			/* place that a read uses; 0: none */

/* For the assertions. */
int reported;			/* newest commit that was reported */
int in_flight;			/* commit that was in flight at the cut */
byte data, reads, crashes, losses;

int super;
byte b;
bool forget;
hidden byte i, p, q, g, best, before_slot, before_number;
hidden int x, kept, before;
hidden byte again;

#define END	(slot + 1 + count)	/* of all that is appended */
#define ROOM	(usable + BLOCKS)
#define SERVES	(starting == 0 || MUTANT == SERVE_EARLY)
#define MARKS	(mark < committed)
#define UNREAD	(reading == 0 || reading >= mark_place || MUTANT == REUSE_DURING_READ)
#define MOVES	(usable < mark_place && UNREAD)

/* Write a block; it is not durable yet. */
inline write_block(place, content) {
	assert(reading == 0 || (place) % BLOCKS != reading % BLOCKS);
	cached[(place) % BLOCKS] = content
}

inline write_both(block, content) {
	medium[block] = content;
	medium[BLOCKS + (block)] = content
}

#define CAN_APPEND (SERVES && data < DATA && count + filled * ENTRIES < EPOCH && \
	END + 1 + (count == ENTRIES) + (MUTANT != NO_RESERVE) <= ROOM)

inline append() {
	data++;
	printf("append at %d\n", END);
	write_block(END, BLOCK(WRITTEN, generation, END, 0, 0));
	count++
}

inline flush() {
	for (i : 0 .. BLOCKS - 1) {
		if
		:: cached[i] != 0 -> write_both(i, cached[i]); cached[i] = 0
		:: else
		fi
	}
}

/* C2: write the descriptors of the closed epoch but the last. */
inline write_parts() {
	p = PLACE(closed) - parts * (1 + ENTRIES);
	q = NUMBER(closed) - parts;
	do
	:: p != PLACE(closed) ->
		write_block(p, BLOCK(PART, generation, p, q, ENTRIES));
		p = p + 1 + ENTRIES; q++
	:: else -> break
	od
}

/* Write the last descriptor of the closed epoch, and make all durable. */
inline commit_closed() {
	if
	:: embedded != 0 && MUTANT == KEEP_EMBEDDED
	:: else -> write_block(PLACE(closed), closed)
	fi;
	flush();
	if
	:: MUTANT == COMMIT_BEFORE_PARTS -> write_parts()
	:: else
	fi;
	reported = closed; committed = NUMBER(closed);
	printf("commit %d at %d is reported\n", committed, PLACE(closed));
	closed = 0; parts = 0; embedded = 0
}

/* Find the end of the epoch behind the mark: x is its last descriptor. */
inline find_epoch_end() {
	p = mark_place;
	do
	:: true ->
		x = (cached[p % BLOCKS] != 0 -> cached[p % BLOCKS] : medium[p % BLOCKS]);
		assert(KIND(x) >= PART);
		p = NEXT(x);
		if
		:: KIND(x) >= COMMIT -> break
		:: else
		fi
	od
}

/* Set super: the superblock with the next mark (D4), or with the tail behind the mark (S1). */
inline fill_mark() {
	find_epoch_end();
	super = SUPER(NEWER, generation, start, tail, tail_number, NUMBER(x))
}

inline fill_tail() {
	super = SUPER(NEWER, generation, start, mark_place, mark + 1, mark);
	if
	:: MUTANT == TAIL_BEFORE_MARK && MARKS ->
		find_epoch_end();
		super = SUPER(NEWER, generation, start, p, NUMBER(x) + 1, mark)
	:: else
	fi
}

inline fill_start() {
	super = SUPER(NEWER, generation, start, tail, tail_number, mark)
}

inline set_copy(drive, k, content) {
	copy[(drive) * 2 + (k)] = content;
	copy[(drive) * 2 + OTHER(k)] = (ORDER(copy[(drive) * 2 + OTHER(k)]) == NEWER ->
		copy[(drive) * 2 + OTHER(k)] - NEWER + OLDER : copy[(drive) * 2 + OTHER(k)])
}

/* S1, S2: the superblock is written. The space before the tail is free when both copies have it. */
inline write_super() {
	printf("copy %d of the superblock: generation %d, mark %d, tail %d\n", target,
		GENERATION(super), MARKED(super), TAIL(super));
	set_copy(0, target, super);
	set_copy(1, target, super);
	tail = TAIL(super); tail_number = TAIL_NUMBER(super);
	usable = TAIL(copy[OTHER(target)]);
	usable = (MUTANT == REUSE_AFTER_ONE_COPY || usable > tail -> tail : usable);
	usable = (MUTANT == REUSE_BEFORE_SUPER -> mark_place : usable);
	target = (MUTANT == ONE_COPY -> target : OTHER(target));
	super = 0
}

#define PLACE_FITS(x) ((PLACE(x) == p || MUTANT == IGNORE_PLACE) && \
	(NUMBER(x) == q || MUTANT == IGNORE_NUMBER))

#define GENERATION_FITS(x) (MUTANT == IGNORE_GENERATION || (MUTANT == GENERATION_NOT_LOWER -> \
	GENERATION(x) >= g && GENERATION(x) <= generation : (NUMBER(x) >= start -> \
	GENERATION(x) == generation : GENERATION(x) < generation || MUTANT == IGNORE_LOW_NUMBERS)))

/* R2: follow the chain from the tail. R3: up to the last commit. */
inline read_chain() {
	p = tail; q = tail_number; g = 0; kept = 0; before = 0;
	do
	:: p < tail + BLOCKS ->
		x = medium[p % BLOCKS];
		if
		:: KIND(x) >= PART &&
		   (PLACE_FITS(x) || MUTANT == IGNORE_NUMBER_AND_PLACE) && GENERATION_FITS(x) ->
			g = GENERATION(x); p = p + 1 + COUNT(x); q++;
			if
			:: KIND(x) >= COMMIT || MUTANT == TAKE_UNCOMMITTED ->
				before = kept; before_slot = slot; before_number = number;
				kept = x; slot = p; number = q
			:: else
			fi
		:: else -> break
		fi
	:: else -> break
	od
}

#define HAS_BLOCK(x, i) (COUNT(x) < i || \
	medium[(PLACE(x) + i) % BLOCKS] == BLOCK(WRITTEN, GENERATION(x), PLACE(x) + i, 0, 0))
#define IS_WHOLE(x) (HAS_BLOCK(x, 1) && HAS_BLOCK(x, 2))

/* R3: drop the last commit, if it is a checked one and its data is not whole. */
inline check_last() {
	if
	:: KIND(kept) == CHECKED && !IS_WHOLE(kept) && MUTANT != KEEP_UNCHECKED ->
		kept = before; slot = before_slot; number = before_number;
		again = 0
	:: else -> again = (kept != 0)
	fi
}

/* The data of the chain up to slot is whole. Find the place of the mark. */
inline check_chain() {
	p = tail; mark_place = tail;
	do
	:: p != slot ->
		x = medium[p % BLOCKS];
		assert(IS_WHOLE(x));
		p = p + 1 + COUNT(x);
		mark_place = (NUMBER(x) == mark -> p : mark_place)
	:: else -> break
	od
}

/*
 * R4: write the last commit again. Nothing changes on the drive that was read. If a checked commit
 * was dropped, the one before it had been reported: nothing of it is missing.
 */
inline rewrite_last() {
	if
	:: again && MUTANT != NO_REWRITE ->
		if
		:: KIND(kept) == CHECKED && MUTANT != NO_DATA_REWRITE ->
			for (p : PLACE(kept) + 1 .. PLACE(kept) + COUNT(kept)) {
				medium[BLOCKS + p % BLOCKS] = medium[p % BLOCKS]
			}
		:: else
		fi;
		medium[BLOCKS + PLACE(kept) % BLOCKS] = kept
	:: else
	fi
}

/* Recovery begins. */
inline recover() {
	best = (ORDER(copy[1]) > ORDER(copy[0]) -> 1 : 0);
	best = (MUTANT == TAKE_OLDER && ORDER(copy[OTHER(best)]) != TORN -> OTHER(best) : best);
	x = copy[best];
	assert(ORDER(x) != TORN);
	generation = GENERATION(x); start = START(x); mark = MARKED(x);
	tail = TAIL(x); tail_number = TAIL_NUMBER(x); usable = tail; reading = 0;
	slot = tail; number = tail_number; count = 0; filled = 0; closed = 0; parts = 0;
	read_chain();
	check_last();
	assert(tail_number <= mark + 1 && mark < number);
	assert(kept == 0 || kept == reported || kept == in_flight || kept == embedded);
	assert(NUMBER(reported) < number);
	check_chain();
	committed = number - 1;
	rewrite_last();
	closed = kept;
	if
	:: forget -> tail = mark_place; tail_number = mark + 1; forget = false
	:: else
	fi;
	if
	:: MUTANT != NO_SUPER_REWRITE -> x = copy[best]; set_copy(1, best, x)
	:: else
	fi;
	target = (MUTANT == OVERWRITE_TAKEN -> best : OTHER(best));
	generation = (MUTANT == SAME_GENERATION -> generation : generation + 1);
	start = (MUTANT == SAME_START -> start : number);
	starting = 2;
	if
	:: MUTANT == SERVE_EARLY -> end_recovery()
	:: else
	fi;
	printf("recovered up to commit %d, next descriptor at %d\n", committed, slot)
}

/* Recovery ends. Data that no descriptor lists is of no consequence: forget it. */
inline end_recovery() {
	reported = (closed != 0 -> closed : reported);
	closed = 0; in_flight = 0; embedded = 0;
	for (p : slot .. tail + BLOCKS - 1) {
		for (q : 0 .. 1) {
			i = q * BLOCKS + p % BLOCKS;
			medium[i] = (KIND(medium[i]) == WRITTEN -> GARBAGE : medium[i])
		}
	}
}

inline clear() {
	i = 0; p = 0; q = 0; g = 0; best = 0; x = 0;
	kept = 0; before = 0; before_slot = 0; before_number = 0; again = 0
}

inline print_drives() {
	for (p : 0 .. 1) {
		printf("power cut: drive %d:", p);
		for (i : 0 .. BLOCKS - 1) {
			x = medium[p * BLOCKS + i];
			if
			:: KIND(x) == GARBAGE -> printf(" -")
			:: KIND(x) == WRITTEN -> printf(" data")
			:: KIND(x) == PART -> printf(" part")
			:: KIND(x) == COMMIT -> printf(" commit")
			:: KIND(x) == CHECKED -> printf(" checked")
			fi;
			if
			:: KIND(x) != GARBAGE -> printf(" %d/%d", PLACE(x), GENERATION(x))
			:: else
			fi
		}
		printf("; superblocks:");
		for (i : 0 .. 1) {
			x = copy[p * 2 + i];
			printf(" order %d generation %d mark %d tail %d;", ORDER(x), GENERATION(x),
				MARKED(x), TAIL(x))
		}
		printf("\n")
	}
}

/*
 * A cut leaves nothing of a write, or the new content, or the old one. Of data, the new content
 * matters only if a checked descriptor lists it. Of the old content, only a descriptor matters; an
 * embedded one may have been replaced.
 */
#define LISTS(desc, x)	(KIND(desc) == CHECKED && PLACE(x) > PLACE(desc) && PLACE(x) < NEXT(desc))
#define IS_LISTED(x)	(LISTS(in_flight, x) || LISTS(embedded, x))
#define CUT_BLOCK(block, content) \
	if \
	:: block = GARBAGE \
	:: KIND(content) >= PART || IS_LISTED(content) -> block = content \
	:: embedded != 0 && KIND(content) >= PART && PLACE(content) == PLACE(embedded) -> \
		block = embedded \
	:: KIND(block) >= PART \
	fi

#define CUT_COPY(drive) \
	if \
	:: copy[drive * 2 + target] = TORN \
	:: set_copy(drive, target, super) \
	:: true \
	fi

active proctype stage() {
	d_step {
		copy[0] = SUPER(NEWER, 1, 1, 0, 1, 0); copy[2] = copy[0];
		copy[1] = SUPER(OLDER, 1, 1, 0, 1, 0); copy[3] = copy[1]
	}
	do
	/* W1: a write is appended. A descriptor that is full gets a successor. */
	:: d_step { CAN_APPEND ->
		if
		:: count == ENTRIES -> slot = END; number++; count = 0; filled++
		:: else
		fi;
		append() }
	/* C5: with the first write of an epoch, a descriptor of this write alone is written. */
	:: d_step { CAN_APPEND && count == 0 && (closed == 0 || MUTANT == EMBED_DURING_COMMIT) ->
		append();
		embedded = BLOCK(CHECKED, generation, slot, number, 1);
		embedded = (MUTANT == EMBED_UNCHECKED -> embedded - CHECKED + COMMIT : embedded);
		printf("embed the descriptor\n");
		write_block(slot, embedded) }
	/* C1, C2: the epoch is closed. */
	:: d_step { SERVES && closed == 0 && count > 0 && END < ROOM ->
		closed = BLOCK(COMMIT, generation, slot, number, count);
		parts = filled;
		slot = END; number++; count = 0; filled = 0;
		printf("close the epoch\n");
		if
		:: MUTANT != COMMIT_BEFORE_PARTS -> write_parts()
		:: else
		fi;
		reported = (MUTANT == REPORT_BEFORE_COMMIT -> closed : reported);
		clear() }
	/* C3: flush; then write the last descriptor with FUA. */
	:: d_step { SERVES && closed != 0 ->
		if
		:: MUTANT == COMMIT_WITHOUT_FLUSH ->
			for (i : 0 .. BLOCKS - 1) {
				if
				:: KIND(cached[i]) >= PART -> write_both(i, cached[i])
				:: else
				fi;
				cached[i] = 0
			}
		:: else
		fi;
		commit_closed();
		clear() }
	/* C4: write the last descriptor; then flush. */
	:: d_step { SERVES && closed != 0 && (parts == 0 || MUTANT == CHECKED_WITH_PARTS) ->
		closed = closed - COMMIT + CHECKED;
		if
		:: MUTANT == CHECKED_WITHOUT_FLUSH ->
			write_block(PLACE(closed), closed);
			reported = closed; committed = NUMBER(closed); closed = 0; parts = 0
		:: else -> commit_closed()
		fi;
		clear() }
	/* D4, S1: a superblock is written. */
	:: d_step { SERVES && MARKS ->
		fill_mark(); mark = NUMBER(x); mark_place = p; write_super(); clear() }
	:: d_step { SERVES && MOVES -> fill_tail(); write_super(); clear() }
	/* R4: so are those of recovery. */
	:: d_step { starting > 0 ->
		fill_start(); write_super();
		starting = (MUTANT == GENERATION_IN_ONE_COPY -> 0 : starting - 1);
		if
		:: starting == 0 && MUTANT != SERVE_EARLY -> end_recovery()
		:: else
		fi;
		clear() }
	/* A read of the oldest data in the overlay map begins, and ends. */
	:: d_step { SERVES && reads < READS && tail_number <= committed ->
		reads++; reading = tail + 1 }
	:: d_step { reading != 0 -> reading = 0 }
	/* A power cut, with or without writes in flight. */
	:: atomic { crashes < CRASHES ->
		crashes++;
		if
		:: starting > 0
		:: starting == 0 -> in_flight = 0
		:: starting == 0 && closed != 0 ->
			d_step {
				in_flight = closed;
				flush();
				write_block(PLACE(closed), in_flight);
				clear()
			}
		:: starting == 0 && closed != 0 && (parts == 0 || MUTANT == CHECKED_WITH_PARTS) ->
			d_step {
				in_flight = closed - COMMIT + CHECKED;
				write_block(PLACE(closed), in_flight);
				clear()
			}
		fi;
		do
		:: b < BLOCKS && cached[b] != 0 ->
			CUT_BLOCK(medium[b], cached[b]);
			CUT_BLOCK(medium[BLOCKS + b], cached[b]);
			cached[b] = 0; b++
		:: b < BLOCKS && cached[b] == 0 -> b++
		:: b == BLOCKS -> b = 0; break
		od;
		if
		:: starting == 0
		:: starting == 0 && MARKS -> d_step { fill_mark(); clear() }
		:: starting == 0 && MOVES -> d_step { fill_tail(); clear() }
		:: starting > 0 -> d_step { fill_start(); clear() }
		:: starting == 0 && losses == 0 ->
			d_step {
				losses++;
				printf("copy %d of the superblock is lost\n", OTHER(target));
				copy[OTHER(target)] = TORN; copy[2 + OTHER(target)] = TORN
			}
		fi;
		if
		:: super != 0 ->
			CUT_COPY(0);
			CUT_COPY(1);
			super = 0
		:: else
		fi;
		/* The other drive is read. */
		if
		:: true
		:: d_step {
			for (i : 0 .. BLOCKS - 1) {
				x = medium[i];
				medium[i] = medium[BLOCKS + i];
				medium[BLOCKS + i] = x
			}
			for (i : 0 .. 1) {
				x = copy[i];
				copy[i] = copy[2 + i];
				copy[2 + i] = x
			}
		   }
		fi;
		/* The start forgets the marked epochs, or keeps them. */
		if
		:: forget = true
		:: true
		fi;
		d_step { print_drives(); recover(); clear() } }
	:: timeout -> assert(data == DATA && count == 0 && closed == 0); break
	od
}
