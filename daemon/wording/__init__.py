"""Contains Millpond's own sentences in chats, in English and Chinese.

Public: ``text`` returns the sentence of a key in a ``Language``, ``SENTENCES`` has all of them. ``{name}`` stands for a
value, and ``{name:message|messages}`` for a number with its noun.
Begin with ``conversation_wording``.
"""

from collections.abc import Mapping
from typing import Literal

from daemon.wording import command_wording, conversation_wording, people_wording, turn_wording

Language = Literal["en", "zh"]

_MODULES = (command_wording, conversation_wording, people_wording, turn_wording)

SENTENCES: Mapping[Language, Mapping[str, str]] = {
    "en": {key: said for each in _MODULES for key, said in each.ENGLISH.items()},
    "zh": {key: said for each in _MODULES for key, said in each.CHINESE.items()},
}
"""All sentences by language and key."""


def text(key: str, language: Language, **values: object) -> str:
    """The sentence ``key`` in ``language``, with ``values`` in their places.

    Raises:
        KeyError: no such sentence, or a value is missing; a bug.
    """
    return SENTENCES[language][key].format(**{name: _Value(value) for name, value in values.items()})


class _Value:
    def __init__(self, value: object) -> None:
        self._value = value

    def __format__(self, spec: str) -> str:
        one, is_counted, many = spec.partition("|")
        if not is_counted:
            return format(self._value, spec)
        return f"{self._value} {one if str(self._value) == '1' else many}"
