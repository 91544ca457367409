"""House rules that no tool knows: what a package exports, what a log line may say, what a script may touch."""

import ast
import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from daemon.log import KEYS
from tests.tables import each_row

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(path for room in ("daemon", "channels", "workers") for path in (ROOT / room).rglob("*.py"))
SCRIPTS = sorted(path for room in ("daemon", "channels", "workers") for path in (ROOT / room).rglob("*.lua"))
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text().splitlines()
LEVELS = frozenset({"debug", "info", "warning", "error", "exception", "critical"})
EVENT = re.compile(r"[a-z_]+\.[a-z_]+")
OF_THE_RENDERER = frozenset({"exc_info"})  # arguments of a log call that are no keys


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    """All calls and assignments of a module that logs anything."""
    text = path.read_text()
    logs = "log." in text or "get_logger" in text or "_contextvars" in text
    return [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call | ast.Assign)] if logs else []


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


PACKAGES = [name_of(path) for path in SOURCES if path.name == "__init__.py"]


@each_row("package", PACKAGES)
def test_a_package_exports_what_it_lists(package: str) -> None:
    """What its file takes from its own modules is shown to others, unless the file itself uses it."""
    module = import_module(package)
    listed = getattr(module, "__all__", [])
    tree = ast.parse((ROOT / package.replace(".", "/") / "__init__.py").read_text())
    imported = set(names_imported_from(tree, package))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    made = set(names_made_by(tree))

    assert [name for name in listed if not hasattr(module, name)] == []
    assert len(listed) == len(set(listed))
    assert imported - used <= set(listed), "imported and neither listed nor used"
    assert set(listed) <= imported | made, "listed and from elsewhere"


@each_row("package", PACKAGES)
def test_a_package_says_its_task_its_public_names_and_where_to_begin(package: str) -> None:
    """The first sentence is that of docs/architecture.md. A name in the paragraph on public names is one."""
    task, _, rest = (import_module(package).__doc__ or "").partition("\n\n")
    public, _, begin = " ".join(rest.split()).partition("Begin with ")
    named = re.findall(r"``([A-Za-z]\w*)``", public)
    row = f"| `{package.replace('.', '/')}` | {task.replace('``', '`').removesuffix('.')} |"

    assert task.endswith(".") and row in ARCHITECTURE
    assert named if public.startswith("Public: ") else public.startswith("No public names")
    assert [name for name in named if not hasattr(import_module(package), name)] == []
    assert begin.startswith("``")


def names_imported_from(tree: ast.AST, package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package):
            yield from (alias.asname or alias.name for alias in node.names)


def names_made_by(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def log_calls(path: Path) -> Iterator[ast.Call]:
    for node in nodes(path):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="log" | "_log"), attr=level)) if level in LEVELS:
                yield node


@each_row("path", SOURCES)
def test_a_log_line_has_a_static_event_and_known_keys(path: Path) -> None:
    for call in log_calls(path):
        where = f"{path}:{call.lineno}"
        assert len(call.args) == 1, f"{where}: an event and nothing else by position"
        assert all(EVENT.fullmatch(event) for event in events_of(call.args[0])), f"{where}: not noun.verb"
        unknown = {keyword.arg for keyword in call.keywords} - KEYS - OF_THE_RENDERER
        assert not unknown, f"{where}: keys that daemon/log.py does not name: {unknown}"
        assert "qmd" in path.parts or not any(map(quotes_an_error, call.keywords)), (
            f"{where}: an error's words; log brief(error)"
        )


def quotes_an_error(keyword: ast.keyword) -> bool:
    """Whether a value is the text of an error, which may hold words of a conversation; that of QMD holds none."""
    for node in ast.walk(keyword.value):
        match node:
            case ast.Call(func=ast.Name(id="str" | "repr"), args=[ast.Name(id="error" | "no")]):
                return True
            case ast.FormattedValue(value=ast.Name(id="error" | "no")):
                return True
            case _:
                pass
    return False


def events_of(node: ast.expr) -> list[str]:
    match node:
        case ast.Constant(value=str(event)):
            return [event]
        case ast.IfExp(body=body, orelse=orelse):
            return events_of(body) + events_of(orelse)
        case ast.JoinedStr(values=[ast.Constant(value="turn."), ast.FormattedValue(value=ast.Name(id="outcome"))]):
            return ["turn.outcome"]
        case _:
            return [f"not static: {ast.unparse(node)}"]


def test_bound_keys_are_known_too() -> None:
    for path in SOURCES:
        for node in nodes(path):
            match node:
                case ast.Call(func=ast.Attribute(attr="bound_contextvars" | "bind_contextvars"), keywords=keywords):
                    assert {keyword.arg for keyword in keywords} <= KEYS, f"{path}:{node.lineno}"


def test_every_logger_is_named_so_that_these_rules_find_it() -> None:
    for path in SOURCES:
        for node in nodes(path):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="get_logger"))):
                    assert name in ("log", "_log"), path


def test_a_module_is_one_noun_and_no_catch_all() -> None:
    forbidden = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "misc"}

    assert [path for path in SOURCES if path.stem in forbidden] == []
    assert [path for path in SCRIPTS if path.parent.name != "lua"] == []
    assert [path for path in (*SOURCES, *SCRIPTS) if len(path.read_text().splitlines()) > 400] == []
    assert [room for room, count in Counter(path.parent for path in SOURCES).items() if count > 25] == []


