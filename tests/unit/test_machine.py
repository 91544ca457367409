"""The doctor's check of a folder that is to be written to."""

from pathlib import Path

import pytest

from daemon.cli.doctor import machine_checks


def test_a_folder_must_be_writable_and_have_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def state(folder: Path, free_bytes: int) -> tuple[str, str] | None:
        monkeypatch.setattr(machine_checks.shutil, "disk_usage", lambda _path: type("", (), {"free": free_bytes}))
        found = machine_checks.room("bots.pond.workspace", folder, "soon nothing can be written")
        return found and (found.state, found.text)

    (tmp_path / "file").write_text("")
    plenty = machine_checks.FREE_WARNING_BYTES

    assert state(tmp_path / "not" / "yet", plenty) is None
    assert state(tmp_path / "file" / "below", plenty) == (
        "error",
        f"{tmp_path / 'file'} cannot be written. Change the folder's permissions, or set another folder in "
        "bots.pond.workspace.",
    )
    assert (state(tmp_path, plenty - 1) or ("",))[0] == "warning"
    assert (state(tmp_path, machine_checks.FREE_ERROR_BYTES) or ("",))[0] == "warning"
    assert state(tmp_path, machine_checks.FREE_ERROR_BYTES - 1) == (
        "error",
        f"{tmp_path}, 0.0 GB free. Free some disk space now, because soon nothing can be written.",
    )
