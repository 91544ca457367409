"""All sentences that the bot itself says, in English and Chinese. Answers of a model are not among them.

Public: ``text(key, language, ...)``, ``Language`` and ``SENTENCES``. A sentence is found by its key and the language of
the bot's configuration; ``{name}`` stands for a value. Begin with ``conversation_wording``.
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
    return SENTENCES[language][key].format(**values)
