"""The source of answers: a person at a terminal, or only flags and defaults."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal, Protocol, TypeVar, cast

import anyio
import click
import msgspec

from daemon.config import Secret
from daemon.errors import ConfigError, MillpondError
from daemon.printable import printable
from daemon.translation import chinese
from daemon.wording import Language

# Running what a question needs to be tried, from code that asks people and is not asynchronous.

_T = TypeVar("_T")


def run(work: Callable[[], Awaitable[_T]]) -> _T:
    """What ``work`` gives.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed meanwhile.
    """
    try:
        return anyio.run(work)
    except asyncio.CancelledError:
        # So Ctrl-C looks when something else was being cancelled just then: asyncio cannot tell them apart.
        raise KeyboardInterrupt from None


Check = Callable[[str], str]
"""The problem with an answer, as a sentence; empty: none."""


def fine(_: str) -> str:
    """Every answer will do."""
    return ""


def address_problem(text: str) -> str:
    """The problem with an address; empty: none."""
    if text == "-":
        return ""
    parts = text.split("://", 1)
    if len(parts) != 2 or parts[0] not in ("http", "https") or not parts[1] or any(map(str.isspace, text)):
        return "enter an address that begins with https:// or http://, such as https://api.openai.com/v1"
    if "@" in parts[1].split("/")[0]:
        return "enter the address without a user name or password; you will be asked for the key separately"
    return ""


class AnswerRefused(ConfigError):
    """An answer will not do."""

    def __init__(self, flag: str, answer: str, problem: str) -> None:
        super().__init__(f"{flag} {printable(answer)}: {problem}" if answer else f"{flag}: {problem}")
        self.flag = flag
        """The flag that gives the answer."""
        self.problem = problem
        """A sentence without the answer."""


class Asker(Protocol):
    """Asks one thing at a time. Every question names the flag that answers it."""

    asks: bool
    """Whether a person can be asked."""
    language: Language
    """Of the questions; known for sure once the language of the bot is."""

    def say(self, text: str) -> None:
        """Tell what was found."""
        ...

    def text(self, question: str, *, flag: str, given: str | None, default: str = "", check: Check = fine) -> str:
        """A text that passes ``check``; ``given`` is the flag's value, ``default`` replaces an empty answer."""
        ...

    def secret(self, question: str, *, flag: str, given: Secret | None, default: Secret | None) -> Secret:
        """A text that is not shown while it is typed; may be empty."""
        ...

    def choice(self, question: str, of: Sequence[tuple[str, str]], *, given: str | None, default: str) -> str:
        """One of several words, each of which is explained."""
        ...

    def confirm(self, question: str, *, default: bool) -> bool:
        """Yes or no; ``default`` if no person can be asked."""
        ...


class FlagAnswers:
    """Answers with flags and defaults alone."""

    asks = False

    def __init__(self, language: Language = "en") -> None:
        self.language: Language = language

    def say(self, text: str) -> None:
        """Print it."""
        click.echo(_in(self.language, text))

    def text(self, question: str, *, flag: str, given: str | None, default: str = "", check: Check = fine) -> str:
        """The given value, or the default.

        Raises:
            AnswerRefused: it will not do.
        """
        del question
        answer = default if given is None else given.strip()
        if wrong := check(answer):
            raise AnswerRefused(flag, answer, wrong)
        return answer

    def secret(self, question: str, *, flag: str, given: Secret | None, default: Secret | None) -> Secret:
        """The given value, the default, or nothing."""
        del question, flag
        return given or default or Secret("")

    def choice(self, question: str, of: Sequence[tuple[str, str]], *, given: str | None, default: str) -> str:
        """The given value, or the default."""
        del question, of
        return given or default

    def confirm(self, question: str, *, default: bool) -> bool:
        """The default."""
        del question
        return default


