"""A text that must never be shown."""


class Secret:
    """Holds a secret; printing, formatting or encoding it gives stars. ``reveal()`` is the only way to the text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The secret itself, for the one line that sends it."""
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __str__(self) -> str:
        return "********" if self._text else ""

    def __repr__(self) -> str:
        return f"Secret('{self}')"
