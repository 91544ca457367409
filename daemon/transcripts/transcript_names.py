"""Finding a transcript by its name: the name tells whose it is, and the session's list whether there is such a one."""

import re
from dataclasses import dataclass
from pathlib import PurePath
from urllib.parse import unquote

from daemon.archive import Segment
from daemon.archive.segment import NAME_MAX_CHARS
from daemon.bus import Bus
from daemon.errors import NoSuchTranscript
from daemon.scope import folder_of
from daemon.session import all_sessions
from daemon.transcripts.transcripts import Transcripts

_NAME = re.compile(r"transcript_[0-9]+_(?P<session>.+)_[0-9]+-[0-9]+(~[0-9a-f]+)?\.jsonl\.gz", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Named:
    """A segment, and whose it is."""

    session: str
    segment: Segment


def is_name(text: str) -> bool:
    """Whether a person means a transcript, by its name or by the path of its file; no session is called so. Pure."""
    return text.endswith(".jsonl.gz") and PurePath(text).name.startswith("transcript_")


async def find(bus: Bus, transcripts: Transcripts, name: str) -> Named:
    """The transcript of that name, which may be given as a path.

    Raises:
        NoSuchTranscript: there is none; the text says what to do.
        ArchiveError: a list of segments cannot be read.
        BusUnavailable: Redis is away.
    """
    name = PurePath(name).name
    parts = _NAME.fullmatch(name)
    for session in await _sessions(bus, parts["session"]) if parts else ():
        for segment in await transcripts.segments(session):
            if segment.name == name:
                return Named(session=session, segment=segment)
    raise NoSuchTranscript(
        f"transcript {name} was not found. `millpond transcript list` lists the transcripts by session."
    )


async def _sessions(bus: Bus, spelled: str) -> list[str]:
    """Those whose files may be called so: a long name is cut, and what it stood for has to be looked for."""
    # What is percent-encoded in a session's key is so once more in the name of a folder.
    likely = unquote(spelled)
    if folder_of(likely) == spelled and await bus.call("EXISTS", bus.keys.session(likely)):
        return [likely]
    return [session for session in await all_sessions(bus) if folder_of(session)[-NAME_MAX_CHARS:] == spelled]
