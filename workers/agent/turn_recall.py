"""Searches memories for the newest message, once for each turn. The result is never stored."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from daemon import metrics
from daemon.events import LogEntry
from daemon.memory import MemoryLocation
from daemon.model import enclosed
from daemon.recall import Recaller, RecallQuery
from daemon.wording import text as say
from workers.agent.prompt.history_loader import PromptMessages
from workers.agent.prompt.system_prompt import Prompts
from workers.agent.prompt.turn_requests import RecallSearch
from workers.agent.turn_tracing import TurnTracing
from workers.message_format import role_of, taken_apart, text_of

AROUND_TOKENS = 45
"""What the section's heading counts, and the marks around what was found."""

SHORT_BYTES, SHORT_KEPT = 1_200, 8_192
"""Of messages of at most so many bytes so many are kept taken apart: every turn of a conversation looks at the same."""

EXCHANGE_CHARS = 1_000
"""Of each message of the last exchange, what is looked for beside few words."""


async def recalled(  # noqa: PLR0913 - five are of the turn
    recaller: Recaller,
    home: MemoryLocation,
    session: str,
    prompts: Prompts,
    *,
    current: Sequence[LogEntry],
    shown: PromptMessages,
    note: Callable[[str], None] = lambda _note: None,
) -> str | None:
    """What stands in the section for what was recalled; empty: nothing; None: nothing was searched.

    Args:
        recaller: of the process.
        home: whose memory it is.
        session: whose turn it is.
        prompts: the bot's.
        current: the turn so far; what people said to the bot in it is what is looked for.
        shown: what lies before the turn, and the part of it that the prompt contains, which need not be repeated.
        note: as ``RecallQuery.note``.
    """
    language = prompts.bot.language
    how = say("recalled_how", language)
    asked = RecallQuery(
        words="\n".join(said(entry) for entry in current if entry.id),
        before=lambda: last_exchange(shown.past.history),
        held=lambda: held(shown),
        count=prompts.tokenizer.count,
        allowance_tokens=prompts.recalled_tokens - prompts.tokenizer.count(how) - AROUND_TOKENS,
        session=session,
        first=shown.first,
        hidden=shown.hidden,
        is_bare=home.is_bare,
        note=note,
    )
    with metrics.stage("recall"):
        found = await recaller.recalled(home.scope, asked)
    return f"{how}\n\n{enclosed(found)}" if found else found


def traced(recall: RecallSearch, tracing: TurnTracing, *, engine: str) -> RecallSearch:
    """The same, noted in the trace of a turn as the search of an ``engine``."""

    async def noted(*, current: Sequence[LogEntry], shown: PromptMessages) -> str | None:
        began = tracing.clock.monotonic()
        found = await recall(current=current, shown=shown)
        if found is not None:
            tracing.recalled(engine, began)
        return found

    return noted


def said(entry: LogEntry) -> str:
    """The words of a message. Pure."""
    return _words(bytes(entry.wire))


def _words(wire: bytes) -> str:
    return _said_short(wire) if len(wire) <= SHORT_BYTES else _said(wire)


@lru_cache(maxsize=SHORT_KEPT)
def _said_short(wire: bytes) -> str:
    return _said(wire)


def _said(wire: bytes) -> str:
    return text_of(taken_apart(wire).get("content"))


def last_exchange(history: Sequence[LogEntry]) -> str:
    """What people said last, and what they were answered. Pure."""
    turn = history[-1].turn if history else 0
    ends = [entry for entry in history if entry.turn == turn]
    asked = [said(entry) for entry in ends if role_of(bytes(entry.wire)) == "user"]
    answers = [said(entry) for entry in ends if role_of(bytes(entry.wire)) == "assistant"]
    return "\n".join(text[:EXCHANGE_CHARS] for text in (*asked, *answers[-1:]) if text)


def held(shown: PromptMessages) -> list[str]:
    """The texts of a prompt before the current turn. Pure."""
    return [shown.memory, shown.past.memory_changes, *map(_words, shown.wires)]
