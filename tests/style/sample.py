"""``python -m tests.style.sample --seed 7``: draw sixty sentences for a reader who does not know the project."""

import argparse
import random
import re

from tests.style.texts import sentences, unique

SHARES = {"readme": 15, "docs": 15, "bot": 10, "page": 8, "errors": 12}
"""How many sentences of each kind."""

WORDS_MIN = {"page": 2}
"""The fewest words of a sentence that is drawn, else ``SHORT``: the page has labels."""

SHORT = 5


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
        long = [each for each in found if each.kind == kind and words(each.text) >= WORDS_MIN.get(kind, SHORT)]
        for each in rng.sample(long, share):
            number += 1
            print(f"{number:2}. [{kind}] {each.text}")
            if options.places:
                print(f"      {each.path}:{each.line}")


def words(text: str) -> int:
    """How many words a sentence has."""
    return len(re.findall(r"[A-Za-z][\w'’-]*", text))


if __name__ == "__main__":
    main()
