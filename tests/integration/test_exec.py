"""The tool ``exec``: what a command in the sandbox reaches, where it ends, who may have it run, and the audit.

Tests with a real sandbox need bubblewrap and user namespaces; the others use a stand-in for the program.
"""

import os
import shutil
import stat
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from daemon.config import BotConfig, ExecConfig
from daemon.errors import ToolError
from daemon.forget.file_removal import remove_folder
from daemon.operators import Approvals, OperatorAudit
from daemon.process import Process
from daemon.testing import ScriptedModel
from tests.conftest import Lab
from tests.integration.test_asides import answered
from tests.integration.test_tools import calls, results
from tests.integration.test_turns import Bot, notices_of, worked_off
from tests.limits import HANG_S, until
from tests.tables import each_row
from workers.agent.bot_checks import examine
from workers.tools import command_sandbox as sandbox
from workers.tools.command_sandbox import NOT_HERE, CommandResult, arguments, fenced, run

CONFIG = ExecConfig(timeout_s=HANG_S)


def works() -> bool:
    program = shutil.which("bwrap")
    words = (program or "", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "true")
    return bool(program) and subprocess.run(words, check=False, capture_output=True).returncode == 0


real = pytest.mark.skipif(not works(), reason="needs bubblewrap and user namespaces")


async def outcome(folder: Path, command: str, **config: Any) -> CommandResult:
    with anyio.fail_after(HANG_S):
        return await run(msgspec.structs.replace(CONFIG, **config), folder, command)


