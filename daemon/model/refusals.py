"""The refusals of one request, and the dialects in which it may be sent again. Pure."""

from collections.abc import Iterator

from daemon.model.chat_model import Request
from daemon.model.dialect import Dialect, is_of_length
from daemon.model.model_errors import Refusal, is_filtered, is_of_output, is_overflow
from daemon.model.setup_faults import status_of

_OF_THE_FORM = frozenset({400, 404, 415, 422})
_OF_A_TEMPLATE = frozenset({500, 501})
"""llama.cpp and others answer so to messages that the model's chat template or their own parser does not take."""


class Refusals:
    """Of one request."""

    def __init__(self) -> None:
        self._is_repeated = False
        self._plainer: Iterator[Dialect] | None = None

    def next(self, refusal: Refusal, dialect: Dialect, request: Request) -> Iterator[Dialect]:
        """Dialects to try in order; the same one means that the request is to be repeated as it is.

        A refusal that nobody understands, or that may be an outage, is believed when it came twice.
        """
        text, is_template = refusal.response.text, refusal.status in _OF_A_TEMPLATE
        if is_overflow(refusal.body):
            found = dialect.with_room(text, request)
            return iter(() if found is None else (found,))
        understood = (
            list(_understood(dialect, text, request)) if refusal.status in _OF_THE_FORM | _OF_A_TEMPLATE else ()
        )
        if understood and (self._is_repeated or not is_template):
            return iter(understood)
        if understood or _is_puzzling(refusal, text, request):
            return self._again(refusal, dialect)
        return iter(())

    def _again(self, refusal: Refusal, dialect: Dialect) -> Iterator[Dialect]:
        """The same once more, then plainer ones."""
        if not self._is_repeated:
            self._is_repeated = True
            return iter((dialect,))
        if is_of_output(refusal.body):
            return iter(())
        self._plainer = self._plainer or dialect.plainer()
        return self._plainer


def _is_puzzling(refusal: Refusal, text: str, request: Request) -> bool:
    """Whether it may be about the form of a request, though it does not say so."""
    has_form = bool(request.tools) or len(request.messages) > 1
    is_known = is_filtered(refusal.body) or is_of_length(text) or status_of(refusal.status, text.lower()) is not None
    # Words that are not understood are mostly about what was said; a web page or nothing gives no reason at all.
    body: object = refusal.body
    has_reason = not is_of_output(body) and isinstance(body, dict)
    return refusal.status in (400, 422) and has_form and not (is_known or has_reason)


def _understood(dialect: Dialect, text: str, request: Request) -> Iterator[Dialect]:
    """The dialects that a refusal speaks of, each with one more change."""
    tried = {dialect}
    found = dialect.without(text, request)
    while found is not None and found not in tried:
        yield found
        tried.add(found)
        found = found.without(text, request)
