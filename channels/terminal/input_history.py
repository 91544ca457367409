"""What was typed before, for the arrow keys: all but commands that ask to forget something."""

from prompt_toolkit.history import FileHistory


class TypedHistory(FileHistory):
    """A history in a file that does not keep what somebody wants gone."""

    def store_string(self, string: str) -> None:
        """Keep a line, unless it begins with ``/forget``."""
        if not string.lstrip().lower().startswith("/forget"):
            super().store_string(string)
