"""The documentation says what the code does: names, keys and fields in it are compared with the code."""

import ast
import functools
import inspect
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from daemon.bus import Keys
from daemon.bus.channel_names import ChannelNames
from tests.tables import each_row

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
DECISIONS = sorted(path for path in (DOCS / "decisions").glob("*.md") if path.name != "README.md")

TERMS = (
    *("account", "bucket", "fallback"),
    *("attempt", "back-off", "backlog", "base", "bootstrap file", "bot", "budget", "channel instance"),
    *("claim", "claim number", "commit", "compaction", "consolidation", "correlation id", "cursor", "dead letter"),
    "deadline",
    *("debounce", "dispatcher", "due", "fence", "flush", "grace time", "hand over", "head", "hint", "inbound"),
    *(
        "interrupted", "job", "journal", "lease", "live text", "log", "delivery mark", "nonce", "notice",
        "out-of-band reply", "outbox", "park",
    ),
    *("part", "partition", "ready", "reaper", "release", "reply", "role", "scope", "service", "session"),
    *("session key", "slot", "start", "step", "stop", "take", "transcript", "turn", "unknown outcome"),
    *("wake-up", "pending", "wire", "worker", "workspace"),
)  # fmt: skip
"""Words that stand in the code and mean one thing there."""

EXAMPLES = (
    {"partition": 0, "session": "<s>", "message_id": "<id>", "channel": "<channel>", "reply": "<reply>"}
    | {name: f"<{name}>" for name in ("day", "kind", "bot", "name", "scope")}
    | {"place": "<place>"}
    | {"approval_id": "<id>", "job_id": "<id>", "nonce": "<nonce>", "code": "<code>", "person": "<person>"}
    | {
        "bucket": "<bucket>",
        "digest": "<hash>",
        "minute": "<minute>",
        "hour": "<hour>",
        "server": "<host>",
        "model": "<model>",
        "account": "<account>",
    }
)
"""What the pages write for the arguments of the methods of ``Keys``."""


@functools.cache
def names_in(path):
    """Every class, function, method and constant that a module defines, methods as ``Class.method``."""
    names = set()

    def add(node, prefix):
        for child in node.body:
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                names.add(prefix + child.name)
                if isinstance(child, ast.ClassDef):
                    add(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.Assign):
                names.update(prefix + target.id for target in child.targets if isinstance(target, ast.Name))
            elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
                names.add(prefix + child.target.id)

    add(ast.parse(path.read_text(encoding="utf-8")), "")
    return names


def key_patterns():
    """The names of all keys and channels that ``Keys`` makes, as the pages write them, each with its docstring."""
    keys = Keys(prefix="mp", partitions=1)
    patterns = {}
    for name, member in {**vars(Keys), **vars(ChannelNames)}.items():
        if name.startswith("_") or name in ("partition", "of", "accepting", "claiming", "committing", "delivering"):
            continue
        if isinstance(member, property):
            key, doc = getattr(keys, name), member.__doc__
        elif inspect.isfunction(member):
            arguments = [EXAMPLES[argument] for argument in inspect.signature(member).parameters if argument != "self"]
            key, doc = member(keys, *arguments), member.__doc__
        else:
            continue
        patterns[unquote(key).replace("{0}", "{n}")] = doc or ""
    return patterns


@functools.cache
def key_sections():
    """Text below each key's heading in the pages about keys, by the key."""
    names = ("redis.md", "redis-session.md", "redis-memory.md", "redis-database.md", "reminders.md", "metrics.md")
    pages = "\n".join((DOCS / name).read_text(encoding="utf-8") for name in names)
    parts = re.split(r"^### `([^`]+)`$", pages, flags=re.MULTILINE)
    return {
        key: re.split(r"^## ", text, flags=re.MULTILINE)[0] for key, text in zip(parts[1::2], parts[2::2], strict=True)
    }


def hash_fields_in_scripts():
    """Fields of the session hash that the Lua scripts read or write."""
    fields = set()
    rooms = ("bus/lua/*", "session/lua/*", "transcripts/lua/*", "forget/lua/replace")
    for script in sorted(script for room in rooms for script in (ROOT / "daemon").glob(f"{room}.lua")):
        if script.name == "migrate.lua":
            continue  # it is about `mp:meta`
        text = re.sub(r"--.*", "", script.read_text(encoding="utf-8"))
        for command in re.findall(r"redis\.call\(\s*'H[A-Z]+',([^()]*(?:\([^()]*\)[^()]*)*)\)", text):
            fields.update(re.findall(r"'([a-z_]+)'", command))
    return fields


def test_the_glossary_has_every_term_of_the_code():
    terms = set(re.findall(r"^- \*\*([^*]+)\*\*", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE))

    assert set(TERMS) - terms == set()


