"""``python -m tests.style.check [PATH …]``: print each sentence that breaks a rule of ``docs/style.md``."""

import sys

from tests.style.rules import broken
from tests.style.texts import sentences


def main() -> int:
    """1 when a sentence of the named files or folders, or of all, breaks a rule."""
    places = tuple(sys.argv[1:])
    found = [
        f"{each.path}:{each.line}: {each.text}\n    rule: {rule.advice}"
        for each in sentences()
        if not places or each.path.startswith(places)
        for rule in broken(each)
    ]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(found)} sentences break a rule of docs/style.md" if found else "texts: ok")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
