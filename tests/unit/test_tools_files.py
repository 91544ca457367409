"""The tools for files: what they do, and that nothing outside a scope's folders can be reached with them."""

import os
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import anyio
import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from daemon.errors import ToolError
from daemon.model import ToolCall
from daemon.scope import folder_of
from daemon.testing import ManualClock
from tests.limits import HANG_S
from tests.recalllab import NO_RECALL
from tests.tables import each_row
from workers.tools import BUILTIN, FileAccess, Saying, ToolContext, ToolResult
from workers.tools import file_search as grep_module
from workers.tools.command_sandbox import Shell
from workers.tools.file_writing import replaced
from workers.tools.read_file import LINE_MAX_CHARS
from workers.tools.tool_result import RESULT_MAX_CHARS
from workers.tools.web import WebAccess

SCOPE = "pond:person:web:ann"
OTHER = "pond:person:web:bob"
NO_WEB = cast("WebAccess", None)  # nothing is fetched here

SECRET = "the secret of somebody else"

Use = Callable[..., Awaitable[str]]


def a_context(workspace: Path, *, scope: str = SCOPE) -> ToolContext:
    async def say(_context: ToolContext, _saying: Saying) -> str:
        raise AssertionError("nothing is said here")

    async def compact(_focus: str) -> str:
        raise AssertionError("nothing is compacted here")

    async def remind(_context: ToolContext, _arguments: Mapping[str, Any]) -> str:
        raise AssertionError("nobody is reminded here")

    return ToolContext(
        clock=ManualClock(),
        time_zone="UTC",
        bot="pond",
        session="web:ann",
        scope=scope,
        turn=4,
        nonce="n",
        folders=FileAccess(workspace, scope),
        say=say,
        compact=compact,
        recaller=NO_RECALL,
        web=NO_WEB,
        shell=cast("Shell", None),
        remind=remind,
        call="1-0",
    )


async def result_of(context: ToolContext, name: str, **arguments: Any) -> ToolResult:
    call = ToolCall(id="c", name=name, arguments=msgspec.json.encode(arguments).decode())
    with anyio.fail_after(HANG_S):
        return await BUILTIN.run(call, context, timeout_s=HANG_S)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text(SECRET)
    return folder


@pytest.fixture
def workspace(tmp_path: Path, outside: Path) -> Path:
    """A bot's workspace with two people's files and memory, and a skill."""
    root = tmp_path / "pond"
    for scope, text in ((SCOPE, "mine"), (OTHER, SECRET)):
        for kind in ("files", "memory"):
            (root / kind / folder_of(scope)).mkdir(parents=True)
            (root / kind / folder_of(scope) / "note.md").write_text(text)
    (root / "memory" / "MEMORY.md").write_text("of the workspace")
    (root / "skills" / "tea").mkdir(parents=True)
    (root / "skills" / "tea" / "SKILL.md").write_text("boil water\n")
    (root / "config.toml").write_text(SECRET)
    return root


@pytest.fixture
def files(workspace: Path) -> Path:
    return workspace / "files" / folder_of(SCOPE)


@pytest.fixture
def use(workspace: Path) -> Use:
    """Runs a tool; gives the text of its result."""

    async def run(name: str, *, scope: str = SCOPE, **arguments: Any) -> str:
        return (await result_of(a_context(workspace, scope=scope), name, **arguments)).text

    return run


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_what_was_written_can_be_read_changed_listed_and_found(use: Use, files: Path) -> None:
    assert await use("write_file", path="notes/today.md", content="one\ntwo\n") == "wrote 8 bytes to notes/today.md"
    assert await use("read_file", path="./notes//today.md") == "one\ntwo\n"
    assert await use("edit_file", path="notes/today.md", old_text="two", new_text="three") == "changed notes/today.md"

    assert (files / "notes" / "today.md").read_text() == "one\nthree\n"
    assert "notes/\n" in await use("list_files") + "\n"
    assert await use("list_files", path="notes") == "notes/today.md (10 bytes)"
    assert await use("grep", pattern="^t.*e$") == "notes/today.md:2: three"
    assert names_in(files / "notes") == ["today.md"], "nothing is left lying about"


async def test_skills_and_the_scopes_memory_can_be_read_and_not_written(use: Use) -> None:
    assert await use("read_file", path="skills/tea/SKILL.md") == "boil water\n"
    assert await use("read_file", path="memory/note.md") == "mine"
    assert "skills/ (read-only)" in await use("list_files")
    for path in ("skills/tea/SKILL.md", "memory/note.md", "memory/new.md", "skills", "memory"):
        said = await use("write_file", path=path, content="x")
        assert said.startswith("Error: ") and "read-only" in said


