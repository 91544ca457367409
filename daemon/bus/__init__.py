"""Contains the connection to Redis: queues, wake-ups, live events, key names and migrations.

Public: ``open_bus`` connects, ``publish`` accepts a message, ``take``, ``wake`` and ``reap`` handle ready sessions,
``Listener`` receives live events, ``DeadLetters`` replays and drops.
Begin with ``connection`` and ``keys``. ``command_batch`` and ``script_batch`` send commands together.
"""

from daemon.bus.cluster import Cluster, PartitionChanges
from daemon.bus.command_batch import translated
from daemon.bus.connection import START_PATIENCE_S, Bus, open_bus
from daemon.bus.dead_letters import (
    DeadLetter,
    DeadLetters,
    LetterSelection,
    LetterWork,
    ReplayOutcome,
    dropped,
    excerpt_of,
    one_letter,
    replayed,
    time_of,
    work_off,
)
from daemon.bus.key_scan import on_every_node, scan, scan_keys
from daemon.bus.keys import Keys
from daemon.bus.pipeline_connection import Part, pairs
from daemon.bus.publish import (
    ADMIN_COMMANDS,
    COMMANDS,
    QUEUED_COMMANDS,
    RUN_MAX,
    Accepted,
    argument_of,
    check_inbound,
    command_of,
    forestall,
    longest_deadline_s,
    publish,
    publish_run,
)
from daemon.bus.pubsub import Heard, Listener, Subscription, notify, show_live
from daemon.bus.replication import LostMessages, read_lost
from daemon.bus.script_batch import Script, ScriptRequest, Shared, load_script, pack
from daemon.bus.wakeups import mend, reap, take, wake

__all__ = [
    "ADMIN_COMMANDS",
    "COMMANDS",
    "QUEUED_COMMANDS",
    "RUN_MAX",
    "START_PATIENCE_S",
    "Accepted",
    "Bus",
    "Cluster",
    "DeadLetter",
    "DeadLetters",
    "Heard",
    "Keys",
    "LetterSelection",
    "LetterWork",
    "Listener",
    "LostMessages",
    "Part",
    "PartitionChanges",
    "ReplayOutcome",
    "Script",
    "ScriptRequest",
    "Shared",
    "Subscription",
    "argument_of",
    "check_inbound",
    "command_of",
    "dropped",
    "excerpt_of",
    "forestall",
    "load_script",
    "longest_deadline_s",
    "mend",
    "notify",
    "on_every_node",
    "one_letter",
    "open_bus",
    "pack",
    "pairs",
    "publish",
    "publish_run",
    "read_lost",
    "reap",
    "replayed",
    "scan",
    "scan_keys",
    "show_live",
    "take",
    "time_of",
    "translated",
    "wake",
    "work_off",
]
