"""Tab completes commands: a word with ``/`` that a line begins with."""

from collections.abc import Iterable, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from daemon.bus import COMMANDS

NAMES = tuple(name for name, command in COMMANDS.items() if name == f"/{command}")
"""What a person at a terminal writes; other spellings are those of platforms."""


class CommandCompleter(Completer):
    """Completes Millpond's commands, and those of the terminal's own."""

    def __init__(self, own: Sequence[str]) -> None:
        self._names = (*NAMES, *own)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """The commands that begin like what stands before the cursor."""
        typed = document.text_before_cursor
        if typed.startswith("/"):
            for name in self._names:
                if name.startswith(typed.lower()):
                    yield Completion(name, start_position=-len(typed))