async def test_the_memory_of_the_workspace_holds_no_other_scopes(use: Use) -> None:
    name = folder_of(OTHER)

    assert await use("read_file", path="memory/MEMORY.md", scope="pond:workspace") == "of the workspace"
    assert await use("list_files", path="memory", deep=True, scope="pond:workspace") == "memory/MEMORY.md (16 bytes)"
    for path in (f"memory/{name}", f"memory/{name}/note.md"):
        for tool in ("read_file", "list_files"):
            assert SECRET not in (said := await use(tool, path=path, scope="pond:workspace"))
            assert said.startswith("Error: "), said
    assert "secret" not in await use("grep", pattern=".", path="memory", scope="pond:workspace")


async def test_the_bootstrap_files_can_be_read_in_full_and_not_written(
    use: Use, workspace: Path, files: Path, outside: Path
) -> None:
    (workspace / "AGENTS.md").write_text("rule 1\nrule 2\n")
    (workspace / "USER.md").symlink_to(outside / "secret.txt")
    (workspace / "TOOLS.md").mkdir()
    (workspace / "TOOLS.md" / "inner.txt").write_text(SECRET)
    (workspace / "other.md").write_text(SECRET)
    (files / "SOUL.md").write_text("written before that was a name of something else")

    listed = (await use("list_files")).splitlines()

    assert [line for line in listed if ".md" in line and "note" not in line] == ["AGENTS.md (14 bytes, read-only)"]
    assert await use("read_file", path="./AGENTS.md", offset=2) == "rule 2\n\n[end of the file, lines 2 to 2]"
    assert await use("grep", pattern="rule 2", path="AGENTS.md") == "AGENTS.md:2: rule 2"
    for tool in ("write_file", "edit_file"):
        arguments = {"content": "x"} if tool == "write_file" else {"old_text": "rule 1", "new_text": "x"}
        assert "read-only" in await use(tool, path="AGENTS.md", **arguments)
    for path in ("USER.md", "TOOLS.md", "TOOLS.md/inner.txt", "SOUL.md", "IDENTITY.md", "other.md", "AGENTS.md/x"):
        for tool, more in (
            ("read_file", {}),
            ("list_files", {}),
            ("grep", {"pattern": "."}),
            ("grep", {"pattern": "s"}),
        ):
            answer = await use(tool, path=path, **more)
            assert answer.startswith("Error: "), (tool, path, answer)


async def test_a_scope_without_files_has_empty_lists_and_nothing_found(tmp_path: Path) -> None:
    context = a_context(tmp_path / "nothing" / "there")

    assert (await result_of(context, "list_files")).text == "(empty)"
    assert (await result_of(context, "grep", pattern="x")).text == "(nothing found)"
    assert (await result_of(context, "read_file", path="a")).text.startswith("Error: a was not found")


async def test_a_long_file_is_read_in_pages_that_tell_where_to_go_on(use: Use, files: Path) -> None:
    (files / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, 5001)))

    first = await use("read_file", path="long.txt", limit=2)
    last = await use("read_file", path="long.txt", offset=5000)

    assert first == "line 1\nline 2\n\n[lines 1 to 2; continue with offset 3]"
    assert last == "line 5000\n\n[end of the file, lines 5,000 to 5,000]"
    assert "continue with offset 1001" in await use("read_file", path="long.txt")
    assert (
        await use("read_file", path="long.txt", offset=5002)
        == "Error: The file has only 5,000 lines. Use an offset below 5,002."
    )


async def test_all_of_a_file_can_be_reached_though_it_is_one_line(use: Use, files: Path) -> None:
    text = "".join(f"[{number}]" for number in range(20_000))
    (files / "line.json").write_text(text)

    found, offset = "", 1
    while True:
        page, _, end = (await use("read_file", path="line.json", offset=offset)).rpartition("\n[")
        found += page
        if "continue with" not in end:
            break
        offset += 4

    assert found == text
    assert len(text) > 20 * LINE_MAX_CHARS


