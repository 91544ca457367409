"""A text that a person writes for a command: in an editor, in a file, or on standard input."""

import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click

from daemon.errors import InboundError

MAX_BYTES = 1_000_000
"""As large as MEMORY.md may be."""


def text_of(path: Path) -> str:
    """The text of a file, ``-`` being standard input.

    Raises:
        InboundError: it cannot be read, or is no text.
    """
    try:
        content = _content(path)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InboundError(f"{path} is not UTF-8 (byte {error.start}). Save the file as UTF-8.") from error
    except OSError as error:
        raise InboundError(
            f"{path} cannot be read: {error.strerror}. Check the path and the permissions of the file."
        ) from error
    if len(content) > MAX_BYTES:
        raise InboundError(f"{path} has more than {MAX_BYTES:,} bytes. Shorten the text.")
    return text.replace("\r\n", "\n")


def _content(path: Path) -> bytes:
    if str(path) == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


@contextmanager
def edited_draft(text: str) -> Generator[str]:
    """The edited ``text`` from a person's editor. If the block fails, the draft is kept and its name printed.

    Raises:
        click.ClickException: there is no editor, or it failed.
        InboundError: what was saved is no text.
    """
    folder = Path(tempfile.mkdtemp(prefix="millpond-"))
    draft = folder / "MEMORY.md"
    draft.write_bytes(text.encode())
    try:
        click.edit(filename=str(draft))
        edited = text_of(draft)
        # Editors end a text in a line feed; that alone is no change.
        yield text if edited.rstrip("\n") == text.rstrip("\n") else edited
    except BaseException:
        click.echo(f"millpond: your unsaved text is kept in {draft}", err=True)
        raise
    draft.unlink()
    folder.rmdir()
