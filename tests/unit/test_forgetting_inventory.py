"""Every kind of key is removed by a tier of forgetting, or the page says why there is nothing to remove."""

import re
from pathlib import Path

from daemon.bus import Keys
from daemon.forget import TIERS

PAGE = Path(__file__).parents[2] / "docs" / "forgetting.md"
_ROW = re.compile(r"^\| `([a-z]+)` \| (.+) \|$", re.MULTILINE)
_KIND = re.compile(r"``(\w+)``, (?:stream|hash|list|sorted set|string)")


def kinds() -> set[str]:
    """The kinds that ``daemon/bus/keys.py`` knows, by their descriptions."""
    members = [getattr(member, "fget", member) for member in vars(Keys).values()]
    found = [_KIND.match(member.__doc__ or "") for member in members if getattr(member, "__doc__", None)]
    return {match[1] for match in found if match}


def rows() -> dict[str, str]:
    return dict(_ROW.findall(PAGE.read_text()))


def test_every_kind_of_key_is_forgotten_or_it_is_said_why_not() -> None:
    unsaid = kinds() - rows().keys()

    assert not unsaid, (
        f"{sorted(unsaid)}: can a person's text stand there? Let a tier of daemon/forget remove it, or say in "
        "docs/forgetting.md why there is nothing to remove"
    )


def test_the_page_says_nothing_of_kinds_that_are_gone() -> None:
    assert rows().keys() <= kinds()


def test_what_the_page_says_is_a_tier_or_a_reason() -> None:
    for kind, said in rows().items():
        tier = re.fullmatch(r"`(\w+)`", said)
        assert said.startswith("No tier. ") if tier is None else tier[1] in TIERS, (kind, said)
