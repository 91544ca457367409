"""Publishing, wake-ups and live events. All communication between processes goes through Redis and this package.

``open_bus`` connects; ``publish`` accepts a message; ``take``, ``wake`` and ``reap`` deal in ready sessions;
``Listener`` hears what is published in passing; ``DeadLetters`` replays and drops.
"""

from daemon.bus.cluster import Cluster
from daemon.bus.command_batch import translated
from daemon.bus.connection import START_PATIENCE_S, Bus, open_bus
from daemon.bus.dead_letter_replay import (
    Choice,
    LetterWork,
    Worked,
    dropped,
    excerpt_of,
    one_letter,
    replayed,
    time_of,
    work_off,
)
from daemon.bus.dead_letters import DeadLetter, DeadLetters
from daemon.bus.failover import Lost, read_lost
from daemon.bus.key_scan import scan, scan_keys
from daemon.bus.keys import Keys
from daemon.bus.live_events import notify, show_live
from daemon.bus.nodes import on_every_node
from daemon.bus.partition_changes import Changes
from daemon.bus.pipeline_connection import Part
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
from daemon.bus.pubsub import Heard, Listener, Subscription
from daemon.bus.resp_replies import pairs
from daemon.bus.script import Script, load_script, pack
from daemon.bus.script_batch import Asked, Shared
from daemon.bus.wakeups import mend, reap, take, wake

__all__ = [
    "ADMIN_COMMANDS",
    "COMMANDS",
    "QUEUED_COMMANDS",
    "RUN_MAX",
    "START_PATIENCE_S",
    "Accepted",
    "Asked",
    "Bus",
    "Changes",
    "Choice",
    "Cluster",
    "DeadLetter",
    "DeadLetters",
    "Heard",
    "Keys",
    "LetterWork",
    "Listener",
    "Lost",
    "Part",
    "Script",
    "Shared",
    "Subscription",
    "Worked",
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