PLATFORMS = frozenset({"discord", "feishu", "slack", "telegram", "terminal", "testing", "webhook"})
PARALLELS = frozenset(
    {"api", "api_outcome", "api_types", "attachments", "channel", "event_inlet", "files", "health_check", "markdown"}
    | {
        "emoji_reactions",
        "event_source",
        "events_endpoint",
        "message_lookup",
        "message_sender",
        "text_forms",
        "thread_history",
    }
    | {"buttons", "message_content", "slash_commands", "updates", "user_directory"}
)
"""Modules with the same task for different platforms."""

SERVICES = {"terminal", "web", "agent", "consolidation"}
"""Folders whose ``service.py`` is the service of a role."""


def test_a_file_name_stands_once_or_for_the_same_task_on_another_platform() -> None:
    folders: dict[str, list[str]] = {}
    for path in SOURCES:
        if path.name != "__init__.py":
            folders.setdefault(path.stem, []).append(path.parent.name)
    shared = {stem: parents for stem, parents in folders.items() if len(parents) > 1}
    others = {
        stem: parents
        for stem, parents in shared.items()
        if not (stem == "service" and set(parents) <= SERVICES)
        and not (stem in PARALLELS and set(parents) <= PLATFORMS)
    }

    assert others == {}, "give the more general module a narrower name"
    assert sum(map(len, shared.values())) <= len(SOURCES) / 10


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_constraints_pin_every_dependency_by_name_and_version_alone() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {normal(line.partition("==")[0]) for line in lines if not line.startswith("#")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for extra in project["project"]["optional-dependencies"].values():
        wanted += extra
    names = {normal(re.split(r"[\[<>=!~; ]", requirement)[0]) for requirement in wanted} - {"millpond"}

    assert [line for line in lines if not re.fullmatch(r"#.*|[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)] == []
    assert names - pinned == set()


def test_nothing_in_the_tree_says_where_packages_come_from() -> None:
    mirrors = re.compile(r"https://(pypi\.tuna\.tsinghua\.edu\.cn/simple|mirrors\.aliyun\.com/pypi/simple/)")
    hosts = re.compile(r"index-url|trusted-host|find-links|pypi\.org/simple|files\.pythonhosted|/simple/?[\"'\s]", re.I)
    suffixes = {".py", ".lua", ".toml", ".txt", ".md", ".cfg", ".ini", ".yml", ".yaml", ".js", ".html", ".css", ""}
    folders = ("daemon", "channels", "workers", "docs", "deploy", "benchmarks", ".ci", "requirements")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")] + list(ROOT.glob("*"))
    found = [
        path
        for path in files
        if path.is_file()
        and path.suffix in suffixes
        and hosts.search(mirrors.sub("", path.read_text(errors="replace")))
    ]

    assert found == []


@each_row("path", SCRIPTS)
def test_a_script_touches_only_keys_that_it_declares(path: Path) -> None:
    """On a cluster an undeclared key fails a script in the middle: each is KEYS[n], or so named and taken from KEYS.

    Or several stand in a list that is named so, into which only such keys are put.
    """
    text = re.sub(r"--.*", "", path.read_text())
    calls = re.findall(r"redis\.call\(\s*'(\w+)'\s*(?:,\s*(unpack\(\w+_keys\)|[^,()\s]+(?:\[[^\]]*\])?))?", text)
    parameters = {
        name.strip()
        for signature in re.findall(r"local function \w+\(([^)]*)\)|local ([\w, ]+) = unpack\(KEYS\b", text)
        for name in ",".join(signature).split(",")
        if name.strip().endswith("_key")
    }

    assert "redis.pcall" not in text
    assert all(key in parameters for key in re.findall(r"\w+_keys\[[^\]]*\] = (\w+)", text))
    for command, key in calls:
        if command not in ("TIME", "PUBLISH"):
            assert re.fullmatch(r"KEYS\[\d+\]|unpack\(\w+\)", key) or key in parameters, f"{command} {key}"
    assert text.count("redis.call(") == len(calls)


@each_row("path", SCRIPTS)
def test_functions_of_a_script_are_given_keys_that_it_declares(path: Path) -> None:
    text = re.sub(r"--.*", "", path.read_text())
    for arguments in re.findall(r"(?<!function )\bbegin\(([^()]*)\)", text):
        keys = [part.strip() for part in arguments.split(",")][3:7]
        assert all(re.fullmatch(r"KEYS\[\d+\]|\w+_key", key) for key in keys), f"begin({arguments})"


@each_row("path", [path for path in SCRIPTS if ".part." not in path.name])
def test_a_script_lists_its_keys_arguments_and_what_it_returns(path: Path) -> None:
    comment = "\n".join(line for line in path.read_text().splitlines() if line.startswith("--"))

    assert "-- KEYS" in comment and "-- ARGV" in comment and "-- Returns" in comment
    used = {int(number) for number in re.findall(r"KEYS\[(\d+)\]", path.read_text())}
    assert used == set(range(1, len(used) + 1))
