"""Metrics of this process. ``/metrics`` of the web role and of ``health.port`` show them together with the queues.

Label values come from the configuration (channels, models) or from the code (outcomes), never from persons,
conversations or messages.
"""

from typing import Literal

import anyio
from prometheus_client import Counter, Histogram
from prometheus_client.context_managers import Timer

ACCEPTED = Counter("millpond_messages_total", "Messages submitted to the queue, by result", ["channel", "status"])
ARRIVALS = Counter("millpond_arrivals_total", "Messages received from platforms, by result", ["channel", "outcome"])
UPDATES = Counter(
    "millpond_updates_failed_total",
    "Platform updates that could not be processed, and failed polls, by cause",
    ["channel", "outcome"],
)
TURNS = Counter("millpond_turns_total", "Finished turns, by outcome", ["outcome"])
TURN_SECONDS = Histogram(
    "millpond_turn_seconds",
    "Time from the start of a turn (an answer) until it is saved",
    buckets=(0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 600),
)
_STAGE_SECONDS = Histogram(
    "millpond_turn_stage_seconds",
    "Time that turns spend in each stage. Each model call of a turn is counted separately, with its prompt and tools",
    ["stage"],
    buckets=(0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 600),
)
WAITED_SECONDS = Histogram(
    "millpond_turn_waited_seconds",
    "Time from a message's arrival to the start of its turn",
    buckets=(0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 600, 3600),
)
CLAIMS = Counter(
    "millpond_claims_total",
    "Number of times that a worker started processing a conversation, by attempt (first, or a retry after an attempt "
    "that made no progress)",
    ["attempt"],
)
TOKENS = Counter(
    "millpond_tokens_total",
    "Tokens used by model calls. The direction in includes cached tokens. The direction cacheable is the input of "
    "calls whose provider reports cached tokens.",
    ["model", "direction"],
)
CALLS = Counter("millpond_model_calls_total", "Model calls that returned an answer", ["model"])
COST = Counter("millpond_cost_total", "Cost of model calls at the configured prices", ["model", "currency"])
CACHED_COST = Counter(
    "millpond_cached_cost_total",
    "Cost of cached input tokens at the configured prices, included in millpond_cost_total",
    ["model", "currency"],
)
REMINDERS = Counter("millpond_reminders_total", "Reminders fired, fired late, or delayed by a limit", ["outcome"])
DELIVERIES = Counter("millpond_deliveries_total", "Reply parts sent, by result", ["channel", "outcome"])
CONSOLIDATIONS = Counter(
    "millpond_consolidations_total",
    "Attempts to summarize a range of messages in memory, by method or failure",
    ["outcome"],
)
CONSOLIDATED_MESSAGES = Counter("millpond_consolidated_messages_total", "Messages that were consolidated")
CONSOLIDATION_TOKENS = Counter(
    "millpond_consolidation_tokens_total",
    "Tokens used by summaries and by notes before summaries (flushes)",
    ["direction"],
)
AUDITED = Counter(
    "millpond_consolidation_audit_items_total",
    "Facts and statements in consolidated messages, by where they can still be found",
    ["place"],
)
QUIZZED = Counter(
    "millpond_consolidation_quiz_questions_total",
    "Quiz questions about consolidated messages, by outcome (answered correctly or wrongly)",
    ["outcome"],
)
CONSOLIDATION_SECONDS = Histogram(
    "millpond_consolidation_seconds",
    "Time from a consolidation's model call until the result is saved",
    buckets=(0.1, 0.5, 1, 2, 5, 10, 30, 60, 600),
)
CONSOLIDATION_WAITS = Histogram(
    "millpond_consolidation_wait_seconds",
    "Time that turns waited for a consolidation (a summary of older messages)",
    buckets=(0.01, 0.1, 0.5, 1, 2, 5, 10, 15),
)
ORPHANS = Counter("millpond_archive_orphans_total", "Unused files deleted from the archive")
LEASES_LOST = Counter(
    "millpond_leases_lost_total", "Turns that ended because another worker had taken over the session"
)
SUMMARY_CALLS = Counter(
    "millpond_summary_calls_total",
    "Model calls for summaries, for notes before summaries (flushes) and for quizzes, by outcome",
    ["purpose", "outcome"],
)
SUMMARY_SECONDS = Histogram(
    "millpond_summary_seconds",
    "Duration of one model call for a summary or a memory flush",
    buckets=(0.1, 0.5, 1, 2, 5, 10, 30, 60),
)
CONNECTIONS = Counter(
    "millpond_connections_closed_total",
    "Client connections that were refused or closed because of a limit, by outcome",
    ["outcome"],
)
LOOP_LAG = Histogram(
    "millpond_loop_lag_seconds",
    "Event loop delay, measured by a task that runs once a second",
    buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5),
)
LOOK_EVERY_S = 1.0
"""Rarely enough to cost nothing, often enough to see what blocks the loop again and again."""

Stage = Literal["read", "recall", "prompt", "model", "tools", "commit"]


def stage(name: Stage) -> Timer:
    """Times a block as a stage of a turn."""
    return _STAGE_SECONDS.labels(name).time()


async def watch_loop() -> None:
    """Measure for ever how late the event loop is."""
    while True:
        due = anyio.current_time() + LOOK_EVERY_S
        await anyio.sleep(LOOK_EVERY_S)
        LOOP_LAG.observe(max(0.0, anyio.current_time() - due))
