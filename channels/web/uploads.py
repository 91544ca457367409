"""Files that people send with a message, stored where the turn of the message looks for them.

The name of a file contains the mark of its message, so the file is forgotten with the message (``daemon/inbox.py``).
"""

import hashlib
from functools import partial
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import msgspec
from anyio import to_thread

from channels.web.site import Site
from daemon.durable import folder_below, whole_file
from daemon.events import Attachment, Inbound
from daemon.inbox import path_of
from daemon.memory import Memories
from daemon.scope import folder_of, scope_of
from daemon.session import SessionReader

ADVICE = "Check the free disk space and the permissions of this folder, and upload the file again."


class NotStored(Exception):
    """A file cannot be stored. The text says where and why."""


class Uploads:
    """The uploads of one site."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._reader = SessionReader(site.process.bus)
        self._memories = Memories(site.process.bus, site.process.archive)

    async def keep(self, inbound: Inbound, file: Attachment, content: bytes) -> Attachment:
        """Store ``content`` as a file of the message ``inbound``; the file with its path.

        The same content of the same message is stored once.

        Raises:
            NotStored: the folder cannot be written.
            BusUnavailable: Redis is unavailable.
        """
        source = hashlib.blake2b(content, digest_size=8).hexdigest()
        file = msgspec.structs.replace(file, source=source, size_bytes=len(content))
        path = path_of(msgspec.structs.replace(inbound, attachments=(file,)), 0)
        workspace, folder = await self.folder(await self.scope(inbound))
        try:
            await to_thread.run_sync(partial(_write, workspace, PurePosixPath(folder, path), content))
        except OSError as error:
            raise NotStored(f"{workspace}: the file cannot be stored ({error.strerror}). {ADVICE}") from error
        return msgspec.structs.replace(file, source="", path=path)

    async def scope(self, inbound: Inbound) -> str:
        """The scope of a session of this channel; before its first message, the one that this message will give it."""
        known = await self.known_scope(str(inbound.session))
        return known or scope_of(inbound, self._site.process.bot(self._site.config.bot))

    async def known_scope(self, session: str) -> str:
        """The scope of a session, also of a channel that is not configured here; empty: it has no messages."""
        return (await self._reader.state(session)).scope

    async def folder(self, scope: str) -> tuple[Path, str]:
        """The workspace, and the folder of the scope's files in it."""
        home = await self._memories.home(scope)
        return self._site.process.workspace(unquote(scope.partition(":")[0])), f"files/{folder_of(home)}"


def _write(workspace: Path, path: PurePosixPath, content: bytes) -> None:
    with (
        folder_below(workspace, *path.parts[:-1], make=True) as folder,
        whole_file(folder, path.name, replace=True) as file,
    ):
        file.write(content)
