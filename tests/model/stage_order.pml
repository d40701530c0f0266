/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order in which nearcache-stage writes its log and the origin (kmod/doc/stage.md, rules W, C,
 * D and F).
 *
 * Two writers write sectors, with or without FUA, and flush. In each state, the model asserts:
 *
 * - The content of the origin alone, after a power cut of its volatile cache, is what a plain disk
 *   could have after a power cut at some moment up to now. So the log may be lost at any time (O1).
 * - Log and origin together, after a power cut of both, are what a plain disk could have after a
 *   power cut now. So what was flushed is there, also if a copy of the superblock is lost (O2, O4).
 * - A reader gets a version that no complete write has replaced, whether the data has left the
 *   overlay map or not (O3).
 * - At a start, the fingerprint does not accuse another host.
 * - In the end all requests have ended: no other state is without a next step (O7).
 *
 * What a plain disk could have is defined by the requests of the writers, not by epochs. A version
 * of a sector can be on its medium from its submission on, until a flush or FUA write ends that
 * covers a version by which it was replaced: one that was submitted when the old one was complete.
 * A moment ends where that happens, and at a crash. valid[v] is the set of the moments in which
 * version v can be on the medium. An image is right if all its versions share a moment.
 *
 * The volatile cache of the origin is not a step: on_origin[s] is the set of the versions that
 * sector s can have after a power cut, all since the last flush, and each image of them is checked
 * in each state. The log is in the same way: what is not durable counts as lost.
 *
 * A flush ends as soon as the rules let it. A later end would only allow more images. A commit is
 * one step here: stage_log.pml has its writes.
 *
 * With SWITCHES, the stage passes writes and flushes to the origin for a while, as it does when the
 * log is full (rules F). It may begin to pass whenever the rules let it. Writers that wait for the
 * switch have not submitted their requests yet.
 *
 * With FAILURES, the flush of a return may fail, and a suspend then returns to the log (F6). The
 * origin may have lost any version since its last good flush, and later flushes do not bring it back.
 * The next FLUSH of a writer fails, which is a crash to the plain disk. In the model this FLUSH comes
 * only when the drain has nothing to do.
 *
 * With MARK_ERRORS, the log may report an error for a mark that reaches its medium (D4).
 *
 * With DROPS, a start may find a block of the log that cannot be read, and drop the epochs from there on
 * (drop_unreadable, R2). What was flushed is lost then; but readers must get an image that a plain disk
 * could have at some moment up to now. From then on, this image counts as the content of the plain disk.
 *
 * A mutant (-DMUTANT=NAME) breaks one rule. order.sh has their list.
 */
#define SECTORS	3
#define WRITERS	2	/* each has one request at a time */
#ifndef WRITES
#define WRITES	3
#endif
#ifndef EPOCHS
#define EPOCHS	3
#endif
#ifndef FUAS
#define FUAS	1	/* writes of them that may have FUA */
#endif
#ifndef FLUSHES
#define FLUSHES	1
#endif
#ifndef CRASHES
#define CRASHES	1
#endif
#ifndef SWITCHES
#define SWITCHES	0	/* times that the stage begins to pass writes */
#endif
#ifndef FAILURES
#define FAILURES	0	/* flushes of a return that may fail */
#endif
#ifndef MARK_ERRORS
#define MARK_ERRORS	0
#endif
#ifndef DROPS
#define DROPS	0	/* 1: a start may drop epochs */
#endif
#ifndef PRINTS
#define PRINTS	0	/* 1: one of the sectors belongs to the fingerprint of the origin */
#endif

