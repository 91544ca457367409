"""Questions for the tokens of a platform, each with the test of its answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

from daemon.config import Secret
from daemon.errors import ConfigError, MillpondError
from daemon.printable import printable
from daemon.setup.questions import AnswerRefused, Asker


@dataclass(frozen=True, kw_only=True)
class SecretQuestion:
    """A secret that is asked for."""

    question: str
    flag: str
    given: Secret | None
    known: Secret | None
    problem: Callable[[Secret], str]
    """The problem with its form."""
    tried: Callable[[Secret], None]
    """Raises MillpondError when it does not work."""


class SecretQuestions:
    """Asks for the secrets of one platform."""

    def __init__(self, asker: Asker, *, platform: str, test: bool) -> None:
        """``platform``: its name, for people; ``test``: whether secrets are tried."""
        self._asker = asker
        self._platform = platform
        self._test = test

    def asked(self, what: SecretQuestion) -> Secret | None:
        """A secret that works, or that the person keeps anyway; None: none.

        Raises:
            MillpondError: the secret will not do, and there is nobody to ask for another one.
        """
        given, known = what.given, what.known
        while True:
            secret = self._asker.secret(what.question, flag=what.flag, given=given, default=known)
            if not secret:
                return None
            tried = self._tried(what, secret)
            if tried != "again":
                return secret if tried == "keep" else None
            given, known = None, None

    def go_without(self, text: str) -> None:
        """Lets a person continue; a script gets an error with the missing values."""
        if not self._asker.asks:
            raise ConfigError(text)
        self._asker.say(f"  Continuing without {self._platform}.")

    def _tried(self, what: SecretQuestion, secret: Secret) -> Literal["again", "keep", "skip"]:
        if wrong := what.problem(secret):
            if not self._asker.asks:
                raise AnswerRefused(what.flag, "", wrong)
            self._asker.say(f"  {wrong[0].upper()}{wrong[1:]}")
            return "again"
        if not self._test:
            return "keep"
        try:
            what.tried(secret)
        except MillpondError as error:
            if not self._asker.asks:
                raise
            self._asker.say(f"  {printable(str(error))}")
        else:
            return "keep"
        skip = f"continue without {self._platform}"
        of = (("again", "ask again"), ("keep", "keep this value anyway"), ("skip", skip))
        chosen = self._asker.choice("Next step", of, given=None, default="again")
        return cast("Literal['again', 'keep', 'skip']", chosen)
