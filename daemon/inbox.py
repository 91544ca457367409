"""Where the files that came with messages are kept, among those of their scope: ``inbox/<day>-<name>``. Pure.

A file's name says which message it came with: whoever does the same turn again finds it there, and when that message is
forgotten, so is the file. If another message brought it along, the name also says whose it is.
"""

import hashlib
import re

from daemon.events import Attachment, Inbound, Overheard
from daemon.sessionkey import SessionKey

FOLDER = "inbox"

STEM_MAX_CHARS = 40
"""Of a name that a person gave; of at most four bytes each, so that the whole stays below the 255 of file systems."""

ENDING_MAX_CHARS = 10

ENDINGS = {"image": ".jpg", "voice": ".ogg", "video": ".mp4", "audio": ".mp3", "document": ""}
"""Of a file that came without a name: what platforms make of their own."""

MARK = re.compile(r"m[0-9a-f]{14}")
"""What ``mark_of`` gives."""

_NO_NAME_CHAR = re.compile(r"[^\w.()+-]+")


def path_of(inbound: Inbound, number: int) -> str:
    """Where the file ``number`` of a message is kept, among the files of its scope; always the same."""
    file, session = inbound.attachments[number], str(inbound.session)
    whose = _person_mark(inbound, file.sender_id) if file.sender_id else ""
    return _path(file, number, day=inbound.received_at[:10], marks=f"{mark_of(session, inbound.id)}{whose}")


def overheard_path_of(inbound: Inbound, words: Overheard, number: int) -> str:
    """As ``path_of``, for a file of ``words``, which ``inbound`` brings along."""
    own = overheard_mark(str(inbound.session), words.sender_id, words.at)
    marks = f"{own}{_person_mark(inbound, words.sender_id)}"
    return _path(words.attachments[number], number, day=inbound.received_at[:10], marks=marks)


def _path(file: Attachment, number: int, *, day: str, marks: str) -> str:
    given = _NO_NAME_CHAR.sub("-", file.name).strip("-.")
    stem, dot, ending = given.rpartition(".")
    if not stem or len(ending) > ENDING_MAX_CHARS:
        stem, dot, ending = given, "", ""
    if not given:
        dot, ending = "", ENDINGS[file.kind]
    return f"{FOLDER}/{day}-{stem[:STEM_MAX_CHARS] or file.kind}-{marks}{_which(file, number)}{dot}{ending}"


def speech_path_of(session: str, turn: int, day: str, text: str, *, ending: str) -> str:
    """Where the spoken answer ``text`` of a turn is kept; ``day`` is YYYY-MM-DD.

    A worker that lost the turn writes another text into another file. All of them have the mark of the turn.
    """
    return f"{FOLDER}/{day}-answer-{speech_mark(session, turn)}{_digest(text, size=4)}.{ending}"


def speech_mark(session: str, turn: int) -> str:
    """The mark in the names of the spoken answers of a turn, see ``mark_of``."""
    return mark_of(session, f"\0speech {turn}")


def overheard_mark(session: str, sender_id: str, at: str) -> str:
    """The mark in the names of files that came with an overheard message, whose log entry has no message ID."""
    return mark_of(session, f"\0overheard {sender_id} {at}")


def person_mark(session: str, person: str) -> str:
    """The mark in the names of a person's files that other people's messages brought along.

    ``person``: ``<channel>:<sender>``.
    """
    return mark_of(session, f"\0person {person}")


def _person_mark(inbound: Inbound, sender_id: str) -> str:
    return person_mark(str(inbound.session), str(SessionKey(channel=inbound.channel, chat=sender_id)))


def is_of(path: str, session: str, *message_ids: str) -> bool:
    """Whether ``path`` is where ``path_of`` keeps a file of one of these messages."""
    folder, _, name = path.partition("/")
    marks = [mark_of(session, each) for each in message_ids]
    return folder == FOLDER and "/" not in name and any(mark in name for mark in marks)


def mark_of(session: str, message_id: str) -> str:
    """What stands in the names of all files that came with a message."""
    return f"{mark_of_session(session)}{_digest(session, message_id, size=4)}"


def mark_of_session(session: str) -> str:
    """How the marks of all messages of a session begin: several may share a folder."""
    return f"m{_digest(session, size=3)}"


def _which(file: Attachment, number: int) -> str:
    """Tells those of one message apart, and from those that it came with before it was edited."""
    return _digest(str(number), file.source, size=2)


def _digest(*words: str, size: int) -> str:
    return hashlib.blake2b("\0".join(words).encode("utf-8", "replace"), digest_size=size).hexdigest()