mtype = { NONE, TWO_EPOCHS_AT_ONCE, MARK_BEFORE_FLUSH, MERGE_EPOCHS, OLDEST_VERSION,
	NEXT_BEFORE_MARK, ONE_EPOCH_UNMARKED, DRAIN_BEFORE_COMMIT, FLUSH_WITHOUT_WAIT,
	DRAIN_NOT_REPEATED, REPORT_BEFORE_COMMIT, COMMIT_WITHOUT_WAIT, COMMIT_WITHOUT_FLUSH,
	FUA_WITHOUT_COMMIT, EMPTY_FLUSH_AT_ONCE, FLUSH_JOINS_CLOSED_EPOCH, MAP_KEEPS_LAST_COMPLETED,
	LEAVE_MAP_BEFORE_FLUSH, EXPECT_NOTHING, EXPECT_IN_ONE_COPY, PASS_BEFORE_DRAIN,
	PASS_BEFORE_MARK, PASS_AFTER_ONE_COPY, PASS_WITH_RETAINED, FLUSH_NOT_PASSED,
	RETURN_BEFORE_WRITES, RETURN_BEFORE_FLUSH, START_WITHOUT_FLUSH, KEEP_PRINT,
	FORGET_FAILED_FLUSH, DROP_ONE_EPOCH, DROP_AND_RETAIN, JOIN_AFTER_FLUSH, JOIN_AFTER_FUA,
	JOIN_AFTER_LATE_FLUSH, JOIN_AFTER_START, JOIN_PRINTED, JOIN_OVERTAKES,
	NEXT_AFTER_ONE_COPY, REPEAT_AFTER_FAILED_MARK };
#ifndef MUTANT
#define MUTANT	NONE
#endif

/*
 * Sector s has version s at the start. The writes make the versions from FIRST on, in the order of
 * the log.
 */
#define FIRST		SECTORS
#define VERSIONS	(SECTORS + WRITES)
#define BIT(v)		(1 << (v))
#define HAS(set, v)	(((set) >> (v)) & 1)

/* The writes. */
byte next = FIRST;		/* version of the next write */
byte sectors;			/* sectors that were written */
byte sector_of[VERSIONS];
byte epoch_of[VERSIONS];	/* 0: content at the start, dropped by recovery, or passed */
short replaces[VERSIONS];	/* versions that were complete when it was submitted */

/* Sets of versions. */
short in_flight;		/* of the open epoch, and not in the log yet */
short in_flight_closed;		/* of the closed epoch */
short in_flight_passed;		/* to the origin */
short waiting;			/* with FUA, and not complete */
short complete = BIT(SECTORS) - 1;
short durable = BIT(SECTORS) - 1; /* on the medium of the log device */

byte busy;			/* writers that wait for a request */
byte fuas, flushes, crashes, losses, switches;

/* The log. */
byte epoch = 1;			/* the open epoch */
bool entries;			/* it has some */
bool committing;		/* the epoch before it is closed and not committed */
byte flushing, flushing_closed;	/* flushes that wait for the commit of the open, the closed epoch */
short covers, covers_closed;	/* versions that they replace by versions that they cover */
byte asked;			/* set of epochs: a FLUSH or FUA write ends with their commit */
byte printed;			/* set of epochs that write sector print */

/* The drain. */
byte drained;			/* newest epoch that was flushed to the origin */
byte draining;			/* epochs after it that are written to the origin: the batch */
bool joined;			/* the newest batch has several epochs, and not its mark in both copies */
bool ended;			/* a mark has failed: the drain has ended */
bool lost;			/* the origin has lost writes, and they were not repeated */
byte marked, marked_before;	/* in the newer and in the older copy of the superblock */
byte print = SECTORS;		/* sector that belongs to the fingerprint; SECTORS: none */
byte expected, expected_before;	/* in the copies: epoch, as of which it may be on the origin */
short on_origin[SECTORS];	/* versions that can be there after a power cut of the origin */

bool passing;			/* writes and flushes go to the origin */
bool flush_failed;		/* the flush of a return, and no writer knows */
byte failures;
short passed;			/* versions that KEEP_PRINT does not put into the fingerprint */

byte shown[SECTORS];		/* newest version that the log device, or the origin, has completed */

/* The plain disk. */
byte moment;
byte valid[VERSIONS];		/* moments in which the version can be on its medium */

byte pick;
byte last;			/* newest epoch that a start does not drop */
hidden byte s, v, found, a, b, c;
hidden short gone;

#define COMMITTED	(epoch - 1 - committing)
#define IN_FLIGHT	(in_flight | in_flight_closed)
#define UNCOMMITTED	(entries || committing)
#define COPIES_DIFFER	(marked != marked_before || expected != expected_before)
#define IS_VALID(v)	HAS(valid[v], moment)
/* The batch may take one more epoch (D5). */
#define JOINS		(!HAS(asked, drained + draining) && \
			 (!HAS(printed, drained + draining + 1) || MUTANT == JOIN_PRINTED))
