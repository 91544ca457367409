"""A zip file that is written entry by entry, with no more of it in memory than a piece."""

import datetime as dt
import zipfile
from collections.abc import AsyncIterable, AsyncIterator
from typing import IO

from anyio import to_thread

LEVEL = 6
"""Of the compression, as for transcripts."""

FILE_MODE = 0o600
"""What a person said to a bot is nobody else's to read, unpacked either."""


class Package:
    """Writes entries one after the other; every write is done in a thread."""

    def __init__(self, file: IO[bytes], *, now: dt.datetime) -> None:
        """``now`` is the time that entries are given."""
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL)
        self._time = (now.year, now.month, now.day, now.hour, now.minute, now.second)

    async def add(self, name: str, pieces: AsyncIterable[bytes]) -> int:
        """Write an entry of ``pieces``; how many bytes it has. Nothing is written when there are none.

        A write that has begun is waited for, also by whoever is cancelled: the file is still open.

        Raises:
            OSError: the file cannot be written.
        """
        entry, size = None, 0
        try:
            async for piece in pieces:
                if entry is None:
                    entry = await to_thread.run_sync(self._opened, name)
                await to_thread.run_sync(entry.write, piece)
                size += len(piece)
        finally:
            if entry is not None:
                entry.close()
        return size

    async def add_text(self, name: str, text: str) -> int:
        """As ``add``, of a text."""

        async def whole() -> AsyncIterator[bytes]:
            if text:
                yield text.encode("utf-8", "replace")

        return await self.add(name, whole())

    async def close(self) -> None:
        """Write the list of all entries; without it there is no zip file."""
        await to_thread.run_sync(self._zip.close)

    def abandon(self) -> None:
        """Leave the file as it is: it is not to be used."""
        # Else it would be written to once more when this is collected, long after the file was closed.
        self._zip.fp = None

    def _opened(self, name: str) -> IO[bytes]:
        # A name that is no text (of a file that somebody put there) is spelled out.
        safe = name.encode("utf-8", "backslashreplace").decode()
        found = zipfile.ZipInfo(safe, date_time=self._time)
        found.compress_type = zipfile.ZIP_DEFLATED
        found.external_attr = FILE_MODE << 16
        return self._zip.open(found, "w", force_zip64=True)
