"""The kinds of keys of each schema, recorded: a new kind is a new schema."""

from daemon.bus.migrations import SCHEMA
from daemon.data import key_names

# A line is never changed. A new kind of key is a new line here, a new ``Migration``, and a row of docs/upgrade.md.
RECORDED = {
    1: (
        "access archives asides bots bucket clearing codes collecting dead due ended forgetting grew guesses "
        "history in job jobs leader live lock log memory meta moved notes notices out overheard pace pair "
        "paused people poller ready restoring said seen segments sent session sessions shelved told tries "
        "undigested unknown unsettled usage versions waiting workers"
    ),
    2: "audit deliveries errors failing learnt linking login retaining traces visitor",
    3: "labels preferences proactive rates reminders upcoming web",
    4: "approval",
}


def test_a_new_kind_of_key_is_a_new_schema() -> None:
    groups = ("SESSION", "SCOPE", "ZSETS", "STREAMS", "BESIDE", "TAILED", "REPLIES", "DATABASE")
    kinds = frozenset[str]({"leader", "clearing"}).union(*(getattr(key_names, group) for group in groups))
    recorded = [kind for line in RECORDED.values() for kind in line.split()]

    assert sorted(kinds) == sorted(recorded)
    assert max(RECORDED) == SCHEMA
