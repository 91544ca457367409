"""What a soak found, a line a kind, each under the promise that it would break (DESIGN.md, section 5). Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from tests.chaos.ends import End, end_of
from tests.chaos.tally import Tally

SHOWN = 5  # findings of a kind that the report shows

OF_CHAOS = {
    **dict.fromkeys(("lost", "doubled", "disordered", "unsent", "unmarked", "unlisted", "unfounded", "shuffled"), "1"),
    **dict.fromkeys(("rerun", "unrecorded", "mismatched", "invented", "untold"), "1"),
    **dict.fromkeys(("stale", "unversioned", "unfiled"), "2"),
    **dict.fromkeys(("backward", "untiled", "unsaid", "unraw", "unarchived", "untrimmed", "missing"), "3"),
    **dict.fromkeys(("overfull", "orphaned"), "4"),
    **dict.fromkeys(("impatient", "unreleased", "stopped"), "5"),
}
"""Kinds of the chaos run, by the promise that they belong to."""

NOT_LOOKED_AT = frozenset(
    {"stale", "unsent", "unmarked", "unlisted", "unfounded", "shuffled"}
    | {
        "rerun", "unrecorded", "invented", "untold", "unraw", "missing", "backward", "overfull", "orphaned",
        "impatient", "stopped",
    }
)  # fmt: skip
"""Of these, what takes its witnesses, or is looked at here in another way."""


@dataclass(kw_only=True)
class Line:
    promise: str
    text: str
    found: list[str] = field(default_factory=list[str])


OWN = {
    "unsent": Line(promise="1", text="replies that nobody was shown"),
    "made_up": Line(promise="1", text="shown replies that stand in no log"),
    "shuffled": Line(promise="1", text="chats out of order where they are shown"),
    "unlisted": Line(promise="1", text="replies shown more often than queue unknown lists"),
    "unread": Line(promise="1", text="readers of events who missed a message, or saw one twice"),
    "backward": Line(promise="3", text="cursors that were seen to go back"),
    "unheard": Line(promise="4", text="turns whose prompt lacked a message that they answer"),
    "overfull": Line(promise="4", text="prompts above their window or budget"),
    "orphaned": Line(promise="4", text="prompts with calls and results apart"),
    "impatient": Line(promise="5", text="turns that waited too long for a consolidation"),
    "strange": Line(promise="6", text="prompts that showed what others said"),
    "problems": Line(promise="7", text="requests that were answered wrongly"),
    "fallen": Line(promise="7", text="processes that ended by themselves"),
    "ungraceful": Line(promise="8", text="processes that did not stop as they should"),
    "tardy": Line(promise="8", text="processes that took long to stop"),
    "growing": Line(promise="-", text="processes that hold more and more"),
    "warming": Line(promise="-", text="processes that grew in a run of too few messages to tell caches from leaks"),
    "left": Line(promise="-", text="queues that are not empty at the end"),
    "check": Line(promise="-", text="rules that data check finds broken"),
    "stopped": Line(promise="5", text="work that has stopped before its end"),
    "slow": Line(promise="-", text="rates below what was asked for"),
}


class Findings:
    def __init__(self) -> None:
        self.lines = {
            each.name: Line(promise=OF_CHAOS[each.name], text=str(each.metadata["text"]))
            for each in fields(Tally)
            if each.name not in NOT_LOOKED_AT
        }
        self.lines |= {name: Line(promise=line.promise, text=line.text) for name, line in OWN.items()}

    def add(self, kind: str, found: Iterable[str]) -> None:
        self.lines[kind].found += found

    def take(self, tally: Tally) -> None:
        for each in fields(tally):
            if each.name not in NOT_LOOKED_AT:
                self.add(each.name, getattr(tally, each.name))

    def end(self, undecided: str) -> End:
        """How the run ended; ``undecided`` as for ``end_of``."""
        return end_of({kind: line.found for kind, line in self.lines.items()}, undecided)

    def report(self) -> str:
        rows = ["promise  found"]
        for line in sorted(self.lines.values(), key=lambda line: line.promise.replace("-", "9")):
            rows.append(f"{line.promise:>7} {len(line.found):6}  {line.text}")
            rows += [f"                {finding}" for finding in line.found[:SHOWN]]
        return "\n".join(rows)
