"""Questions for secrets of platforms, each with the test of its answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

from daemon.config import Secret
from daemon.errors import MillpondError
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
        asker.say(f"  {wrong[0].upper()}{wrong[1:]}")
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
        ("again", "ask again"),
        ("keep", "keep this value anyway"),
        ("skip", f"continue without {what.platform}"),
    )
    chosen = asker.choice("Next step", of, given=None, default="again")
    return cast("Literal['again', 'keep', 'skip']", chosen)
