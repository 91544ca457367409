"""What this process counts; ``/metrics`` of the web role shows it, with the queues' lengths beside it."""

from prometheus_client import Counter, Histogram

ACCEPTED = Counter("millpond_messages_total", "Messages handed in, by what became of them", ["channel", "status"])
ARRIVALS = Counter("millpond_arrivals_total", "What platforms said, by what became of it", ["channel", "outcome"])
UPDATES = Counter(
    "millpond_updates_failed_total",
    "Updates of a platform that came to nothing, and polls, by what went wrong",
    ["channel", "outcome"],
)
TURNS = Counter("millpond_turns_total", "Turns ended, by how", ["outcome"])
TURN_SECONDS = Histogram(
    "millpond_turn_seconds", "From claim to commit", buckets=(0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 600)
)
DELIVERIES = Counter("millpond_deliveries_total", "Parts of replies, by how sending them ended", ["channel", "outcome"])
CONSOLIDATIONS = Counter(
    "millpond_consolidations_total", "Ranges consolidated, by how, and tries that failed", ["outcome"]
)
CONSOLIDATED_MESSAGES = Counter("millpond_consolidated_messages_total", "Messages that were consolidated")
CONSOLIDATION_TOKENS = Counter(
    "millpond_consolidation_tokens_total", "Tokens that summaries and flushes used", ["direction"]
)
CONSOLIDATION_SECONDS = Histogram(
    "millpond_consolidation_seconds",
    "From the model's call to the moved cursor",
    buckets=(0.1, 0.5, 1, 2, 5, 10, 30, 60, 600),
)
CONSOLIDATION_WAITS = Histogram(
    "millpond_consolidation_wait_seconds",
    "What turns waited for a consolidation",
    buckets=(0.01, 0.1, 0.5, 1, 2, 5, 10, 15),
)
ORPHANS = Counter("millpond_archive_orphans_total", "Files of the archive deleted since nothing lists them")
LEASES_LOST = Counter("millpond_leases_lost_total", "Turns ended because another worker held the session")
SUMMARY_CALLS = Counter(
    "millpond_summary_calls_total", "Calls for summaries and flushes, by how they ended", ["purpose", "outcome"]
)
SUMMARY_SECONDS = Histogram(
    "millpond_summary_seconds", "One such call, until its answer was read", buckets=(0.1, 0.5, 1, 2, 5, 10, 30, 60)
)
