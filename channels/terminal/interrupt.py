"""What Ctrl-C means: end the turn, else ask once more, else leave. Pure."""

from typing import Literal

Meaning = Literal["stop", "ask", "quit"]


class Interrupt:
    """Remembers how often Ctrl-C was pressed since something was last written."""

    def __init__(self) -> None:
        self._stopped = False
        self._asked = False

    def press(self, *, running: bool) -> Meaning:
        """What this one means; ``running`` while a turn of the session is answered.

        A turn is stopped once: when that has no effect (no worker lives), two more still lead out.
        """
        if running and not self._stopped:
            self._stopped = True
            return "stop"
        if not self._asked:
            self._asked = True
            return "ask"
        return "quit"

    def forget(self) -> None:
        """Something was written, or an answer came: begin anew."""
        self._stopped = self._asked = False
