"""Skills as people publish them: OpenClaw's and nanobot's heads, heads that are nearly YAML, and bombs."""

import os
import time
from pathlib import Path

import pytest

from tests.tables import each_row
from workers.agent.prompt import front_matter
from workers.agent.prompt.front_matter import HEAD_MAX_CHARS, split
from workers.agent.prompt.skills import FrontMatterError, skill
from workers.agent.prompt.workspace import Unreadable, Workspace, read_files

OPENCLAW = """---
name: github
description: "Interact with GitHub using the `gh` CLI: issues, PRs and runs."
homepage: https://cli.github.com
metadata:
  {
    "openclaw":
      {
        "emoji": "🐙",
        "requires": { "bins": ["gh"], "env": ["GH_TOKEN"] },
        "install":
          [
            {
              "id": "brew",
              "kind": "brew",
              "formula": "gh",
              "bins": ["gh"],
              "label": "Install GitHub CLI (brew)",
            },
          ],
      },
  }
---

# GitHub
"""


def test_a_skill_of_openclaw_has_json_over_many_lines_and_says_what_it_needs():
    found = skill("github", OPENCLAW)

    assert (found.name, found.bins, found.env, found.text) == ("github", ("gh",), ("GH_TOKEN",), "# GitHub")
    assert found.description == "Interact with GitHub using the `gh` CLI: issues, PRs and runs."


@each_row("change", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_a_byte_order_mark_and_lines_of_windows_change_nothing(change):
    assert skill("github", change(OPENCLAW)) == skill("github", OPENCLAW)


def test_json_may_be_indented_with_tabs_and_come_in_quotation_marks():
    tabs = skill("x", OPENCLAW.replace("    ", "\t"))
    quoted = skill("x", '---\ndescription: d\nmetadata: \'{"nanobot":{"requires":{"bins":["tmux"]}}}\'\n---\n')

    assert tabs.bins == ("gh",)
    assert quoted.bins == ("tmux",)


def test_what_a_skill_needs_is_gathered_from_the_top_and_from_below_each_owner():
    text = (
        "---\ndescription: d\nrequires: {bins: git}\nmetadata:\n"
        '  nanobot: {"emoji":"🧾","requires":{"bins":["summarize","git"],"env":[]}}\n'
        "  openclaw:\n    requires:\n      bins:\n      - jq\n  somebody: 1\n---\n"
    )

    assert skill("x", text).bins == ("git", "jq", "summarize")


@each_row(
    ("head", "value"),
    [
        ("description:\n  Starts on the next line\n  and goes on.", "Starts on the next line and goes on."),
        (
            "description: Starts here\n  and goes on: there,\n  to the end.\nname: x",
            "Starts here and goes on: there, to the end.",
        ),
        ("description: >\n  Folded\n  text.\n", "Folded text."),
        ("description: |-\n  As it\n  stands.\n", "As it\nstands."),
        ("'description': quoted key", "quoted key"),
        ('"description": "a \\"b\\" \\u00e9"', 'a "b" é'),
        ("description: Use when: always", "Use when: always"),
        ("description: it's `x`: y  # why", "it's `x`: y"),
        ("description: *bold* words", "*bold* words"),
        ("description: @someone's", "@someone's"),
        ("description: !important", "!important"),
        ("description: &c. and so on", "&c. and so on"),
        ("description: 100%: all", "100%: all"),
        ("tags:\n  - one: 1\n    two: [a]\n  - one: 2\ndescription: a list of maps", "a list of maps"),
        ("description: 2026-11-20", "2026-11-20"),
        ("\n# a comment\ndescription: d", "d"),
    ],
)
def test_a_description_is_read_however_people_write_it(head, value):
    assert split(f"---\n{head}\n---\n")[0]["description"] == value


def bombs() -> dict[str, str]:
    laughs = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    return {
        "aliases": laughs,
        "itself": "a:\n  &a [*a]",
        "brackets": "a: " + "[" * 20_000,
        "sections": "a: " + "{a: " * 5_000,
        "indented": "\n".join(" " * depth + "a:" for depth in range(200)),
        "size": "a: x\n" + "b" * HEAD_MAX_CHARS,
        "values": "a: [" + "x," * 20_000 + "]",
        "lines": "".join(f"a{n}: b: c\n" for n in range(5_000)),
        "objects": "a: [!!python/object/apply:os.system ['true']]",
    }


@each_row("name", bombs())
def test_a_bomb_is_refused_soon_and_says_where(name):
    began = time.process_time()

    with pytest.raises(FrontMatterError, match=r"^line \d+: |^the front matter has more than"):
        split(f"---\n{bombs()[name]}\n---\n")

    assert time.process_time() - began < 10, "CPU time, not of the machine"


def test_without_the_library_in_c_the_same_is_read(monkeypatch):
    found = split(OPENCLAW)
    monkeypatch.setattr(front_matter, "_Loader", front_matter.yaml.SafeLoader)

    assert split(OPENCLAW) == found
    for name, bomb in bombs().items():
        if name not in ("lines", "size"):
            with pytest.raises(FrontMatterError):
                split(f"---\n{bomb}\n---\n")


def put(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def test_every_file_that_cannot_be_read_is_named_with_the_reason(tmp_path):
    put(tmp_path / "AGENTS.md", b"\xff\xfe\x00")
    put(tmp_path / "SOUL.md", "fine")
    put(tmp_path / "skills" / "broken" / "SKILL.md", "---\nname: x\ndescription: 'y\n---\n")
    put(tmp_path / "skills" / "fine" / "SKILL.md", "---\ndescription: d\n---\n")
    (tmp_path / "skills" / "linked").symlink_to(tmp_path / "skills" / "fine")
    put(tmp_path / "skills" / os.fsdecode(b"bad\xff") / "SKILL.md", "---\ndescription: d\n---\n")
    put(tmp_path / "skills" / "odd" / "SKILL.md", b"---\ndescription: \xff\n---\n")

    files = read_files(tmp_path)

    assert [each.name for each in files.skills] == ["fine"]
    found = {each.path: each.reason for each in files.unreadable}
    assert found == {
        "AGENTS.md": "the file is not UTF-8. Save it as UTF-8",
        "skills/bad /SKILL.md": "the folder's name contains characters that cannot be printed. Rename the folder",
        "skills/broken/SKILL.md": "line 4: the closing quotation mark is missing",
        "skills/linked/SKILL.md": (
            "the folder is a symbolic link, and Millpond does not follow links. Copy the folder itself into the "
            "workspace"
        ),
        "skills/odd/SKILL.md": "the file is not UTF-8. Save it as UTF-8",
    }


async def test_a_workspace_tells_what_it_could_not_read_until_it_is_mended(tmp_path, monkeypatch):
    monkeypatch.setattr("workers.agent.prompt.workspace.CHECK_S", 0.0)
    put(tmp_path / "skills" / "x" / "SKILL.md", "no head")
    workspace = Workspace(tmp_path)

    await workspace.files()
    broken = workspace.unreadable
    put(tmp_path / "skills" / "x" / "SKILL.md", "---\ndescription: d\n---\n")
    await workspace.files()

    assert broken == (Unreadable(path="skills/x/SKILL.md", reason="the first line of the file must be ---"),)
    assert workspace.unreadable == ()