async def test_a_picture_is_read_as_a_picture(workspace: Path, files: Path) -> None:
    (files / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")

    result = await result_of(a_context(workspace), "read_file", path="dot.png")

    text, image = result.content()
    assert text == {"type": "text", "text": "dot.png: image/png, 10 bytes"}
    assert image == {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgoAAA=="}}


@each_row(
    ("name", "content", "said"),
    [
        ("big.png", b"\x89PNG\r\n\x1a\n" + bytes(1_000_000), "Only files of at most 1,000,000 bytes"),
        ("x.bin", b"\0\1\2", "neither text nor a picture"),
        ("a.txt", b"caf\xe9\n", "caf\ufffd"),
        ("empty.txt", b"", "(empty)"),
    ],
)
async def test_what_is_no_text_is_told_or_made_readable(use: Use, files: Path, name: str, content: bytes, said: str):
    (files / name).write_bytes(content)

    assert said in await use("read_file", path=name)


@each_row(
    ("text", "old", "said"),
    [
        ("a\nb\na\n", "a", "occurs 2 times, in lines 1, 3"),
        ("aaa", "aa", "occurs 2 times"),
        (
            "x\n\tif  a:\n\t\tgo()\n",
            "if a:\n    go()",
            "Line 2 contains a passage that differs only in whitespace: '\\tif  a:'",
        ),
        (
            "the quick brown fox\nnothing\n",
            "the quikc brown fox",
            "The most similar line is line 1: 'the quick brown fox'",
        ),
        ("", "x", "was not found. Read the file again"),
    ],
)
def test_a_passage_that_is_not_there_once_is_told_with_what_is_like_it(text: str, old: str, said: str) -> None:
    with pytest.raises(ToolError) as raised:
        replaced(text, old, "new")

    assert said in str(raised.value)


@given(before=st.text(max_size=30), old=st.text(min_size=1, max_size=10), after=st.text(max_size=30), new=st.text())
def test_only_the_passage_itself_is_replaced(before: str, old: str, after: str, new: str) -> None:
    text = before + old + after
    try:
        found = replaced(text, old, new)
    except ToolError:
        assert sum(text.startswith(old, at) for at in range(len(text))) > 1
    else:
        assert found == before + new + after


async def test_changes_of_one_file_at_one_time_are_all_made(use: Use, files: Path) -> None:
    (files / "list.txt").write_text("".join(f"<{number}>" for number in range(10)))

    async with anyio.create_task_group() as tg:
        for number in range(10):
            tg.start_soon(lambda number=number: use("edit_file", path="list.txt", old_text=f"<{number}>", new_text="."))

    assert (files / "list.txt").read_text() == "." * 10


async def test_an_expression_that_explodes_elsewhere_is_searched_in_time(use: Use, files: Path) -> None:
    (files / "a.txt").write_text("a" * 5_000 + "!\n")

    with anyio.fail_after(HANG_S):
        assert await use("grep", pattern="(a|a)*$b") == "(nothing found)"
        assert "a.txt:1:" in await use("grep", pattern="(a+)+!$")


@each_row("pattern", ["(", r"(a)\1", "(?=x)", "[z-a]", "a{1000}{1000}", "*"])
async def test_an_expression_that_cannot_be_used_is_told(use: Use, pattern: str) -> None:
    assert (await use("grep", pattern=pattern)).startswith("Error: The pattern is not valid")
    assert await use("grep", pattern=pattern, literal=True) == "(nothing found)"


async def test_a_search_that_takes_too_long_gives_what_it_found(use: Use, files: Path, monkeypatch: pytest.MonkeyPatch):
    (files / "a.txt").write_text("x\n")
    monkeypatch.setattr(grep_module, "SEARCH_S", -1.0)

    assert await use("grep", pattern="x") == "[the search stopped after -1 s. Use a path to search fewer files]"


async def test_searches_and_lists_are_cut(use: Use, files: Path) -> None:
    (files / "a.txt").write_text("x\n" * 1_000)
    for number in range(600):
        (files / f"{number}.md").write_text("")

    assert (await use("grep", pattern="X", ignore_case=True)).endswith(
        "Use a path or a longer pattern to narrow the search]"
    )
    assert "[... more than 500 entries; list one of these folders]" in await use("list_files")
    assert len(await use("grep", pattern="x")) < RESULT_MAX_CHARS


ATTACKS = (
    *("../outside/secret.txt", "..", "a/../../note.md", "skills/../config.toml", "memory/../../config.toml"),
    *("/etc/passwd", "//etc/passwd", "/proc/self/environ", "~/.ssh/id_rsa", "C:\\Windows", "..\\secret.txt"),
    *("a\0b", "note.md\0", "a\nb", "\x1b[2J", "x" * 300, "x/" * 40 + "y", "y" * 5_000, "\ud800", "a\u202eb"),
    *("%2e%2e/secret", "．．/secret", "․․/secret", "\uff0e\uff0e\uff0fsecret", "a\u2215b", "..../x", "...", ". ./x"),
    *("link", "link/x", "folder-link/secret.txt", "deep/link", "memory/link", "skills/link/secret.txt", "hard.txt"),
    *(
        "pipe", "memory/pipe", "socket", "", ".", "/", "skills", "memory", "note.md/x",
        "skills/../../outside/secret.txt",
    ),
    *(f"../{folder_of(OTHER)}/note.md", f"files/{folder_of(OTHER)}/note.md", f"memory/{folder_of(OTHER)}/note.md"),
    *(f"memory/../{folder_of(OTHER)}/note.md", "memory/MEMORY.md", "config.toml", "skills/tea/../../config.toml"),
)  # fmt: skip


@pytest.fixture
def traps(workspace: Path, files: Path, outside: Path) -> Iterator[Path]:
    (files / "link").symlink_to(outside / "secret.txt")
    (files / "folder-link").symlink_to(outside)
    (files / "deep").mkdir()
    (files / "deep" / "link").symlink_to("../../../../outside/secret.txt")
    (workspace / "memory" / folder_of(SCOPE) / "link").symlink_to(outside / "secret.txt")
    (workspace / "skills" / "link").symlink_to(outside)
    os.link(outside / "secret.txt", files / "hard.txt")
    os.mkfifo(files / "pipe")
    os.mkfifo(workspace / "memory" / folder_of(SCOPE) / "pipe")
    os.mknod(files / "socket", 0o600 | 0o140000)
    yield outside
    assert (outside / "secret.txt").read_text() == SECRET
    assert names_in(outside) == ["secret.txt"]
    assert (workspace / "config.toml").read_text() == SECRET
    assert (workspace / "files" / folder_of(OTHER) / "note.md").read_text() == SECRET
    assert (workspace / "memory" / folder_of(SCOPE) / "note.md").read_text() == "mine"
    assert (workspace / "skills" / "tea" / "SKILL.md").read_text() == "boil water\n"


def uses_of(path: str) -> Iterator[tuple[str, dict[str, str]]]:
    yield "read_file", {"path": path}
    yield "list_files", {"path": path}
    yield "grep", {"path": path, "pattern": "secret"}
    yield "write_file", {"path": path, "content": "overwritten"}
    yield "edit_file", {"path": path, "old_text": "secret", "new_text": "changed"}
    yield "message", {"content": "look", "media": [path]}


@each_row("path", ATTACKS)
async def test_no_path_leads_out(workspace: Path, traps: Path, path: str) -> None:
    for name, arguments in uses_of(path):
        try:
            encoded = msgspec.json.encode(arguments).decode()
        except UnicodeEncodeError:
            with pytest.raises(ToolError):
                FileAccess(workspace, SCOPE).place(path)
            continue
        context = a_context(workspace)
        with anyio.fail_after(HANG_S):
            try:
                result = await BUILTIN.run(ToolCall(id="c", name=name, arguments=encoded), context, timeout_s=HANG_S)
            except AssertionError:
                pytest.fail(f"{name} would have sent a file")
        assert SECRET not in result.text, (name, path)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.text(max_size=40),
        st.lists(
            st.sampled_from(
                ["..", ".", "", "link", "folder-link", "secret.txt", "files", "memory", "skills", "deep", "~"]
            ),
            max_size=6,
        ).map("/".join),
    )
)
@example("a/\x7f")
def test_whatever_is_written_for_a_path_leads_nowhere_else(workspace: Path, traps: Path, path: str) -> None:
    folders = FileAccess(workspace, SCOPE)
    try:
        place = folders.place(path)
    except ToolError:
        return
    whole = (workspace / folders.in_workspace(place)).parts
    assert ".." not in whole
    roots = [workspace / "files" / folder_of(SCOPE), workspace / "memory" / folder_of(SCOPE), workspace / "skills"]
    assert any(whole[: len(root.parts)] == root.parts for root in roots)
    try:
        with folders.opened(place) as descriptor:
            assert SECRET.encode() not in os.read(descriptor, 1_000)
    except ToolError:
        pass