def test_the_glossary_is_alphabetical_and_says_each_word_once():
    terms = re.findall(r"^- \*\*([^*]+)\*\*", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert terms == sorted(set(terms), key=lambda term: term.casefold().replace("-", " "))


def test_the_front_page_links_to_every_page():
    linked = set(re.findall(r"\]\(([^)#]+)", (DOCS / "README.md").read_text(encoding="utf-8")))

    assert {path.name for path in DOCS.glob("*.md")} - linked == {"README.md"}


@each_row("page", PAGES)
def test_what_a_page_links_to_is_there(page):
    text = page.read_text(encoding="utf-8")

    missing = [
        target
        for target in re.findall(r"\]\(([^)\s]+)\)", text)
        if not target.startswith(("http://", "https://", "#")) and not (page.parent / target.split("#")[0]).exists()
    ]

    assert missing == []


@each_row("page", PAGES)
def test_code_that_a_page_names_exists(page):
    mentions = re.findall(r"`((?:[\w.]+/)*\w+\.py):([A-Za-z_][\w.]*)`", page.read_text(encoding="utf-8"))

    missing = [
        f"{path}:{name}" for path, name in mentions if not (ROOT / path).is_file() or name not in names_in(ROOT / path)
    ]

    assert missing == []


@each_row("page", PAGES)
def test_tests_that_a_page_names_exist(page):
    named = re.findall(r"`((?:tests/[\w/]+/)?test_\w+\.py|tests/[\w/]+)`", page.read_text(encoding="utf-8"))

    assert [name for name in named if not ((ROOT / name).exists() or list((ROOT / "tests").rglob(name)))] == []


def test_the_page_on_adapters_says_how_long_they_are():
    rows = re.findall(r"^\| (.+) \| ([\d,]+) \|$", (DOCS / "channels.md").read_text(encoding="utf-8"), re.MULTILINE)
    stated = {name.strip("`"): int(lines.replace(",", "")) for name, lines in rows}
    example = (DOCS / "channels-example.md").read_text(encoding="utf-8")
    counted = {"the example": sum(map(_lines, re.findall(r"^```python \S+\n(.*?)^```$", example, re.M | re.S)))}
    own = [each for each in stated if each.startswith("channels/")]
    counted |= {each: _lines_in(ROOT / each) for each in own}
    foreign = {"channels/web", "channels/terminal", "channels/testing"}
    counted["shared by all adapters"] = _lines_in(ROOT / "channels") - sum(
        _lines_in(ROOT / each) for each in {*own, *foreign}
    )

    assert {name.partition("]")[0].strip("["): lines for name, lines in stated.items()} == {
        name: pytest.approx(lines, rel=0.1) for name, lines in counted.items()
    }


def _lines(text):
    return len(text.splitlines())


def _lines_in(folder):
    files = (path for end in ("py", "lua") for path in folder.rglob(f"*.{end}"))
    return sum(_lines(path.read_text(encoding="utf-8")) for path in files)


def test_the_walk_links_each_piece_of_code_to_the_file_it_names():
    text = "".join((DOCS / name).read_text(encoding="utf-8") for name in ("walk.md", "walk-cases.md"))
    linked = re.findall(r"\[`([^`:]+\.(?:py|lua))(?::[\w.]+)?`\]\(([^)]+)\)", text)

    wrong = [path for path, target in linked if target != f"../{path}"]

    assert len(linked) > 20
    assert wrong == []


def test_redis_page_has_every_key_and_channel_and_no_other():
    # A process's own channel, no key and no event: it only keeps a subscription open.
    expected = {*key_patterns(), "mp:listeners"}

    assert set(key_sections()) == expected


@each_row(("key", "doc"), key_patterns().items())
def test_redis_page_says_the_time_to_live_that_the_code_says(key, doc):
    section = " ".join(key_sections()[key].split())

    for setting in re.findall(r"TTL ``([\w.]+)``", doc):
        assert f"TTL `{setting}`" in section


def test_redis_page_shows_every_key_with_a_command():
    channels = {"mp:commands", "mp:nudges", "mp:leaders", "mp:rulings", "mp:events:<s>"}

    silent = [key for key, text in key_sections().items() if "$ millpond redis-cli " not in text]

    assert set(silent) == channels


def test_redis_page_explains_each_field_of_the_session_hash_and_no_other():
    section = key_sections()["mp:{n}:session:<s>"]
    explained = set(re.findall(r"^\| `([a-z_]+)` \|", section, re.MULTILINE))

    assert {"base", "nonce", "stop_upto", "parked_at"} <= explained
    assert explained == hash_fields_in_scripts()


@each_row("path", DECISIONS)
def test_a_decision_has_the_form(path):
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)

    assert re.match(rf"# {path.name[:3]}\b", text)
    assert headings == ["Context", "Choice", "Costs", "When to reconsider"]


def test_decisions_are_listed_and_their_numbers_are_used_once():
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[\d{3}\]\(([^)]+)\)", index, re.MULTILINE)

    assert listed == [path.name for path in DECISIONS]
    assert len({path.name[:3] for path in DECISIONS}) == len(DECISIONS)