/* Readers take versions of epochs up to this one from the origin. */
#define FLOOR		(MUTANT == LEAVE_MAP_BEFORE_FLUSH -> drained + draining : marked)

/* Find the newest version of sector s of the epochs from + 1 to to; s: none. */
inline find_newest(from, to) {
	found = s;
	for (v : FIRST .. VERSIONS - 1) {
		found = (sector_of[v] == s && epoch_of[v] > from && epoch_of[v] <= to -> v : found)
	}
}

/* As find_newest, for the fingerprint. */
inline find_printed(to) {
	found = s;
	for (v : FIRST .. VERSIONS - 1) {
		found = (sector_of[v] == s && epoch_of[v] > 0 && epoch_of[v] <= to &&
			!HAS(passed, v) -> v : found)
	}
}

/* The versions in gone cannot be on the medium of the plain disk any more. A new moment begins. */
inline remove() {
	for (v : 0 .. VERSIONS - 1) {
		gone = (IS_VALID(v) -> gone : gone & ~BIT(v))
	}
	if
	:: gone != 0 ->
		for (v : 0 .. VERSIONS - 1) {
			if
			:: IS_VALID(v) && !HAS(gone, v) -> valid[v] = valid[v] | BIT(moment + 1)
			:: else
			fi;
			replaces[v] = replaces[v] & ~gone
		}
		complete = complete & ~gone;
		covers = covers & ~gone; covers_closed = covers_closed & ~gone;
		moment++;
		assert(moment < 8)
	:: else
	fi;
	gone = 0
}

/* Can the plain disk have each image of the origin, at some moment? */
inline check_origin() {
	for (a : 0 .. VERSIONS - 1) {
		if
		:: HAS(on_origin[0], a) ->
			for (b : 0 .. VERSIONS - 1) {
				if
				:: HAS(on_origin[1], b) ->
					for (c : 0 .. VERSIONS - 1) {
						assert(!HAS(on_origin[2], c) ||
							(valid[a] & valid[b] & valid[c]))
					}
				:: else
				fi
			}
		:: else
		fi
	}
	a = 0; b = 0; c = 0
}

/*
 * Recovery, or a reader, finds version found of sector s in the log. The plain disk can have that
 * one. If its epoch is marked, the log may not have it any more, and the origin must have it.
 */
inline check_found(mark) {
	assert(IS_VALID(found));
	assert(epoch_of[found] > mark || on_origin[s] == BIT(found) || flush_failed)
}

/* What the origin may have lost, nobody has flushed. */
inline check_lost() {
	for (v : 0 .. VERSIONS - 1) {
		assert(!HAS(on_origin[s], v) || IS_VALID(v) || epoch_of[shown[s]] > marked_before)
	}
}

/* Sector s of the origin has one of the two versions in the fingerprint. */
inline check_print(mark, epoch) {
	find_printed(mark);
	a = found;
	find_printed(epoch);
	assert((on_origin[s] & ~(BIT(a) | BIT(found))) == 0)
}

/* A reader gets version found of sector s. */
inline check_reader() {
	for (v : FIRST .. VERSIONS - 1) {
		assert(!HAS(complete, v) || !HAS(replaces[v], found))
	}
}

/* The log has nothing, so the origin has to have what was flushed. */
inline check_passing() {
	for (v : 0 .. VERSIONS - 1) {
		assert(!HAS(on_origin[s], v) || IS_VALID(v))
	}
	find_newest(0, COMMITTED);
	found = (MUTANT == PASS_WITH_RETAINED && found != s -> found : shown[s]);
	assert(IS_VALID(found));
	check_reader()
}

inline check_logging() {
	/* After a power cut, with both copies of the superblock or with the older one. */
	find_newest(0, COMMITTED);
	assert(HAS(durable, found));
	check_found(marked);
	check_found(marked_before);
	/* A reader now. */
	found = shown[s];
	a = FLOOR;
	check_found(a);
	check_reader();
	if
	:: s == print ->
		check_print(marked, expected);
		check_print(marked_before, expected_before)
	:: flush_failed -> check_lost()
	:: else
	fi
}

