# SPDX-License-Identifier: GPL-2.0-only
"""Count banned constructions per 1,000 words of prose, for prose.sh. Standard input: all files."""
import os, re, sys

SAYS = r"(?<!say )(?<!says )(?<!show )(?<!shows )(?<!know )(?<!knows )(?<!see )(?<!tell )(?<!tells )"
BANNED = re.compile("|".join([
    r"(?<!user )(?<!users )(?<!people )(?<!one )(?<!operator )(?<!engineer )(?<!engineers )\bwho(?:ever)?\b(?![^.]*\?)",
    SAYS + r"\bwhat (?!if\b|to do\b|follows\b)(?![^.]*\?)[a-z]+",    # a relative clause without a noun
    r", too\b[,.;:)]?|\btoo[.;]", r"\bbut for\b", r"(?:^|[.;:,] )[Ee]lse\b(?! if)(?! \{)", r"\banew\b", r"\bfor good\b",
    r"\b(?:is|are|was|were|be|been|being|not) told\b", r"\bso (?:many|long|much)\b(?! as| that| of a)",
    r"\b(?:of|by|for|with) (?:ours|its own accord)\b", r"\bon (?:its|their) way\b", r"\bpass(?:es|ed)? (?:it|them) by\b",
    r"\bone of so\b", r"\bnor (?:is|are|was|does|do)\b", r"\bthe (?:very|like of)\b", r"\bas (?:often|long) as there\b"]))
COMMENT = {"c": r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", "sh": r"(?m)(?:^|\s)#[^\n]*"}
KIND = {".c": "c", ".h": "c", ".md": "all", ".rst": "all", ".sh": "sh", ".py": "sh", ".mk": "sh", ".yaml": "all",
        ".7": "all", ".8": "all", ".5": "all", ".in": "all", ".patch": "head", ".awk": "sh", ".jq": "sh"}


def prose(path):
    """Yield (line, text) of each piece of prose in a file."""
    text = open(path, errors="replace").read()
    kind = KIND.get(os.path.splitext(path)[1]) or ("sh" if text.startswith("#!") else None)
    if kind == "head":
        text = text.split("\n---", 1)[0]
    if kind in COMMENT:
        for found in re.finditer(COMMENT[kind], text, re.S):
            piece = re.sub(r"(?m)^\s*\*|^\s*#+|/\*+|\*/|^\"|\"$|\\n", " ", found.group())
            if len(piece.split()) > 2 and "SPDX" not in piece:
                yield text.count("\n", 0, found.start()) + 1, re.sub(r"\s+", " ", piece)
    elif kind:
        for found in re.finditer(r"(?:[^\n]+\n?)+", re.sub(r"(?s)```.*?```", lambda m: "\n" * m.group().count("\n"), text)):
            yield text.count("\n", 0, found.start()) + 1, re.sub(r"\s+", " ", found.group())


chosen, words, hits, wide = os.environ["PROSE_FILES"].split(), {}, {}, []
for path in chosen or sys.stdin.read().split("\n"):
    if not os.path.isfile(path) or path.startswith("tests/static/prose") or path == "COPYING":
        continue
    folder = "documents" if re.search(r"\.(md|rst)$", path) else "man" if "/man/" in path else path.split("/")[0]
    for line, text in prose(path):
        words[folder] = words.get(folder, 0) + len(re.findall(r"[A-Za-z']+", text))
        for found in BANNED.finditer(text):
            hits[folder] = hits.get(folder, 0) + 1
            if chosen:
                print(f"{path}:{line}: …{text[max(0, found.start() - 30):found.end() + 30]}…")
    if path.endswith(".md"):
        wide += [f"{path}:{n}" for n, line in enumerate(open(path), 1) if len(line.rstrip("\n")) > 120]
for folder in sorted(words):
    print(f"# {folder}: {1000 * hits.get(folder, 0) / words[folder]:.2f} of {words[folder]} words")
print(*(f"{place}: over 120 columns" for place in wide), sep="\n")
sys.exit(any(1000 * hits.get(f, 0) / words[f] > float(sys.argv[1]) for f in words))
