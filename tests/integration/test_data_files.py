"""Files in backups: workspaces, memory, archive; secrets only when asked for; what is in the way stays unless told."""

import json
from pathlib import Path

import pytest

from daemon.archive import Archive
from daemon.archive.local_storage import LocalStorage
from daemon.cli.data_command import _secret_files
from daemon.clock import SystemClock
from daemon.config import BotConfig, Config, ModelConfig, RedisConfig, SlackConfig
from daemon.data import RestoreTarget, back_up, backup, restore, verify
from daemon.errors import DatabaseNotEmpty, DataError, OutputError
from daemon.memory import Memories, MemoryFiles
from tests.conftest import Lab
from tests.datalab import other, wanted

Redis = tuple[RedisConfig, Path]
ANN, SCOPE = "web:ann", "pond:workspace"


async def with_files(lab: Lab, tmp_path: Path) -> None:
    """A workspace with a memory and a file that came with a message; an archive; a link and a secret."""
    pond = tmp_path / "pond"
    (pond / "files" / "ann" / "inbox").mkdir(parents=True)
    (pond / "files" / "ann" / "inbox" / "2026-11-20-photo.jpg").write_bytes(b"\xff\xd8photo")
    (pond / "SOUL.md").write_text("# Soul\n")
    (pond / "token").write_text("secret-token")
    (pond / "link").symlink_to("/etc/passwd")
    memories = Memories(lab.bus)
    await memories.edit(SCOPE, of=0, text="# Pond", by="ann", time="2026-11-20T09:00:00.000Z")
    await MemoryFiles(memories, workspace_of=lambda _bot: pond).sync(SCOPE, at_once=True)
    for number in range(2):
        await lab.publish(f"m{number}")
        await lab.commit(await lab.claim(), go_on=False)
    raws = await lab.bus.call("LRANGE", lab.bus.keys.log(ANN), 0, -1)
    await Archive(lab.bus, tmp_path).write(ANN, 0, raws[:2])
    await lab.bus.call("ZADD", lab.bus.keys.sessions, 1, ANN)


def files_in(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def target(folder: Path, *, replaces: bool = False) -> RestoreTarget:
    archive = LocalStorage(folder, "transcripts")
    return RestoreTarget(workspace_of=lambda bot: folder / bot, archive=archive, replaces=replaces)


async def test_files_come_back_as_they_were_and_others_stay(lab: Lab, redis: Redis, tmp_path: Path) -> None:
    await with_files(lab, tmp_path)
    secret, copied = tmp_path / "pond" / "token", tmp_path / "copied"
    made = await back_up(
        lab.bus, wanted(tmp_path, secret=frozenset({secret})), tmp_path / "backup", clock=SystemClock()
    )
    (copied / "pond").mkdir(parents=True)
    (copied / "pond" / "mine.txt").write_text("mine")

    found = await verify(made.folder)
    async with other(lab.bus, redis) as copy:
        await restore(copy, made.folder, target(copied))
        again = await restore(copy, made.folder, target(copied, replaces=True))

    before = files_in(tmp_path / "pond")
    assert before.pop("token") == b"secret-token"
    assert files_in(copied / "pond") == before | {"mine.txt": b"mine"}
    assert files_in(copied / "transcripts") == files_in(tmp_path / "transcripts")
    assert not (copied / "pond" / "link").exists()
    assert again.files == 0  # they lay there already
    assert found.flaws == ()


async def test_all_files_of_a_backup_are_on_the_disk_before_the_file_that_makes_it_count(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await with_files(lab, tmp_path)
    synced: list[set[str]] = []
    monkeypatch.setattr(backup, "sync_all", lambda folder: synced.append(set(files_in(folder))))

    await back_up(lab.bus, wanted(tmp_path), tmp_path / "backup", clock=SystemClock())

    assert synced == [files_in(tmp_path / "backup").keys() - {"backup.json"}]


async def test_a_file_of_another_content_is_overwritten_only_when_told(lab: Lab, redis: Redis, tmp_path: Path) -> None:
    await with_files(lab, tmp_path)
    made = await back_up(lab.bus, wanted(tmp_path), tmp_path / "backup", clock=SystemClock())
    copied = tmp_path / "copied"
    (copied / "pond").mkdir(parents=True)
    (copied / "pond" / "SOUL.md").write_text("another")

    async with other(lab.bus, redis) as copy:
        with pytest.raises(DatabaseNotEmpty, match=r"SOUL\.md"):
            await restore(copy, made.folder, target(copied))
        assert files_in(copied) == {"pond/SOUL.md": b"another"}
        assert await copy.call("EXISTS", copy.keys.session(ANN)) == 0

        await restore(copy, made.folder, target(copied, replaces=True))

        assert (copied / "pond" / "SOUL.md").read_text() == "# Soul\n"


async def test_a_file_that_was_spoilt_in_the_backup_is_found_before_anything_is_changed(
    lab: Lab, redis: Redis, tmp_path: Path
) -> None:
    await with_files(lab, tmp_path)
    made = await back_up(lab.bus, wanted(tmp_path), tmp_path / "backup", clock=SystemClock())
    (made.folder / "bots" / "pond" / "SOUL.md").write_text("spoilt")

    with pytest.raises(DataError, match=r"SOUL\.md does not match the original file"):
        await verify(made.folder)
    async with other(lab.bus, redis) as copy:
        with pytest.raises(DataError, match=r"SOUL\.md does not match the original file"):
            await restore(copy, made.folder, target(tmp_path / "copied"))
        assert await copy.call("EXISTS", copy.keys.session(ANN)) == 0


async def test_the_configuration_and_its_secrets_are_in_a_backup_only_when_asked_for(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "millpond.toml").write_text("# with a secret-token")
    (tmp_path / "bot.token").write_text("secret-token")
    await lab.publish("m0")
    plain = await back_up(lab.bus, wanted(tmp_path), tmp_path / "plain", clock=SystemClock())
    config = (tmp_path / "millpond.toml", tmp_path / "bot.token")
    full = await back_up(lab.bus, wanted(tmp_path, config=config), tmp_path / "full", clock=SystemClock())

    assert not any(b"secret-token" in content for content in files_in(plain.folder).values())
    assert {name for name in files_in(full.folder) if name.startswith("config/")} == {
        "config/millpond.toml",
        "config/bot.token",
    }
    assert json.loads((full.folder / "backup.json").read_text())["with_config"] is True
    assert (full.folder.stat().st_mode & 0o077, (full.folder / "config" / "bot.token").stat().st_mode & 0o077) == (0, 0)


def test_every_file_that_the_configuration_names_for_a_secret_is_known() -> None:
    config = Config(
        bots={"pond": BotConfig(model=ModelConfig(api_key_file="/keys/model"))},
        channels={"work": SlackConfig(bot_token_file="/keys/bot", app_token_file="/keys/app")},
    )

    assert {str(path) for path in _secret_files(config)} == {"/keys/model", "/keys/bot", "/keys/app"}


async def test_a_backup_goes_into_no_folder_that_has_something_in_it(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup" / "mine").write_text("mine")

    with pytest.raises(OutputError, match="not empty"):
        await back_up(lab.bus, wanted(tmp_path), tmp_path / "backup", clock=SystemClock())

    assert files_in(tmp_path / "backup") == {"mine": b"mine"}