inline check() {
	check_origin();
	for (s : 0 .. SECTORS - 1) {
		if
		:: passing -> check_passing()
		:: else -> check_logging()
		fi
	}
	s = 0; v = 0; found = 0
}

/* Find the version of sector s that the drain writes. */
inline find_drained(from) {
	a = (MUTANT == MERGE_EPOCHS -> COMMITTED : drained + draining);
	find_newest(from, a);
	if
	:: MUTANT == OLDEST_VERSION ->
		v = VERSIONS - 1;
		do
		:: v >= FIRST ->
			found = (sector_of[v] == s && epoch_of[v] == drained + draining ->
				v : found);
			v--
		:: else -> break
		od
	:: else
	fi
}

/* The origin is flushed: it keeps the versions that it shows, and those in flight may follow. */
inline flush_passed() {
	for (s : 0 .. SECTORS - 1) {
		on_origin[s] = (flush_failed -> on_origin[s] :
			BIT(shown[s]) | (on_origin[s] & in_flight_passed))
	}
}

/* The versions that were passed, and that the origin shows, count as of the newest epoch. */
inline take_passed() {
	for (s : 0 .. SECTORS - 1) {
		v = shown[s];
		if
		:: v >= FIRST && epoch_of[v] == 0 ->
			epoch_of[v] = COMMITTED;
			durable = durable | BIT(v); complete = complete | BIT(v)
		:: else
		fi
	}
}

/*
 * After a stop of the node, and perhaps a power cut of the origin, sector s has one of the versions
 * on the origin. The start flushes the origin.
 */
inline settle(s) {
	if
	:: HAS(on_origin[s], 0) -> pick = 0
	:: HAS(on_origin[s], 1) -> pick = 1
	:: HAS(on_origin[s], 2) -> pick = 2
	:: HAS(on_origin[s], 3) -> pick = 3
	:: HAS(on_origin[s], 4) -> pick = 4
	:: HAS(on_origin[s], 5) -> pick = 5
	:: HAS(on_origin[s], 6) -> pick = 6
	fi;
	shown[s] = pick;
	on_origin[s] = (MUTANT == START_WITHOUT_FLUSH -> on_origin[s] : BIT(pick));
	pick = 0
}

/* Recovery forgets the versions that it dropped, and the requests that have not ended. */
inline end_recovery(mark) {
	for (v : FIRST .. VERSIONS - 1) {
		if
		:: epoch_of[v] == 0 ->
			sector_of[v] = 0; replaces[v] = 0;
			durable = durable & ~BIT(v);
			valid[v] = (HAS(on_origin[0] | on_origin[1] | on_origin[2], v) ->
				valid[v] : 0)
		:: else
		fi
	}
	in_flight = 0; in_flight_closed = 0; in_flight_passed = 0; waiting = 0; busy = 0;
	flushing = 0; flushing_closed = 0; covers = 0; covers_closed = 0;
	draining = 0; lost = false; joined = false; ended = false; passing = false;
	asked = (MUTANT == JOIN_AFTER_START -> asked : BIT(epoch) - 1);
	printed = printed & (BIT(epoch) - 1);
	marked = mark; marked_before = marked; drained = marked;
	crashes++
}

/*
 * The node stops and starts again. Of the first epoch that is not committed, recovery may keep the
 * first write (C5).
 */
inline recover(mark, epoch_expected, keeps) {
	printf("restart from mark %d\n", mark);
	a = COMMITTED + 1;
	b = 0;
	for (v : FIRST .. VERSIONS - 1) {
		if
		:: keeps && b == 0 && epoch_of[v] == a -> b = v
		:: epoch_of[v] >= a && (!keeps || b != 0) -> epoch_of[v] = 0
		:: else
		fi
	}
	flush_failed = false;
	epoch = (b != 0 -> a + 1 : a);
	committing = false; entries = false;
	complete = (b != 0 -> complete | BIT(b) : complete);
	durable = (b != 0 -> durable | BIT(b) : durable);
	c = (passing -> mark : 0);
	for (s : 0 .. SECTORS - 1) {
		find_newest(c, COMMITTED);
		shown[s] = (passing && found == s -> shown[s] : found)
	}
	take_passed();
	gone = 0;
	for (v : 0 .. VERSIONS - 1) {
		gone = (shown[sector_of[v]] == v -> gone : gone | BIT(v))
	}
	remove();
	end_recovery(mark);
	expected = epoch_expected; expected_before = expected
}