@real
async def test_a_command_works_in_its_folder_and_reports_output_and_exit_code(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("heron")

    found = await outcome(tmp_path, "cat note.txt; pwd; echo more > new.txt; echo wrong >&2; exit 3")

    assert found == CommandResult(output="heron/work\nwrong\n", status=3)
    assert (tmp_path / "new.txt").read_text() == "more\n"


@real
async def test_a_command_gives_way_to_all_other_processes(tmp_path: Path) -> None:
    given = os.getpriority(os.PRIO_PROCESS, 0)

    found = await outcome(tmp_path, "cat /proc/self/oom_score_adj; nice")

    assert found.output.split() == ["1000", str(min(19, given + 10))]


@real
@each_row(
    "command",
    [
        "cat {outside}/secret.txt",
        "ls {outside}",
        "cat /etc/passwd",
        "cat /proc/1/environ | tr '\\0' '\\n' | grep HUSH",
        "env | grep HUSH",
        "echo x > /usr/x",
        "echo x > /x",
        "echo x > /dev/shm/x",
        "ln -s {outside}/secret.txt link; cat link",
        "kill -0 {pid}",
        "exec 3<>/dev/tcp/127.0.0.1/{port}",
        "ip link | grep -v 'lo:' | grep UP",
        "mount -t tmpfs none /work",
        "unshare -Ur mount -t tmpfs none /usr",
        "for n in 1 2 3; do head -c 40000000 /dev/zero > /tmp/$n || exit 1; done",
        "head -c 200000000 /dev/zero > full",
        "test -w /proc/sys/kernel/core_pattern",
        "echo 0 > /proc/self/oom_score_adj",
    ],
)
async def test_a_command_reaches_nothing_but_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("HUSH", "a secret")
    folder, outside = tmp_path / "own", tmp_path / "outside"
    folder.mkdir(exist_ok=True)
    outside.mkdir(exist_ok=True)
    (outside / "secret.txt").write_text("a secret")
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
        wanted = command.format(outside=outside, pid=os.getpid(), port=port).replace("'", "'\\''")

        found = await outcome(folder, f"bash -c '{wanted}'")

    assert found.status != 0
    assert "a secret" not in found.output


@real
async def test_what_a_command_leaves_behind_stops_no_later_command(tmp_path: Path) -> None:
    number = str(10**9 + int.from_bytes(os.urandom(3)))  # no other process sleeps so long

    begun = await outcome(tmp_path, f"sleep {number} & setsid sleep {number} & kill -STOP 1; echo begun; chmod 000 .")
    after = await outcome(tmp_path, "echo after > file; cat file")

    assert (begun.output, after.output) == ("begun\n", "after\n")
    await until(lambda: not any(number.encode() in words for words in command_lines()))


@real
async def test_a_command_leaves_no_file_that_cannot_be_read_moved_or_removed(tmp_path: Path) -> None:
    folder, command = (
        tmp_path / "own",
        "for n in $(seq 40); do mkdir d; cd d; done; touch deep; cd /work; mkdir -m 0 shut",
    )
    odd = (
        "; touch $(printf '\\377\\376.txt') '\ufffd\ufffd.txt'; mkdir below; touch below/note; chmod 0 below/note below"
    )

    found = await outcome(folder, f"{command}{odd}; mkfifo pipe; ln -s / link; cp /bin/true tool; chmod 6755 tool")

    assert "[1 folders were removed, because folders can be nested at most 32 levels deep.]" in found.output
    assert not list(folder.rglob("deep"))
    names = sorted(each.name for each in folder.iterdir())
    assert [name.encode() for name in names]  # each name is UTF-8
    assert [name for name in names if name.endswith("\ufffd.txt")] != ["\ufffd\ufffd.txt"]
    modes = [stat.S_IMODE((folder / name).stat().st_mode) & 0o600 for name in ("shut", "below", "below/note")]
    assert modes == [0o600] * 3
    assert stat.S_IMODE((folder / "tool").stat().st_mode) == 0o755


def test_folders_without_permissions_are_removed_when_a_scope_is_forgotten() -> None:
    """As a user that is not root, whose calls ignore permissions."""
    root = Path(tempfile.mkdtemp(prefix="mp-", dir="/dev/shm"))
    inner = root / "files" / "ann" / "inner"
    inner.mkdir(parents=True)
    (inner / "note.txt").write_text("heron")
    (root / "files" / "ann" / "link").symlink_to("/")
    user = 65_534 if os.geteuid() == 0 else os.geteuid()
    for path in (root, root / "files", root / "files" / "ann", inner):
        os.chown(path, user, -1)
        path.chmod(0o711)
    for path in (inner, inner.parent):
        path.chmod(0)
    child = os.fork()
    if not child:
        try:
            os.setuid(user)
            os._exit(remove_folder(root, ("files", "ann"), looks=False))
        finally:
            os._exit(99)

    count = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert (count, inner.parent.exists()) == (1, False)
    shutil.rmtree(root)


@real
@each_row(
    ("command", "config", "said"),
    [
        ("echo begun; sleep NUMBER", {"timeout_s": 1.0}, "ran longer than 1 s"),
        ("trap '' TERM; sleep NUMBER & sleep NUMBER", {"timeout_s": 1.0}, "ran longer than 1 s"),
        ("setsid sleep NUMBER & setsid sleep NUMBER", {"timeout_s": 1.0}, "ran longer than 1 s"),
        ("sleep NUMBER & yes", {"output_max_bytes": 1_000}, "printed more than 1,000 bytes"),
    ],
)
async def test_a_command_without_end_is_stopped_with_all_that_it_started(
    tmp_path: Path, command: str, config: dict[str, Any], said: str
) -> None:
    number = str(10**9 + int.from_bytes(os.urandom(3)))  # no other process sleeps so long

    found = await outcome(tmp_path, command.replace("NUMBER", number), **config)

    assert (found.status, said in found.reason) == (None, True)
    assert len(found.output) <= 1_000
    await until(lambda: not any(number.encode() in words for words in command_lines()))


def command_lines() -> list[bytes]:
    found = list[bytes]()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_bytes())
    return found


@real
@each_row(
    ("command", "config"),
    [
        ("dd if=/dev/zero of=/dev/null bs=300M count=1", {"memory_max_mb": 128}),
        ("for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done; wait", {"processes_max": 4}),
    ],
)
async def test_memory_and_processes_are_limited(tmp_path: Path, command: str, config: dict[str, Any]) -> None:
    found = await outcome(tmp_path, command, **config)

    assert found.status != 0
    # Processes of root are counted by Millpond alone, which stops the command (setrlimit(2), RLIMIT_NPROC).
    assert bool(found.reason) == ("processes_max" in config and os.geteuid() == 0)


