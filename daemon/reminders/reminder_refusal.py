"""Why a reminder cannot be kept, as a sentence in each language."""

from daemon.errors import MillpondError
from daemon.wording import Language
from daemon.wording import text as say


class ReminderRefused(MillpondError):
    """A reminder cannot be kept as it was asked for. The text says what to do instead."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(say(key, "en", **values))
        self.key, self._values = key, values

    def said(self, language: Language) -> str:
        """The same in a bot's language."""
        return say(self.key, language, **self._values)