async def test_a_link_that_is_swapped_in_between_look_and_use_is_not_followed(workspace: Path, outside: Path) -> None:
    """A thread swaps a folder for a link to the outside and back, as fast as it can."""
    files = workspace / "files" / folder_of(SCOPE)
    (files / "real").mkdir()
    (files / "real" / "secret.txt").write_text("harmless")
    (files / "link").symlink_to(outside)
    (files / "real").rename(files / "here")
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            (files / "here").rename(files / "real")
            (files / "link").rename(files / "here")
            (files / "here").rename(files / "link")
            (files / "real").rename(files / "here")

    swapper = threading.Thread(target=swap)
    swapper.start()
    context = a_context(workspace)
    seen: set[str] = set()
    try:
        for _ in range(150):
            seen.add((await result_of(context, "read_file", path="here/secret.txt")).text)
            await result_of(context, "edit_file", path="here/secret.txt", old_text="harm", new_text="harm")
    finally:
        over.set()
        swapper.join()

    assert not any(SECRET in text for text in seen)
    assert "harmless" in seen
    assert names_in(outside) == ["secret.txt"]


@given(st.text(min_size=1, max_size=300), st.text(min_size=1, max_size=300))
def test_two_scopes_never_share_a_folder_on_any_file_system(one: str, other: str) -> None:
    try:
        folders = [folder_of(scope) for scope in (one, other)]
    except (ValueError, UnicodeEncodeError):
        return
    for folder in folders:
        assert len(folder.encode()) <= 255 and "/" not in folder and folder.isascii() and folder.strip(".")
        assert folder == folder.lower()
    assert (one == other) == (folders[0] == folders[1])
