"""Skills: the head of their files, and what a model is told of them."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.limits import HANG_S
from tests.tables import each_row
from workers.agent.prompt.front_matter import split
from workers.agent.prompt.skills import FrontMatterError, Skill, in_full, listed, skill

ROOT = Path(__file__).parents[2]


def head(text: str) -> object:
    return split(f"---\n{text}\n---\n")[0]


@each_row(
    ("text", "value"),
    [
        ("name: release", {"name": "release"}),
        ("description: How to publish: step by step.", {"description": "How to publish: step by step."}),
        ("a: 'it''s'  # why", {"a": "it's"}),
        (r'a: "x\n\"y\""', {"a": 'x\n"y"'}),
        ("always: true\nb: false", {"always": True, "b": False}),
        ("n: 7", {"n": "7"}),
        ("a: [git, 'g h', \"i\"]", {"a": ["git", "g h", "i"]}),
        ("a: []", {"a": []}),
        ("a: {bins: [gh], env: [T]}", {"a": {"bins": ["gh"], "env": ["T"]}}),
        ('metadata: {"bot": {"n": 1, "l": [true, null]}}', {"metadata": {"bot": {"n": "1", "l": [True, "null"]}}}),
        ("requires:\n  bins:\n    - git\n    - gh\n  env: [T]", {"requires": {"bins": ["git", "gh"], "env": ["T"]}}),
        ("a:\n- one\n- two\nb: x", {"a": ["one", "two"], "b": "x"}),
        ("a: >-\n  one\n  two\n\n  three\nb: x", {"a": "one two\nthree", "b": "x"}),
        ("a: |\n  one\n    two\nb: x", {"a": "one\n  two", "b": "x"}),
        ("# a comment\n\na: x # another", {"a": "x"}),
        ("a:", {"a": ""}),
        ("地点: x", {"地点": "x"}),
        ("a: http://h/p#q", {"a": "http://h/p#q"}),
    ],
)
def test_the_small_part_of_yaml_that_people_write_is_read(text, value):
    assert head(text) == value


@each_row(
    ("text", "said"),
    [
        ("no head at all", "the first line of the file must be ---"),
        ("---\nname: x", "the front matter has no closing --- line"),
        ("---\njust words\n---", "line 2: the front matter does not have the form key: value"),
        ("---\na: x\na: y\n---", "line 3: the key a occurs more than once"),
        ("---\na: 'x\n---", "line 3: the closing quotation mark is missing"),
        ("---\na: [x\n---", "line 3"),
        ("---\na: {b]\n---", "line 2"),
        ("---\na: [x] y\n---", "line 2"),
        ("---\na: x\n  b: y\n---", "line 3: the front matter does not have the form key: value"),
        ("---\na: " + "[" * 50 + "\n---", "line 2: the front matter is nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_line(text, said):
    with pytest.raises(FrontMatterError, match=said.replace("[", r"\[")):
        split(text)


@given(st.text(alphabet=st.sampled_from("ab:-[]{}'\",#>|\\ \n\tä"), max_size=80))
def test_any_text_is_read_or_refused(text):
    try:
        found, body = split(f"---\n{text}\n---\nbody")
    except FrontMatterError:
        return
    assert isinstance(found, dict)
    assert body.endswith("body")


def test_nested_sections_end_at_some_depth():
    with pytest.raises(FrontMatterError, match="nested too deeply"):
        head("\n".join(f"{' ' * depth}a:" for depth in range(200)) + f"\n{' ' * 200}b: x")


def test_a_skill_says_its_name_what_it_is_for_and_what_it_needs():
    text = (
        "---\nname: gh\ndescription: |\n  Work with\n  GitHub.\nrequires:\n  bins: gh\n  env: [TOKEN]\n---\n\nDo it.\n"
    )

    found = skill("github", text)

    assert found == Skill(
        name="gh",
        path="skills/github/SKILL.md",
        description="Work with GitHub.",
        bins=("gh",),
        env=("TOKEN",),
        text="Do it.",
    )


@each_row("text", ["name: x", "description: ''", "description: d\nalways: maybe", "description: d\nrequires: [gh]"])
def test_a_skill_that_does_not_say_what_it_is_for_is_broken(text):
    with pytest.raises(FrontMatterError):
        skill("x", f"---\n{text}\n---\n")


def made(name: str, **fields: object) -> Skill:
    return Skill(name=name, path=f"skills/{name}/SKILL.md", description="d", text="how", **fields)  # type: ignore[arg-type]


def test_the_list_says_what_is_there_and_what_to_install_in_both_languages():
    skills = [made("one"), made("two", missing_bins=("gh", "jq"), missing_env=("TOKEN",))]

    english, chinese = (listed(skills, language, 1_000, len) for language in ("en", "zh"))

    assert english.startswith("# Skills\n\nBefore you use a skill, ")
    assert "- **one**: d (skills/one/SKILL.md)\n" in english
    assert english.endswith("(skills/two/SKILL.md) [not available: install gh, jq; set TOKEN]")
    assert chinese.endswith("[不可用：需要安装 gh, jq; 需要设置 TOKEN]")
    assert listed([], "en", 1_000, len) == ""


@given(st.integers(0, 60), st.integers(0, 3_000))
def test_the_list_keeps_within_its_room_and_says_how_many_more_there_are(number, room):
    skills = [made(f"skill-{at}") for at in range(number)]

    text = listed(skills, "en", room, len)

    assert len(text) <= room
    shown = text.count("- **")
    if text and shown < number:
        assert text.endswith(f"and {number - shown} more skills in the skills folder")


def test_only_available_skills_marked_always_stand_in_full():
    skills = [made("plain"), made("always", always=True), made("lacking", always=True, missing_bins=("gh",))]

    text, left_out = in_full(skills, 1_000, len)

    assert text == "# Active Skills\n\n## always (skills/always/SKILL.md)\n\nhow"
    assert left_out == []
    assert in_full(skills, 10, len) == ("", [skills[1]])


def test_a_worker_imports_yaml_only_for_a_skill():
    code = "import sys, workers.agent.service; print('yaml' in sys.modules)"

    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=HANG_S, check=True
    )

    assert result.stdout == "False\n"
