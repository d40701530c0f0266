# SPDX-License-Identifier: GPL-2.0-only
# Check a performance target in all rows to which it applies. Included by NAME.jq.

# verdict(TEXT; ROWS; HOLDS; WORDS): print a line for the target, and one for each row that misses
# it.
def verdict($text; rows; holds; words):
	[rows] as $rows | [$rows[] | select(holds | not)] as $missed |
	if $rows == [] then "not measured: \($text)"
	elif $missed == [] then "holds: \($text) (\($rows | length) rows)"
	else "MISSED: \($text) (\($missed | length) of \($rows | length) rows)",
		($missed[] | "\t\(words)")
	end;

def mean: add / length;
def round4: . * 10000 | round / 10000;
