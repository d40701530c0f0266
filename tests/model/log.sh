#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The log of nearcache-stage: all states of stage_log.pml are right, and each mutant is found.
set -uo pipefail
model=stage_log
# shellcheck source=tests/model/search
. "$TOP/tests/model/search"

small=(DATA=3 BLOCKS=6)
# Descriptors that can be replaced by one with more entries.
long=(DATA=3 BLOCKS=6 ENTRIES=2 CRASHES=1)
# The ring is used more than once.
around=(DATA=4 BLOCKS=5 CRASHES=1 READS=1)
rules=(DATA=2 BLOCKS=5)
whole "${small[@]}"
whole "${long[@]}"
whole "${around[@]}"
if [[ ${SOAK:-} ]]; then
	rules=(DATA=3 BLOCKS=6)
	whole DATA=4 BLOCKS=7
	whole DATA=3 BLOCKS=6 ENTRIES=2 READS=1
	whole DATA=5 BLOCKS=6 CRASHES=1 READS=1
fi

broken COMMIT_BEFORE_PARTS 'C2: the last descriptor is written before the others' "${small[@]}"
broken COMMIT_WITHOUT_FLUSH 'C3: a commit does not flush' "${small[@]}"
broken REPORT_BEFORE_COMMIT 'C3: a commit is reported before it is complete' "${small[@]}"
broken CHECKED_WITHOUT_FLUSH 'C4: a checked commit is reported before the flush' "${small[@]}"
broken CHECKED_WITH_PARTS 'C4: a checked commit has more than one descriptor' "${small[@]}"
broken EMBED_UNCHECKED 'C5: an embedded descriptor has no checksum of its data' "${small[@]}"
broken EMBED_DURING_COMMIT 'C5: a descriptor is embedded while a commit is under way' "${long[@]}"
broken KEEP_EMBEDDED 'C5: an embedded descriptor is not replaced' "${long[@]}"
broken TAIL_BEFORE_MARK 'S1: the tail moves over an epoch that is not marked' "${small[@]}"
broken REUSE_BEFORE_SUPER 'S1: space is used again before the superblock is written' "${around[@]}"
broken REUSE_AFTER_ONE_COPY 'S1: space is used again when one copy has the new tail' "${around[@]}"
broken REUSE_DURING_READ 'S1: space is used again during a read' "${around[@]}"
broken ONE_COPY 'S2: one copy of the superblock is written again and again' "${small[@]}"
broken NO_RESERVE 'S3: no room is kept back for the commit' DATA=4 BLOCKS=4 CRASHES=1
broken IGNORE_NUMBER_AND_PLACE 'R2: a descriptor of another place and number is taken' "${small[@]}"
broken IGNORE_GENERATION 'R2: a descriptor of any generation is taken' "${small[@]}"
broken GENERATION_NOT_LOWER 'R2: a generation is only compared with the one before' "${small[@]}"
broken TAKE_UNCOMMITTED 'R3: descriptors behind the last commit are kept' "${small[@]}"
broken KEEP_UNCHECKED 'R3: a checked commit is kept without a look at its data' "${small[@]}"
broken NO_REWRITE 'R4: the last commit is not written again' "${small[@]}"
broken NO_DATA_REWRITE 'R4: the data of the last, checked commit is not written again' "${small[@]}"
broken NO_SUPER_REWRITE 'R4: the copy that was taken is not written again' "${small[@]}"
broken OVERWRITE_TAKEN 'R4: the copy that was taken is the first to be replaced' "${small[@]}"
broken SAME_GENERATION 'R4: the generation does not change' "${small[@]}"
broken SAME_START 'R4: start_number does not change' "${small[@]}"
broken GENERATION_IN_ONE_COPY 'R4: only one copy gets the new generation' "${small[@]}"
broken SERVE_EARLY 'R4: writes are served before both copies are written' "${small[@]}"
redundant TAKE_OLDER 'R1: the older copy is taken' "${rules[@]}"
redundant IGNORE_NUMBER 'R2: the number of a descriptor is not compared' "${rules[@]}"
redundant IGNORE_PLACE 'R2: the place of a descriptor is not compared' "${rules[@]}"
redundant IGNORE_LOW_NUMBERS 'R2: numbers below start_number may have any generation' "${rules[@]}"
check 'all mutants were tried' all_tried
finish
