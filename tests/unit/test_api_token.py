"""The token of a data directory: made once, by one of all who start at the same time, for its owner alone."""

import os
import secrets
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from daemon.config import Secret
from daemon.errors import ConfigError
from daemon.operators import FILE_NAME, fingerprint, known_token, local_token
from tests.api_token import header_of
from tests.limits import HANG_S
from tests.tables import each_row

STARTS = 8


@pytest.mark.parametrize("umask", [0, 0o077])
def test_of_several_starts_one_makes_the_token_and_all_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask: int
) -> None:
    folder, barrier, before = tmp_path / "new" / "data", Barrier(STARTS, timeout=HANG_S), os.umask(umask)

    def made_by_all(count: int, make: Callable[[int], str] = secrets.token_urlsafe) -> str:
        barrier.wait()  # each start has seen that there is no file
        return make(count)

    def start() -> tuple[str, bool]:
        local = local_token(folder)
        return local.secret.reveal(), local.made

    monkeypatch.setattr(secrets, "token_urlsafe", made_by_all)

    try:
        with ThreadPoolExecutor(STARTS) as pool:
            found = [each.result() for each in [pool.submit(start) for _ in range(STARTS)]]
    finally:
        os.umask(before)
        monkeypatch.undo()

    [token] = {token for token, _ in found}
    assert sum(made for _, made in found) == 1
    assert header_of(folder) == {"Authorization": f"Bearer {token}"}
    assert [path.name for path in folder.iterdir()] == [FILE_NAME], "a draft was left"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / FILE_NAME)] == [0o700, 0o600]
    assert local_token(folder).secret.reveal() == token, "a later start made another one"


def test_no_two_data_directories_have_the_same_token(tmp_path: Path) -> None:
    tokens = [local_token(tmp_path / name).secret for name in ("a", "b")]

    assert all(len(token.reveal()) >= 43 for token in tokens)  # 256 bits in base64
    assert len({fingerprint(token) for token in tokens}) == 2
    assert not [token for token in tokens if token.reveal()[:4] in fingerprint(token)]


@each_row(
    "content",
    [
        "",
        "\n",
        "s3cret" * 6,
        "Authorization: Bearer",
        "Authorization: Bearer s3 cret" + "s3cret" * 6,
        "Authorization: Bearer s3cret",
        "Authorization: Basic " + "s3cret" * 6,
        "\xff",
    ],
)
def test_a_file_without_a_token_is_told_and_not_shown(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE_NAME).write_bytes(content.encode("latin-1"))

    with pytest.raises(ConfigError) as told:
        local_token(tmp_path)

    assert FILE_NAME in str(told.value) and "s3cret" not in str(told.value)


@each_row(
    "damage",
    [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/nowhere"), lambda path: path.write_bytes(b"")],
)
def test_the_remedy_for_a_damaged_token_is_a_new_one(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    damage(tmp_path / FILE_NAME)

    for ask in (local_token, known_token):
        with pytest.raises(ConfigError, match=r"API token is damaged: .*\. Delete the file and start again\."):
            ask(tmp_path)

    path = tmp_path / FILE_NAME
    path.rmdir() if path.is_dir() else path.unlink()


def test_a_file_that_others_can_read_is_told(tmp_path: Path) -> None:
    path = local_token(tmp_path).path
    assert not local_token(tmp_path).warning
    path.chmod(0o640)

    assert "chmod 600" in local_token(tmp_path).warning


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to other users")
def test_a_file_of_another_user_is_refused_unless_the_folder_is_theirs_too(tmp_path: Path) -> None:
    path = local_token(tmp_path).path
    os.chown(path, 12345, -1)

    with pytest.raises(ConfigError, match="belongs to another user"):
        local_token(tmp_path)
    os.chown(tmp_path, 12345, -1)
    assert known_token(tmp_path)


def test_a_folder_that_takes_no_file_is_told_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match=r"cannot be written: .*token_file"):
        local_token(tmp_path / "file")
    assert known_token(tmp_path) is None


def test_a_token_is_never_shown(tmp_path: Path) -> None:
    local = local_token(tmp_path)

    assert local.secret.reveal() not in f"{local} {local!r}" and isinstance(local.secret, Secret)
