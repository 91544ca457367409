"""The bootstrap files of a workspace in the system message, each cut to its limit. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from daemon.config import BootstrapConfig

JOIN = "\n\n---\n\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A bootstrap file as shown in the prompt."""

    name: str
    text: str
    """As it stands in the prompt, heading and all; empty: left out, since too little room was left."""
    chars: int
    """Of the file."""
    kept_chars: int
    """How many of them are in ``text``."""


def bootstrap(files: Sequence[tuple[str, str]], config: BootstrapConfig, *, total_chars: int) -> list[Part]:
    """The files, in order, each within ``max_chars`` and all within ``total_chars``.

    A heading counts in the total, but not in ``max_chars``; markers and joins count. Once less than
    ``min_budget_chars`` are left, the rest is left out.
    """
    return list(_parts(files, config, total_chars))


def _parts(files: Sequence[tuple[str, str]], config: BootstrapConfig, left: int) -> Iterator[Part]:
    first, full = True, False
    for name, text in files:
        room = left if first else left - len(JOIN)
        full = full or room < config.min_budget_chars
        part = Part(name=name, text="", chars=len(text), kept_chars=0)
        if not full:
            part = _part(part, text, config, room)
        if part.text:
            left, first = room - len(part.text), False
        yield part


def _part(part: Part, text: str, config: BootstrapConfig, room: int) -> Part:
    heading = f"## {part.name}\n\n"
    allowance = min(room - len(heading), config.max_chars)
    if len(text) <= allowance:
        return Part(name=part.name, text=heading + text, chars=len(text), kept_chars=len(text))
    # Taken for as long as it can get: what is left out has at most as many digits as there is text.
    longest = len(_marker(part.name, len(text)))
    if longest > allowance:
        return part
    head, tail = int(config.head_ratio * allowance), int(config.tail_ratio * allowance)
    room = allowance - longest
    if head + tail > room:
        shares = config.head_ratio + config.tail_ratio
        head, tail = int(room * config.head_ratio / shares), int(room * config.tail_ratio / shares)
    marker = _marker(part.name, len(text) - head - tail)
    shown = f"{heading}{text[:head]}{marker}{text[len(text) - tail :]}"
    return Part(name=part.name, text=shown, chars=len(text), kept_chars=head + tail)


def _marker(name: str, left_out: int) -> str:
    return f"\n[...truncated {left_out} chars, read {name} for full content...]\n"
