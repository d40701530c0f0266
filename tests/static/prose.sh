#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Each folder has at most CEILING banned constructions per 1,000 words (it may only fall), and no
# Markdown line is over 120 columns. With files: print each banned construction and its line.
CEILING=1.5
cd "${TOP:-$(dirname "$(readlink -f "$0")")/../..}" || exit
rates() { git ls-files -co --exclude-standard | PROSE_FILES="$*" CEILING=$CEILING python3 -c "$(sed '1,/^: python/d' tests/static/prose.sh)"; }
[[ $# -eq 0 ]] || { rates "$@"; exit; }
. "$TOP/tests/tap.sh"
rates | sed 's/^/# /'
check 'each folder stays below the ceiling' rates
finish
: python
import os, re, sys
SAYS = "".join(f"(?<!{verb} )" for verb in "say says show shows know knows see tell tells".split())
NOUNS = "".join(f"(?<!{noun} )" for noun in "user users people one operator engineer engineers".split())
BANNED = re.compile("|".join([NOUNS + r"\bwho(?:ever)?\b(?![^.]*\?)", SAYS + r"\bwhat (?!if\b|to do\b|follows\b)(?![^.]*\?)[a-z]+",
    r", too\b[,.;:)]?|\btoo[.;]", r"\bbut for\b", r"(?:^|[.;:,] )[Ee]lse\b(?! if)(?! \{)", r"\banew\b", r"\bfor good\b",
    r"\b(?:is|are|was|were|be|been|being|not) told\b", r"\bso (?:many|long|much)\b(?! as| that| of a)", r"\bof ours\b|\bits own accord\b",
    r"\bon (?:its|their) way\b", r"\bpass(?:es|ed)? (?:it|them) by\b", r"\bone of so\b", r"\bnor (?:is|are|was|does|do)\b", r"\bthe (?:very|like of)\b"]))
PIECE = {"c": r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", "sh": r"(?m)(?:^|\s)#[^\n]*", "all": r"(?:[^\n]+\n?)+"}
KIND = {**dict.fromkeys("c h".split(), "c"), **dict.fromkeys("sh py mk awk jq".split(), "sh"), **dict.fromkeys("md rst yaml 5 7 8 in patch".split(), "all")}
words, hits, bad, chosen = {}, {}, False, os.environ["PROSE_FILES"].split()
for path in filter(os.path.isfile, chosen or sys.stdin.read().split("\n")):
    text = open(path, errors="replace").read()
    kind = KIND.get(path.rsplit(".", 1)[-1], "sh" if text.startswith("#!") else None)
    if kind and path != "COPYING" and not path.startswith("tests/static/prose"):
        folder = "documents" if re.search(r"\.(md|rst)$", path) else "man" if "/man/" in path else path.split("/")[0]
        text = re.sub(r"(?s)```.*?```|[^\n]*SPDX[^\n]*", "", text.split("\n---", 1)[0] if path.endswith(".patch") else text)
        for found in re.finditer(PIECE[kind], text, re.S):
            piece = re.sub(r"\s+", " ", re.sub(r"(?m)^\s*\*|^\s*#+|/\*+|\*/|^\"|\"$|\\n", " ", found.group()))
            piece = piece if len(piece.split()) > 2 else ""
            words[folder] = words.get(folder, 0) + len(re.findall(r"[A-Za-z']+", piece))
            for banned in BANNED.finditer(piece):
                hits[folder] = hits.get(folder, 0) + 1
                if chosen: print(f"{path}:{text.count(chr(10), 0, found.start()) + 1}: …{piece[max(0, banned.start() - 30):banned.end() + 30]}…")
    bad |= path.endswith(".md") and max(map(len, open(path).read().split("\n"))) > 120 and not print(f"{path}: a line over 120 columns")
for folder in sorted(words): print(f"{folder}: {1000 * hits.get(folder, 0) / max(1, words[folder]):.2f} of 1,000, {words[folder]} words")
sys.exit(bad or any(1000 * hits.get(f, 0) > float(os.environ["CEILING"]) * words[f] for f in words))
