"""Consolidation on request by the tool ``compact`` or by ``/compact``, with a sentence about the result."""

from daemon.errors import BusError, ConfigError, ToolError
from daemon.wording import Language
from daemon.wording import text as say
from workers.agent.turn_requests import Requests
from workers.consolidation import Report


async def compacted(requests: Requests, focus: str) -> str:
    """The result of the tool for the model.

    Raises:
        ToolError: it could not be done now.
    """
    try:
        report = await requests.compact(focus)
    except (BusError, ConfigError) as error:
        raise ToolError(f"the older messages of the conversation could not be summarized right now: {error}") from error
    if report.outcome == "unpaid":
        raise ToolError(say("compact_limited", "en"))
    if report.outcome in ("failed", "skipped", "busy"):
        raise ToolError(
            "The older messages could not be summarized right now. The conversation remains unchanged. Continue "
            "without compaction."
        )
    return told(report, "en")


def told(report: Report, language: Language) -> str:
    """The result of a consolidation, for people."""
    if report.outcome == "nothing":
        return say("compact_nothing", language)
    if report.outcome == "unpaid":
        return say("compact_limited", language)
    if report.outcome != "settled":
        return say("compact_failed", language)
    return say(
        "compacted",
        language,
        count=report.upto - report.first,
        before=f"{report.tokens_before:,}",
        after=f"{report.tokens_after:,}",
    )