/*
 * The node stops and starts again, and drops the epochs after last. The origin has been settled: sector s
 * has version shown[s] there.
 */
inline recover_dropping() {
	printf("restart from mark %d, epochs after %d are dropped\n", marked, last);
	for (v : FIRST .. VERSIONS - 1) {
		epoch_of[v] = (epoch_of[v] == last + 1 || (epoch_of[v] > last &&
			(MUTANT != DROP_ONE_EPOCH || epoch_of[v] > COMMITTED)) -> 0 : epoch_of[v])
	}
	a = (MUTANT == DROP_ONE_EPOCH -> COMMITTED : last);
	b = (MUTANT == DROP_AND_RETAIN -> 0 : marked);
	for (s : 0 .. SECTORS - 1) {
		find_newest(b, a);
		shown[s] = (found == s -> shown[s] : found)
	}
	assert(valid[shown[0]] & valid[shown[1]] & valid[shown[2]]);
	/* What the origin has of a dropped epoch counts as an epoch. */
	b = (a == marked -> a + 1 : marked);
	epoch = (a == marked -> a + 2 : a + 1); committing = false; entries = false;
	take_passed();
	complete = 0;
	for (s : 0 .. SECTORS - 1) {
		v = shown[s];
		valid[v] = valid[v] | BIT(moment + 1);
		replaces[v] = 0; complete = complete | BIT(v)
	}
	moment++;
	assert(moment < 8);
	end_recovery(b)
}

/* A FLUSH fails: the writers take what they read from now on, as after a crash of a disk. */
inline fail_flush() {
	printf("a flush fails\n");
	flush_failed = false;
	for (v : FIRST .. VERSIONS - 1) {
		epoch_of[v] = (shown[sector_of[v]] == v -> epoch_of[v] : 0)
	}
	if
	:: !passing -> take_passed()
	:: else
	fi;
	gone = 0;
	for (v : 0 .. VERSIONS - 1) {
		gone = (shown[sector_of[v]] == v -> gone : gone | BIT(v));
		complete = (shown[sector_of[v]] == v -> complete | BIT(v) : complete)
	}
	remove()
}

inline clear() {
	s = 0; v = 0; found = 0; a = 0; b = 0; c = 0; gone = 0
}

/* The versions that complete writes have replaced. */
inline find_replaced() {
	gone = 0;
	for (v : FIRST .. VERSIONS - 1) {
		gone = (HAS(complete, v) -> gone | replaces[v] : gone)
	}
}