class FormAnswers(FlagAnswers):
    """Answers with the fields of a form, and keeps what is said for the person who filled it in."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []

    def say(self, text: str) -> None:
        """Keep it."""
        self.said.append(text.strip())

    def secret(self, question: str, *, flag: str, given: Secret | None, default: Secret | None) -> Secret:
        """The given value, which may be empty; else the default, or nothing."""
        del question, flag
        return given if given is not None else default or Secret("")


class TerminalAnswers:
    """Asks at the terminal. Ctrl-C at a question raises ``click.Abort``."""

    asks = True

    def __init__(self, language: Language = "en") -> None:
        self.language: Language = language

    def say(self, text: str) -> None:
        """Print it."""
        click.echo(_in(self.language, text))

    def text(self, question: str, *, flag: str, given: str | None, default: str = "", check: Check = fine) -> str:
        """Ask until the answer is valid; a valid given value is not asked for again."""
        del flag
        answer = given
        while True:
            if answer is None:
                answer = str(click.prompt(_in(self.language, question), default=default, show_default=bool(default)))
            answer = answer.strip()
            wrong = check(answer)
            if not wrong:
                return answer
            self.say(f"  {_in(self.language, wrong)}")
            answer = None

    def secret(self, question: str, *, flag: str, given: Secret | None, default: Secret | None) -> Secret:
        """Ask without showing the input; Enter keeps the default, ``-`` means none."""
        del flag
        if given is not None:
            return given
        known = " [press Enter to keep the current value, or type - to remove the value]" if default else ""
        asked = _in(self.language, question) + _in(self.language, known)
        answer = str(click.prompt(asked, default="", show_default=False, hide_input=True)).strip()
        if answer == "-":
            return Secret("")
        if answer:
            self.say(f"  ({len(answer)} characters)")
        return Secret(answer) if answer else default or Secret("")

    def choice(self, question: str, of: Sequence[tuple[str, str]], *, given: str | None, default: str) -> str:
        """Ask for one of the words, or for its beginning."""
        if given:
            return given
        click.echo(f"{_in(self.language, question)}:")
        for word, meaning in of:
            click.echo(f"  {word:<10}{_in(self.language, meaning)}")

        words = [word for word, _ in of]

        def check(answer: str) -> str:
            return "" if _meant(answer, words) else f"please answer with one of {', '.join(words)}"

        return _meant(self.text("Which", flag="", given=None, default=default, check=check), words)

    def confirm(self, question: str, *, default: bool) -> bool:
        """Ask."""
        return click.confirm(_in(self.language, question), default=default)


def _in(language: Language, text: str) -> str:
    return chinese(text) if language == "zh" else text


def tell(asker: Asker, text: str) -> None:
    """Say a text that begins with a small letter, as errors do."""
    said = _in(asker.language, text)
    asker.say(f"  {said[0].upper()}{said[1:]}")


def _meant(answer: str, words: Sequence[str]) -> str:
    """The word that begins so; empty when none or several do."""
    found = [word for word in words if answer and word.startswith(answer.lower())]
    return answer.lower() if answer.lower() in words else found[0] if len(found) == 1 else ""


# Questions for secrets of platforms, each with the test of its answer.


class SecretQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A secret that is asked for."""

    question: str
    flag: str
    given: Secret | None
    known: Secret | None
    problem: Callable[[Secret], str]
    """The problem with its form."""
    tried: Callable[[Secret], None]
    """Raises ``refusal`` when it does not work."""
    refusal: type[MillpondError]
    platform: str
    """As people call it."""


def ask_secret(asker: Asker, what: SecretQuestion, *, test: bool) -> Secret | None:
    """A secret that works, or that the person keeps anyway; None: none.

    Raises:
        AnswerRefused: its form is wrong, and there is nobody to ask again.
        MillpondError: ``what.refusal``, in the same case.
    """
    given, known = what.given, what.known
    while True:
        secret = asker.secret(what.question, flag=what.flag, given=given, default=known)
        if not secret:
            return None
        tried = _tried(asker, what, secret, test=test)
        if tried != "again":
            return secret if tried == "keep" else None
        given, known = None, None


def _tried(asker: Asker, what: SecretQuestion, secret: Secret, *, test: bool) -> Literal["again", "keep", "skip"]:
    if wrong := what.problem(secret):
        if not asker.asks:
            raise AnswerRefused(what.flag, "", wrong)
        tell(asker, wrong)
        return "again"
    if not test:
        return "keep"
    try:
        what.tried(secret)
    except what.refusal as error:
        if not asker.asks:
            raise
        asker.say(f"  {printable(str(error))}")
    else:
        return "keep"
    of = (
        ("again", "enter the value again"),
        ("keep", "keep this value anyway"),
        ("skip", f"continue without {what.platform}"),
    )
    chosen = asker.choice("Next step", of, given=None, default="again")
    return cast("Literal['again', 'keep', 'skip']", chosen)
