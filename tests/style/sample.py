"""``python -m tests.style.sample --seed 7``: draw sixty sentences for a reader who does not know the project."""

import argparse
import random
import re

from tests.style.texts import Sentence, sentences, unique

SHARES = {"readme": 15, "docs": 15, "bot": 10, "page": 8, "errors": 12}  # how many sentences of each kind

LABELS = "page"  # the kind of which labels of two words are drawn too

WORDS_MIN = 5
WHOLE = re.compile(r"[.?!:]\)?$")
"""The end of a whole sentence. Short cells of tables in README and docs have no meaning alone, and are not drawn."""

CELL_WORDS_MIN = 8

CODE = re.compile(r"`[^`]*`|\b\w*[_/]\w*\b")
PROSE = re.compile(r"\b(?!and\b|or\b)[A-Za-z]{2}")
"""Code, paths and names, and the words beside them. A cell of a table without such words is no sentence of prose."""

SHELL = re.compile(r'"\$@"|>/dev/null| → ')
"""A part of a shell command, which no person reads, or the old and the new name of a module."""

CUT = re.compile(r"\b(a|an|the|and|or|of|in|on|to|for|from|with|by|is|are|that)$")
"""The end of a string that a program completes, which is no sentence."""

NEAR_CHARS = 200
"""Of a long message or prompt, the part that a reader sees before and after the sentence."""

EXAMPLES = "docs/style.md"
"""The page that quotes bad sentences, and lists words to replace in a table. Neither is prose of the page."""


def main() -> None:
    """Print the sentences, numbered, with their kind and place."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=7, help="another seed draws other sentences")
    parser.add_argument("--places", action="store_true", help="print file and line below each sentence")
    options = parser.parse_args()

    rng = random.Random(options.seed)
    found = unique(sentences())
    number = 0
    for kind, share in SHARES.items():
        drawn = [each for each in found if each.kind == kind and is_judged(each)]
        for each in rng.sample(drawn, share):
            number += 1
            print(f"{number:2}. [{kind}] {each.text}")
            if each.context:
                print(f"      shown with: {near(each)}")
            if options.places:
                print(f"      {each.path}:{each.line}")


def near(sentence: Sentence) -> str:
    """The context of a sentence, at most ``NEAR_CHARS`` characters to each side of the sentence."""
    before, _, after = sentence.context.partition(sentence.text)
    start, end = before[-NEAR_CHARS:], after[:NEAR_CHARS]
    return f"{'…' * (start != before)}{start}[…]{end}{'…' * (end != after)}"


def is_judged(sentence: Sentence) -> bool:
    words = len(re.findall(r"[A-Za-z][\w'’-]*", re.sub(r"\{\w*\}", "", sentence.text)))
    if sentence.kind in ("readme", "docs") and not PROSE.search(CODE.sub("", sentence.text)):
        return False
    if CUT.search(sentence.text) or SHELL.search(sentence.text):
        return False
    if sentence.path == EXAMPLES and ('"' in sentence.text or not re.search(r"[.?!:]$", sentence.text)):
        return False
    if sentence.kind in ("readme", "docs") and not WHOLE.search(sentence.text):
        return words >= CELL_WORDS_MIN
    return words >= (2 if sentence.kind == LABELS else WORDS_MIN) and sentence.text[0] not in ",;:)"


if __name__ == "__main__":
    main()
