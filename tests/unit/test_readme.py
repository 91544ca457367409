"""The README in Chinese says what the English one says: the same headings, commands, tables, names and links."""

import re
from collections import Counter
from pathlib import Path

from tests.tables import each_row

ROOT = Path(__file__).parents[2]
ENGLISH, CHINESE = (ROOT / name for name in ("README.md", "README.zh-CN.md"))
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
LINES_MAX = 400


def sections(path: Path) -> list[tuple[int, str]]:
    parts = re.split(r"^(#+) .*$", FENCE.sub("", path.read_text(encoding="utf-8")), flags=re.MULTILINE)
    return [(len(level), text) for level, text in zip(parts[1::2], parts[2::2], strict=True)]


def blocks(path: Path) -> list[tuple[str, str]]:
    """Language and text of each block of code, without what is said to people."""
    found = FENCE.findall(path.read_text(encoding="utf-8"))
    return [(language, commands(text)) for _, language, text in found if "─" not in text]


def commands(text: str) -> str:
    """What a machine would read: without comments, and of a list of chat commands the first column."""
    lines = [re.sub(r"\s+# .*$", "", line).rstrip() for line in text.splitlines()]
    if all(line.startswith("/") for line in text.splitlines()):
        lines = [line[:22].rstrip() for line in lines]
    return "\n".join(lines)


def rows(text: str) -> list[int]:
    return [line.count(" | ") for line in text.splitlines() if line.strip().startswith("|")]


def names(text: str) -> Counter[str]:
    """What is meant literally: code in a line, and where links lead to."""
    return Counter(re.findall(r"`[^`]+`", text)) + Counter(re.findall(r"\]\(([^)]+)\)", text))


def test_the_headings_are_the_same() -> None:
    assert [level for level, _ in sections(CHINESE)] == [level for level, _ in sections(ENGLISH)]


def test_the_commands_are_the_same() -> None:
    assert blocks(CHINESE) == blocks(ENGLISH)
    assert len(blocks(ENGLISH)) > 15


@each_row("place", range(len(sections(ENGLISH))))
def test_a_section_names_the_same_things(place: int) -> None:
    (_, english), (_, chinese) = sections(ENGLISH)[place], sections(CHINESE)[place]
    other = Counter(["README.md", "README.zh-CN.md"])

    assert set(names(chinese) - other) == set(names(english) - other)
    assert rows(chinese) == rows(english)
    for item in (r"^- ", r"^\d+\. "):
        assert len(re.findall(item, chinese, re.MULTILINE)) == len(re.findall(item, english, re.MULTILINE))


@each_row("path", [ENGLISH, CHINESE])
def test_it_can_be_read_in_one_go_and_leads_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]

    assert len(text.splitlines()) <= LINES_MAX
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_chinese_is_chinese() -> None:
    for _, text in sections(CHINESE):
        for paragraph in re.split(r"\n\s*\n", text):
            said = re.sub(r"`[^`]*`|\[[^]]*\]\([^)]*\)|[\W\d_]", "", paragraph)
            assert not said or re.search(r"[\u4e00-\u9fff]", said), paragraph