@real
@each_row(
    ("command", "config", "said"),
    [
        (
            "for i in 1 2 3 4; do (head -c 60000000 /dev/zero; sleep 1000) | tail -c 60000000 & done; wait",
            {"memory_max_mb": 128},
            "its processes used more than 128 MiB of memory",
        ),
        (
            "for i in 1 2 3 4; do head -c 30000000 /dev/zero > $i; done; sleep 1000",
            {"folder_max_mb": 100},
            "the files in the folder exceeded 100 MiB",
        ),
        ("(head -c 90000000 /dev/zero; sleep 1000) > big & wait", {"folder_max_mb": 1}, "exceeded 2 MiB"),
    ],
)
async def test_the_processes_of_a_command_are_limited_together_and_so_is_its_folder(
    tmp_path: Path, command: str, config: dict[str, Any], said: str
) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    (folder / "old").mkdir()
    (folder / "old" / "file").write_bytes(bytes(2 * 1024 * 1024))

    tidied = await outcome(folder, "echo more > note; rm note; ls", **config)
    found = await outcome(folder, command, **config)

    assert tidied == CommandResult(output="old\n", status=0)
    assert (found.status, said in found.reason) == (None, True), found


@each_row("network", [False, True])
def test_only_the_network_of_the_machine_is_shared_by_choice(tmp_path: Path, network: bool) -> None:
    words = arguments(ExecConfig(network=network), tmp_path, "true")

    assert ("--share-net" in words) == network
    assert words[:5] == ["--unshare-all", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop"]
    assert [words[at + 1] for at, word in enumerate(words) if word == "--bind"] == [str(tmp_path)]
    assert words[-1] == "true"


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program in the place of bubblewrap."""
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sandbox, "PROGRAM", str(program))


@each_row("script", ["echo 'bwrap: No permissions to create new namespace' >&2; exit 1", None])
async def test_without_a_sandbox_no_command_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None
) -> None:
    if script is None:
        monkeypatch.setattr(sandbox, "PROGRAM", "no-such-program")
    else:
        stand_in(tmp_path, monkeypatch, script)

    with pytest.raises(ToolError) as refused:
        await outcome(tmp_path / "own", "true")

    assert str(refused.value).startswith(NOT_HERE)


def shelled(process: Process, **section: Any) -> Process:
    bot = BotConfig(tools=("exec",), admins=("web:ann",), exec=ExecConfig(**section))
    return replace(process, config=msgspec.structs.replace(process.config, bots={"pond": bot}))


@pytest.fixture
def says_heron(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "echo heron")


@each_row(
    ("who", "result", "outcomes"),
    [
        (("ann", {}), "heron\n[exit code 0]", ["started", "exit 0"]),
        (("bob", {}), "Error: Only administrators may run commands.", ["refused"]),
        (("bob", {"allow": "everyone"}), "heron\n[exit code 0]", ["started", "exit 0"]),
    ],
)
@pytest.mark.usefixtures("says_heron")
async def test_every_command_is_audited_and_run_only_for_who_may(
    process: Process, lab: Lab, who: tuple[str, dict[str, Any]], result: str, outcomes: list[str]
) -> None:
    sender, section = who
    before = len(await OperatorAudit(lab.bus).newest(limit=100))
    await lab.publish(f"{sender}-{before}", sender_id=sender)
    command = calls((f"c{before}", "exec", {"command": "echo a-word-of-mine"}))
    await worked_off(shelled(process, **section), lab, ScriptedModel(command, "done"))

    found = results(await lab.log())
    assert found[f"c{before}"].startswith(result)
    deeds = await OperatorAudit(lab.bus).newest(limit=len(outcomes))
    assert [deed.outcome for deed in reversed(deeds)] == outcomes
    assert {(deed.who, deed.action) for deed in deeds} == {(f"web:{sender}", "exec")}
    assert all(deed.target.startswith("web:ann#") and "a-word-of-mine" not in deed.target for deed in deeds)


async def asked(lab: Lab) -> str:
    """The ID under which a command waits."""
    [notice] = await answered(lab, count=1)
    assert "```\necho heron\n```" in notice.text
    return notice.text.partition("/approve ")[2][:8]


async def decided(lab: Lab, verdict: str, approval_id: str, **more: Any) -> str:
    """What is said of a verdict."""
    before = len(await notices_of(lab))
    await lab.publish(f"{verdict}-{before}", command=verdict, text=f"/{verdict} {approval_id}", **more)
    return (await answered(lab, count=before + 1))[-1].text


async def deeds(lab: Lab) -> list[tuple[str, str, str]]:
    newest = await OperatorAudit(lab.bus).newest(limit=20)
    return [(deed.who, deed.action, deed.outcome) for deed in reversed(newest)]


COMMAND = calls(("c", "exec", {"command": "echo heron"}))
RAN, DENIED, LATE = "heron\n[exit code 0]", "Error: An administrator denied", "Error: No administrator approved"
BOB, ANN = "web:bob", "web:ann"


@pytest.mark.parametrize(
    ("verdict", "approval_s", "result", "audited"),
    [
        ("approve", HANG_S, RAN, [(ANN, "exec.approve", "done"), (BOB, "exec", "started"), (BOB, "exec", "exit 0")]),
        ("deny", HANG_S, DENIED, [(ANN, "exec.deny", "done")]),
        ("", 0.2, LATE, [(BOB, "exec", "expired")]),
    ],
)
@pytest.mark.usefixtures("says_heron")
async def test_a_command_waits_for_the_decision_of_an_administrator(
    process: Process, lab: Lab, verdict: str, approval_s: float, result: str, audited: list[tuple[str, str, str]]
) -> None:
    await lab.publish("b", sender_id="bob")
    bot = Bot(shelled(process, allow="everyone", approval=True, approval_s=approval_s), ScriptedModel(COMMAND, "done"))
    async with bot.working():
        approval_id = await asked(lab)
        if verdict:
            assert "administrators" in await decided(lab, verdict, approval_id, sender_id="bob")
            assert "No command" in await decided(lab, verdict, "0badc0de", sender_id="ann")
            said = await decided(lab, verdict, approval_id.upper(), sender_id="ann")
            assert said.startswith(f"Command {approval_id} is")
        await until(lab.is_idle)
        assert "already" in (said := await decided(lab, "approve", approval_id, sender_id="ann")) or not verdict, said

    assert results(await lab.log())["c"].startswith(result)
    assert (await deeds(lab))[: len(audited) + 1] == [(BOB, "exec", "waiting"), *audited]


@pytest.mark.parametrize("killed", ["before", "after", "during"])
async def test_a_command_that_is_approved_runs_once_whenever_its_worker_is_killed(
    process: Process, lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed: str
) -> None:
    """Before and after the decision, and while the command runs."""
    runs = tmp_path / "runs"
    stand_in(tmp_path, monkeypatch, f"echo x >> {runs}; {'sleep 600' if killed == 'during' else 'echo heron'}")
    await lab.publish("b", sender_id="ann")
    bots = [
        Bot(shelled(process, approval=True, approval_s=HANG_S, timeout_s=600.0), model)
        for model in (ScriptedModel(COMMAND), ScriptedModel("done"))
    ]
    async with anyio.create_task_group() as tg:
        await tg.start(bots[0]._serve)
        approval_id = await asked(lab)
        if killed == "during":
            await decided(lab, "approve", approval_id, sender_id="ann")
            await until(runs.exists)
        tg.cancel_scope.cancel()
    if killed == "after":
        done = await Approvals(lab.bus).decide(approval_id, "approved", bot="pond", by=ANN, at="1-0")
        assert done[0] == "done"
    await lab.expire()
    async with bots[1].working():
        if killed == "before":
            await decided(lab, "approve", approval_id, sender_id="ann")
        await until(lab.is_idle)

    assert runs.read_text() == "x\n"
    lost = "Error: The command was approved and started once, but its result was lost."
    assert results(await lab.log())["c"].startswith(lost if killed == "during" else RAN)
    assert sum("/approve" in notice.text for notice in await notices_of(lab)) == 1


def test_a_command_is_shown_to_whoever_approves_it_as_it_is() -> None:
    assert fenced("echo `a` ```b```; rm\u202e x\u200b") == (
        "````\necho `a` ```b```; rm\N{REPLACEMENT CHARACTER} x\N{REPLACEMENT CHARACTER}\n````"
    )


@each_row(("script", "state"), [("exit 0", "ok"), ("echo 'bwrap: no' ; exit 1", "error"), ("exit 7", "error")])
async def test_the_doctor_tries_the_sandbox(
    process: Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, state: str
) -> None:
    stand_in(tmp_path, monkeypatch, script)

    found = await examine(shelled(process).config)

    assert [each.state for each in found if each.check == "sandbox of pond"] == [state]