active proctype stage() {
	d_step {
		for (s : 0 .. SECTORS - 1) {
			sector_of[s] = s; on_origin[s] = BIT(s); shown[s] = s; valid[s] = 1
		}
		clear()
	}
	/* Sectors are alike, but the numbers tell the order of their first use. */
	if
	:: true
	:: PRINTS -> print = 0
	:: PRINTS -> print = 1
	:: PRINTS -> print = 2
	fi;
	do
	/*
	 * W1: a writer submits a write, which is appended. Sectors are alike: their first uses are
	 * in their order.
	 */
	:: atomic { busy < WRITERS && next < VERSIONS && epoch <= EPOCHS ->
		if
		:: sector_of[next] = 0
		:: sectors > 0 -> sector_of[next] = 1
		:: sectors > 1 -> sector_of[next] = 2
		fi;
		if
		:: fuas < FUAS -> fuas++; waiting = waiting | BIT(next)
		:: true
		fi;
		d_step {
			sectors = (sector_of[next] == sectors -> sectors + 1 : sectors);
			epoch_of[next] = epoch;
			for (v : 0 .. VERSIONS - 1) {
				if
				:: v < next && sector_of[v] == sector_of[next] &&
				   HAS(complete, v) && IS_VALID(v) ->
					replaces[next] = replaces[next] | BIT(v)
				:: else
				fi
			}
			valid[next] = BIT(moment);
			if
			:: passing ->
				printf("pass write %d of sector %d\n", next, sector_of[next]);
				epoch_of[next] = 0;
				v = sector_of[next];
				on_origin[v] = on_origin[v] | BIT(next);
				in_flight_passed = in_flight_passed | BIT(next);
				passed = (MUTANT == KEEP_PRINT -> passed | BIT(next) : 0)
			:: else ->
				printf("write %d of sector %d, epoch %d\n", next, sector_of[next],
					epoch);
				in_flight = in_flight | BIT(next);
				entries = true;
				asked = (HAS(waiting, next) && MUTANT != JOIN_AFTER_FUA ->
					asked | BIT(epoch) : asked);
				printed = (sector_of[next] == print -> printed | BIT(epoch) :
					printed)
			fi;
			busy++; next++;
			check(); clear() } }
	/* The log device completes a write. */
	:: atomic { IN_FLIGHT ->
		if
		:: HAS(IN_FLIGHT, 3) -> pick = 3
		:: HAS(IN_FLIGHT, 4) -> pick = 4
		:: HAS(IN_FLIGHT, 5) -> pick = 5
		:: HAS(IN_FLIGHT, 6) -> pick = 6
		:: HAS(IN_FLIGHT, 7) -> pick = 7
		:: HAS(IN_FLIGHT, 8) -> pick = 8
		fi;
		d_step {
			in_flight = in_flight & ~BIT(pick);
			in_flight_closed = in_flight_closed & ~BIT(pick);
			v = shown[sector_of[pick]];
			v = (pick > v || MUTANT == MAP_KEEPS_LAST_COMPLETED -> pick : v);
			shown[sector_of[pick]] = v;
			if
			:: !HAS(waiting, pick) -> complete = complete | BIT(pick); busy--
			:: HAS(waiting, pick) && MUTANT == FUA_WITHOUT_COMMIT ->
				waiting = waiting & ~BIT(pick);
				complete = complete | BIT(pick); busy--;
				gone = replaces[pick]; remove()
			:: else
			fi;
			printf("write %d is in the log\n", pick);
			pick = 0;
			check(); clear() } }
	/* The origin completes a write that was passed (F3). */
	:: atomic { in_flight_passed ->
		if
		:: HAS(in_flight_passed, 3) -> pick = 3
		:: HAS(in_flight_passed, 4) -> pick = 4
		:: HAS(in_flight_passed, 5) -> pick = 5
		:: HAS(in_flight_passed, 6) -> pick = 6
		fi;
		d_step {
			in_flight_passed = in_flight_passed & ~BIT(pick);
			complete = complete | BIT(pick); busy--;
			s = sector_of[pick];
			shown[s] = pick;
			if
			:: HAS(waiting, pick) ->
				waiting = waiting & ~BIT(pick);
				on_origin[s] = BIT(pick) | (on_origin[s] & in_flight_passed);
				gone = replaces[pick]; remove()
			:: else
			fi;
			printf("write %d is on the origin\n", pick);
			pick = 0;
			check(); clear() } }
	/* A writer flushes the origin (F3). */
	:: d_step { passing && !flush_failed && busy < WRITERS && flushes < FLUSHES ->
		flushes++;
		printf("pass a flush\n");
		find_replaced(); remove();
		if
		:: MUTANT != FLUSH_NOT_PASSED -> flush_passed()
		:: else
		fi;
		check(); clear() }
	/* A writer flushes (W2). */
	:: d_step { !passing && (!flush_failed || MUTANT == FORGET_FAILED_FLUSH) &&
		    busy < WRITERS && flushes < FLUSHES && next > FIRST ->
		flushes++;
		printf("flush\n");
		if
		:: entries && MUTANT != JOIN_AFTER_FLUSH -> asked = asked | BIT(epoch)
		:: !entries && MUTANT != JOIN_AFTER_LATE_FLUSH -> asked = asked | BIT(epoch - 1)
		:: else
		fi;
		find_replaced();
		if
		:: entries && !(committing && MUTANT == FLUSH_JOINS_CLOSED_EPOCH) ->
			flushing++; busy++; covers = covers | gone
		:: committing && (!entries || MUTANT == FLUSH_JOINS_CLOSED_EPOCH) &&
		   MUTANT != EMPTY_FLUSH_AT_ONCE ->
			flushing_closed++; busy++; covers_closed = covers_closed | gone
		:: else -> remove()
		fi;
		check(); clear() }
	/* C1, W3: the open epoch is closed. */
	:: d_step { entries && !committing ->
		epoch++; entries = false; committing = true;
		in_flight_closed = in_flight; in_flight = 0;
		if
		:: MUTANT == REPORT_BEFORE_COMMIT -> gone = covers; remove(); busy = busy - flushing
		:: else -> flushing_closed = flushing; covers_closed = covers
		fi;
		flushing = 0; covers = 0;
		printf("close epoch %d\n", epoch - 1);
		check(); clear() }
	/* C2, C3: it is committed. Its FUA writes and the flushes that wait for it end. */
	:: d_step { committing && (in_flight_closed == 0 || MUTANT == COMMIT_WITHOUT_WAIT) ->
		committing = false;
		printf("commit epoch %d\n", COMMITTED);
		durable = (MUTANT == COMMIT_WITHOUT_FLUSH ->
			durable : (BIT(next) - 1) & ~IN_FLIGHT);
		gone = covers_closed; busy = busy - flushing_closed;
		covers_closed = 0; flushing_closed = 0;
		for (v : FIRST .. VERSIONS - 1) {
			if
			:: HAS(waiting, v) && epoch_of[v] <= COMMITTED ->
				waiting = waiting & ~BIT(v); complete = complete | BIT(v);
				gone = gone | replaces[v]; busy--
			:: else
			fi
		}
		remove();
		check(); clear() }
	/* D1, D2, D5: the drain writes an epoch to the origin. */
	:: d_step { (draining == 0 || JOINS || MUTANT == TWO_EPOCHS_AT_ONCE) && !lost &&
		    drained + draining < (MUTANT == DRAIN_BEFORE_COMMIT -> epoch - 1 : COMMITTED) &&
		    (marked == drained || MUTANT == NEXT_BEFORE_MARK || ended ||
		     (MUTANT == ONE_EPOCH_UNMARKED && marked + 1 == drained)) &&
		    (!joined || MUTANT == NEXT_AFTER_ONE_COPY) &&
		    (!ended || MUTANT == REPEAT_AFTER_FAILED_MARK) ->
		draining++;
		printf("drain epoch %d\n", drained + draining);
		for (s : 0 .. SECTORS - 1) {
			find_drained(drained + draining - 1);
			on_origin[s] = (found == s -> on_origin[s] : on_origin[s] | BIT(found));
			if
			:: s == print && found != s && MUTANT != EXPECT_NOTHING ->
				marked_before = marked;
				a = drained + draining;
				expected_before = (MUTANT == EXPECT_IN_ONE_COPY -> expected : a);
				expected = a
			:: else
			fi
		}
		check(); clear() }
	/* D3: the origin loses what it had completed, and the drain writes all again. */
	:: d_step { draining != 0 && losses == 0 ->
		lost = true; losses++;
		printf("the origin loses its cache\n") }
	:: d_step { lost -> lost = false }
	/* The repeated batch may have fewer epochs. */
	:: d_step { lost -> lost = false; draining = 0 }
	/* D3: the origin is flushed. */
	:: d_step { draining != 0 && (!lost || MUTANT == DRAIN_NOT_REPEATED) ->
		if
		:: lost || MUTANT == FLUSH_WITHOUT_WAIT
		:: else ->
			for (s : 0 .. SECTORS - 1) {
				find_drained(drained);
				gone = on_origin[s];
				for (v : 0 .. VERSIONS - 1) {
					gone = (epoch_of[v] <= drained || MUTANT != JOIN_OVERTAKES ->
						gone & ~BIT(v) : gone)
				}
				on_origin[s] = (found == s -> on_origin[s] : gone | BIT(found))
			}
		fi;
		printf("flush the origin\n");
		drained = drained + draining; joined = draining > 1; draining = 0; lost = false;
		check(); clear() }
	/* D4: the batch is marked, in the older copy of the superblock. */
	:: d_step { (marked < drained && !ended) ||
		    (MUTANT == MARK_BEFORE_FLUSH && draining != 0 && marked == drained) ->
		marked_before = marked; expected_before = expected;
		marked = (joined -> drained : marked + 1); expected = marked;
		printf("mark epoch %d\n", marked);
		check(); clear() }
	/* D4: the batch gets a mark, but the log reports an error. */
	:: d_step { MARK_ERRORS && !ended && marked < drained ->
		marked_before = marked; expected_before = expected;
		marked = (joined -> drained : marked + 1); expected = marked;
		ended = true; joined = false;
		drained = (MUTANT == REPEAT_AFTER_FAILED_MARK -> marked_before : drained);
		printf("the mark of epoch %d fails\n", marked);
		check(); clear() }
	/* D4: a batch of several epochs is marked in the other copy as well. */
	:: d_step { joined && marked == drained ->
		marked_before = marked; expected_before = expected;
		joined = false;
		printf("mark epoch %d in both copies\n", marked);
		check(); clear() }
	/* F3: all is marked, in both copies, so writes may be passed. */
	:: d_step { switches < SWITCHES && !passing && !entries && !committing && epoch > 1 &&
		    draining == 0 && !ended &&
		    (marked == COMMITTED || MUTANT == PASS_BEFORE_DRAIN ||
		     (MUTANT == PASS_BEFORE_MARK && drained == COMMITTED)) ->
		if
		:: MUTANT != PASS_AFTER_ONE_COPY ->
			marked_before = marked; expected_before = expected
		:: else
		fi;
		switches++; passing = true; joined = false;
		printf("begin to pass\n");
		check(); clear() }
	/* F5: the writes that were passed have ended, the origin is flushed, the log is used. */
	:: d_step { passing && !flush_failed &&
		    (in_flight_passed == 0 || MUTANT == RETURN_BEFORE_WRITES) ->
		if
		:: MUTANT != RETURN_BEFORE_FLUSH -> flush_passed()
		:: else
		fi;
		take_passed();
		passing = false;
		printf("return to the log\n");
		check(); clear() }
	/* F6: the flush of a return fails. The stage goes on passing. */
	:: d_step { passing && failures < FAILURES && in_flight_passed == 0 ->
		failures++; flush_failed = true;
		printf("the flush of a return fails\n") }
	/* F7: a suspend returns to the log all the same. */
	:: d_step { passing && flush_failed && in_flight_passed == 0 ->
		take_passed();
		passing = false;
		printf("suspend and resume\n");
		check(); clear() }
	/* F6: the next flush of a writer fails, in every mode. */
	:: atomic { flush_failed && in_flight_passed == 0 && IN_FLIGHT == 0 && !UNCOMMITTED &&
		    draining == 0 && marked == COMMITTED && marked_before == marked &&
		    busy < WRITERS && flushes < FLUSHES ->
		settle(0); settle(1); settle(2);
		d_step { flushes++; fail_flush(); check(); clear() } }
	/* The node stops while writes are passed (F7). */
	:: atomic { passing && crashes < CRASHES ->
		settle(0); settle(1); settle(2);
		if
		:: d_step { recover(marked, expected, false); check(); clear() }
		:: d_step { COPIES_DIFFER ->
			recover(marked_before, expected_before, false);
			check(); clear() }
		fi }
	/* The node stops at any time; the newer copy of the superblock may be lost. */
	:: d_step { crashes < CRASHES && !passing && !flush_failed ->
		recover(marked, expected, false);
		check(); clear() }
	:: d_step { crashes < CRASHES && !passing && !flush_failed && UNCOMMITTED ->
		recover(marked, expected, true);
		check(); clear() }
	:: d_step { crashes < CRASHES && !passing && !flush_failed && COPIES_DIFFER ->
		recover(marked_before, expected_before, false);
		check(); clear() }
	:: d_step { crashes < CRASHES && !passing && !flush_failed && COPIES_DIFFER && UNCOMMITTED ->
		recover(marked_before, expected_before, true);
		check(); clear() }
	/* A block of the log cannot be read. */
	:: atomic { DROPS && crashes < CRASHES && !passing && !flush_failed && marked < COMMITTED ->
		if
		:: last = marked
		:: marked + 1 < COMMITTED -> last = marked + 1
		:: marked + 2 < COMMITTED -> last = marked + 2
		fi;
		settle(0); settle(1); settle(2);
		d_step { recover_dropping(); last = 0; check(); clear() } }
	:: timeout ->
		assert(busy == 0 && !entries && !committing && !passing &&
		       (ended || marked == COMMITTED));
		break
	od
}
