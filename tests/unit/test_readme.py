"""The README in Chinese says what the English one says: the same headings, commands, tables, names and links."""

import re
from collections import Counter
from pathlib import Path

from tests.tables import each_row

ROOT = Path(__file__).parents[2]
ENGLISH, CHINESE = (ROOT / name for name in ("README.md", "README.zh-CN.md"))
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
OWN_SECTION = re.compile(r"^## 在中国大陆使用\n.*?(?=^## )", re.MULTILINE | re.DOTALL)
"""The section on providers, mirrors and proxies in China, which only the Chinese page has."""

LINES_MAX = 120  # of the sections that both pages have


def shared(path: Path) -> str:
    return OWN_SECTION.sub("", path.read_text(encoding="utf-8"))


def sections(path: Path) -> list[tuple[int, str]]:
    parts = re.split(r"^(#+) .*$", FENCE.sub("", shared(path)), flags=re.MULTILINE)
    return [(len(level), text) for level, text in zip(parts[1::2], parts[2::2], strict=True)]


def blocks(path: Path) -> list[tuple[str, str]]:
    """Language and text of each block of code, without comments."""
    return [(language, re.sub(r"\s+# .*$", "", text, flags=re.M)) for _, language, text in FENCE.findall(shared(path))]


def rows(text: str) -> list[int]:
    return [line.count(" | ") for line in text.splitlines() if line.strip().startswith("|")]


def names(text: str) -> Counter[str]:
    """The code and the links of a text; a Chinese page counts as the English page that it translates."""
    links = re.findall(r"\]\(([^)]+)\)", re.sub(r"(docs/[\w-]+)\.zh-CN\.md", r"\1.md", text))
    return Counter(re.findall(r"`[^`]+`", text)) + Counter(links)


def test_the_headings_are_the_same() -> None:
    assert [level for level, _ in sections(CHINESE)] == [level for level, _ in sections(ENGLISH)]


def test_the_commands_are_the_same() -> None:
    assert blocks(CHINESE) == blocks(ENGLISH)
    assert len(blocks(ENGLISH)) == 3


@each_row("place", range(len(sections(ENGLISH))))
def test_a_section_names_the_same_things(place: int) -> None:
    (_, english), (_, chinese) = sections(ENGLISH)[place], sections(CHINESE)[place]
    other = Counter(["README.md", "README.zh-CN.md"])

    assert set(names(chinese.replace(".zh-CN.md", ".md")) - other) == set(names(english) - other)
    assert rows(chinese) == rows(english)
    for item in (r"^- ", r"^\d+\. "):
        assert len(re.findall(item, chinese, re.MULTILINE)) == len(re.findall(item, english, re.MULTILINE))


@each_row("path", [ENGLISH, CHINESE])
def test_it_can_be_read_in_one_go_and_leads_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]

    assert len(shared(path).splitlines()) <= LINES_MAX
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_chinese_page_has_the_addresses_of_chinese_providers_that_the_page_on_models_has() -> None:
    [own] = OWN_SECTION.findall(CHINESE.read_text(encoding="utf-8"))
    models = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")

    addresses = re.findall(r"^\|.*\| `(https://[^`]+)` \|$", own, re.MULTILINE)

    assert len(addresses) == 4
    assert [address for address in addresses if f"`{address}`" not in models] == []


def test_the_chinese_is_chinese() -> None:
    for _, text in sections(CHINESE):
        for paragraph in re.split(r"\n\s*\n", text):
            said = re.sub(r"`[^`]*`|\[[^]]*\]\([^)]*\)|[\W\d_]", "", paragraph)
            assert not said or re.search(r"[\u4e00-\u9fff]", said), paragraph
