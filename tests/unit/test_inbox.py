"""Where files that came with messages are kept: names that no file system and no person can do anything with."""

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from daemon.events import Attachment, Inbound
from daemon.inbox import FOLDER, MARK, mark_of, path_of
from tests.tables import each_row
from workers.agent.file_intake import keep, kept
from workers.tools import FileAccess

NAMES = st.one_of(
    st.text(max_size=300),
    st.sampled_from(["..", ".", "/etc/passwd", "a/../b", "CON", "x" * 400, "茶" * 200 + ".pdf", "a.tar.gz", ".env"]),
    st.text("../\\.-a", max_size=20),
)
KINDS = st.sampled_from(["image", "document", "audio", "video", "voice"])


def message(*files: Attachment, message_id: str = "m", chat: str = "7") -> Inbound:
    fields: dict[str, Any] = {"id": message_id, "bot": "pond", "channel": "phone", "chat": chat, "sender_id": "ann"}
    return Inbound(text="", attachments=files, received_at="2026-11-20T09:00:00Z", correlation="c", **fields)


def file(name: str = "plan.pdf", kind: Any = "document", source: str = "s") -> Attachment:
    return Attachment(kind=kind, name=name, source=source)


@given(NAMES, KINDS)
def test_any_name_becomes_one_that_can_be_written_and_found(name, kind):
    path = path_of(message(file(name, kind)), 0)

    folder, _, leaf = path.partition("/")
    assert folder == FOLDER
    assert "/" not in leaf
    assert len(leaf.encode()) < 240  # `.txt` of what was heard comes behind it
    assert MARK.findall(leaf)[-1] == mark_of("phone:7", "m")
    place = FileAccess(Path("/nowhere"), "pond:person:phone:ann").place(path)
    assert place.writable
    assert place.path == path


@given(st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), min_size=2, max_size=4, unique=True))
def test_files_of_different_messages_never_meet(whose):
    paths = {path_of(message(file(), chat=f"c{chat}", message_id=f"i{own}"), 0) for chat, own in whose}

    assert len(paths) == len(whose)


def test_files_of_one_message_are_told_apart_and_found_again():
    album = message(file("a.jpg", "image", "1"), file("a.jpg", "image", "2"), file("a.jpg", "image", "1"))

    assert len({path_of(album, number) for number in range(3)}) == 3
    assert path_of(album, 1) == path_of(album, 1)


@each_row(
    ("given_name", "kind", "stem", "ending"),
    [
        ("Plan (1).pdf", "document", "Plan-(1)-m", ".pdf"),
        ("", "image", "image-m", ".jpg"),
        ("", "voice", "voice-m", ".ogg"),
        ("", "document", "document-m", ""),
        ("../../x.sh", "document", "x-m", ".sh"),
        ("read me. it is a sentence", "document", "read-me.-it-is-a-sentence-m", ""),
        ("..", "document", "document-m", ""),
    ],
)
def test_a_name_stays_as_people_know_it(given_name, kind, stem, ending):
    leaf = path_of(message(file(given_name, kind)), 0).partition("/")[2].removeprefix("2026-11-20-")

    assert leaf.startswith(stem)
    assert leaf.endswith(ending)


def test_what_was_kept_is_found_and_a_link_is_not_followed(tmp_path):
    folders, path = FileAccess(tmp_path / "pond", "pond:person:phone:ann"), path_of(message(file()), 0)
    assert kept(folders, path, 100) is None

    keep(folders, path, b"plan")

    assert kept(folders, path, 100) == b"plan"
    assert kept(folders, path, 3) is None
    [there] = (tmp_path / "pond").rglob("*.pdf")
    assert there.stat().st_mode & 0o777 == 0o600
    secret = tmp_path / "secret"
    secret.write_text("secret")
    there.unlink()
    there.symlink_to(secret)
    assert kept(folders, path, 100) is None
    keep(folders, path, b"again")
    assert secret.read_text() == "secret"
    assert not there.is_symlink()
