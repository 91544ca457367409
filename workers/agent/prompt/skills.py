"""Skills of a workspace: the metadata of each ``SKILL.md``, and its description in the prompt. Pure."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

import msgspec

from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.prompt.user_messages import one_line

Value = str | bool | list["Value"] | dict[str, "Value"]

DESCRIPTION_MAX_CHARS = 500
OWNERS = ("openclaw", "clawdbot", "moltbot", "nanobot")
"""Below which keys of ``metadata`` published skills say what they need: OpenClaw by all its names, and nanobot."""
LINE_BREAK_TOKENS = 2
"""What a line may count more in a text than alone."""


class FrontMatterError(ValueError):
    """The head of a file cannot be read; the text says where and why."""


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """One folder below ``skills/``."""

    name: str
    path: str
    """Of its file, from the workspace."""
    description: str
    always: bool = False
    """Stands in every prompt, in full."""
    bins: tuple[str, ...] = ()
    """Programs that it needs."""
    env: tuple[str, ...] = ()
    """Environment variables that it needs."""
    text: str
    """What stands below the head."""
    missing_bins: tuple[str, ...] = ()
    missing_env: tuple[str, ...] = ()

    @property
    def is_available(self) -> bool:
        """Whether all that it needs is there."""
        return not (self.missing_bins or self.missing_env)

    @property
    def is_active(self) -> bool:
        """Whether it is to stand in the prompt in full."""
        return self.always and self.is_available


def skill(folder: str, text: str) -> Skill:
    """The skill in a folder.

    Raises:
        FrontMatterError: its head cannot be read, or lacks a description.
    """
    from workers.agent.prompt.front_matter import split  # noqa: PLC0415 - few bots have skills, and YAML takes 20 ms

    head, body = split(text)
    needs = [*_needs(head)]
    always = head.get("always", False)
    if not isinstance(always, bool):
        raise FrontMatterError("the value of `always` must be true or false")
    return Skill(
        name=one_line(_word(head, "name") or folder),
        path=f"skills/{folder}/SKILL.md",
        description=one_line(_word(head, "description", needed=True), DESCRIPTION_MAX_CHARS),
        always=always,
        bins=_words(needs, "bins"),
        env=_words(needs, "env"),
        text=body,
    )


def _word(head: dict[str, Value], key: str, *, needed: bool = False) -> str:
    value = head.get(key, "")
    if not isinstance(value, str) or (needed and not value.strip()):
        raise FrontMatterError(f"the key `{key}` is missing or is not text")
    return value


def _needs(head: dict[str, Value]) -> Iterator[tuple[str, dict[str, Value]]]:
    """Each section ``requires``, with where it stands: at the top, and below what others call their own."""
    yield from _needs_in("", head)
    metadata = head.get("metadata", "")
    if isinstance(metadata, str) and metadata.lstrip().startswith("{"):  # JSON in quotation marks
        from workers.agent.prompt.front_matter import read  # noqa: PLC0415 - as in ``skill``

        metadata = read(metadata.splitlines())
    if isinstance(metadata, dict):
        for owner in OWNERS:
            section = metadata.get(owner)
            if isinstance(section, dict):
                yield from _needs_in(f"metadata.{owner}.", section)


def _needs_in(where: str, section: dict[str, Value]) -> Iterator[tuple[str, dict[str, Value]]]:
    requires = section.get("requires") or {}
    if not isinstance(requires, dict):
        raise FrontMatterError(f"{where}requires must be a section with the keys bins and env")
    yield f"{where}requires", requires


def _words(needs: Sequence[tuple[str, dict[str, Value]]], key: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for where, section in needs:
        value = section.get(key, [])
        words = value if isinstance(value, list) else [value]
        if not all(isinstance(word, str) for word in words):
            raise FrontMatterError(f"{where}.{key} must be a list of names")
        found.update(dict.fromkeys(str(word) for word in words if word))
    return tuple(found)


def listed(skills: Sequence[Skill], language: Language, max_tokens: int, count: Callable[[str], int]) -> str:
    """The section ``# Skills``: how to use one, and a line for each as far as they fit; empty when none does."""
    head = ["# Skills", "", say("skills_how", language), ""]
    lines = [_skill_line(skill, language) for skill in skills]
    sizes = [count(line) + LINE_BREAK_TOKENS for line in lines]
    room = max_tokens - count("\n".join(head))
    if sum(sizes) > room:
        sums = [*accumulate(sizes)]
        room -= count(say("skills_more", language, count=len(lines))) + LINE_BREAK_TOKENS
        lines = lines[: bisect_right(sums, room)]
        lines += [say("skills_more", language, count=len(skills) - len(lines))] if lines else []
    return "\n".join([*head, *lines]) if lines else ""


def _skill_line(skill: Skill, language: Language) -> str:
    line = f"- **{skill.name}**: {skill.description} ({skill.path})"
    if skill.is_available:
        return line
    wanted = [
        say(key, language, names=", ".join(map(one_line, names)))
        for key, names in (("skill_install", skill.missing_bins), ("skill_set", skill.missing_env))
        if names
    ]
    return f"{line} {say('skill_unavailable', language, wanted='; '.join(wanted))}"


def in_full(skills: Sequence[Skill], max_tokens: int, count: Callable[[str], int]) -> tuple[str, list[Skill]]:
    """The section ``# Active Skills``, and those that found no room in it."""
    text, left_out = "", list[Skill]()
    for skill in skills:
        if not skill.is_active:
            continue
        longer = "\n\n".join([text or "# Active Skills", f"## {skill.name} ({skill.path})", skill.text])
        if count(longer) <= max_tokens:
            text = longer
        else:
            left_out.append(skill)
    return text, left_out
