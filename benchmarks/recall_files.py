"""Loads conversations that people really had, with questions whose answers are known, from files beside the project.

The folder has one sub-folder a set: ``locomo*/*.json`` (LoCoMo's format) and ``madial/`` (MADial-Bench's format).
"""

import datetime as dt
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOCOMO_TIME = "%I:%M %p on %d %B, %Y"
"""``1:56 pm on 8 May, 2023``."""
LOCOMO_KINDS = {1: "several places", 2: "time", 3: "inference", 4: "one place", 5: "adversarial"}
PAUSE = dt.timedelta(seconds=40)
"""Between two messages; the files give a time for each session only."""
_is_turn = re.compile(r"D(\d+):(\d+)").fullmatch
_parts = re.compile(r"[;,\s]+").split


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message of a conversation."""

    time: dt.datetime
    speaker: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, and the indices of the messages that hold its answer."""

    kind: str
    text: str
    evidence: frozenset[int]


@dataclass(kw_only=True)
class Conversation:
    """Messages in order, and questions about them."""

    set_name: str
    name: str
    language: str
    messages: list[Message] = field(default_factory=list[Message])
    questions: list[Question] = field(default_factory=list[Question])

    @property
    def now(self) -> dt.datetime:
        """When the questions are asked: a day after the last message."""
        return max(message.time for message in self.messages) + dt.timedelta(days=1)


def conversations(folder: Path) -> list[Conversation]:
    """All conversations of all sets below ``folder``."""
    found = list[Conversation]()
    for file in sorted(folder.glob("locomo*/*.json")):
        found += map(_locomo, json.loads(file.read_text()))
    for memories in sorted(folder.glob("madial/*-memory.json")):
        found.append(_madial(memories, memories.with_name(memories.name.replace("-memory", "-dialogue"))))
    return found


def _locomo(sample: dict[str, Any]) -> Conversation:
    told = Conversation(set_name="locomo", name=sample["sample_id"], language="en")
    at, whole = dict[str, int](), sample["conversation"]
    numbers = sorted(int(key.split("_")[1]) for key, value in whole.items() if isinstance(value, list))
    for number in numbers:
        time = dt.datetime.strptime(whole[f"session_{number}_date_time"], LOCOMO_TIME).replace(tzinfo=dt.UTC)
        for turn in whole[f"session_{number}"]:
            at[turn["dia_id"]] = len(told.messages)
            caption = f" [picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            told.messages.append(Message(time=time, speaker=turn["speaker"], text=turn["text"] + caption))
            time += PAUSE
    for asked in sample["qa"]:
        places = (place for text in asked["evidence"] for place in _parts(text) if _is_turn(place))
        evidence = frozenset(at[place] for place in places if place in at)
        if evidence:
            kind = LOCOMO_KINDS[asked["category"]]
            told.questions.append(Question(kind=kind, text=asked["question"], evidence=evidence))
    return told


def _madial(memories: Path, dialogues: Path) -> Conversation:
    language = "zh" if "-zh-" in memories.name else "en"
    told = Conversation(set_name="madial", name=memories.stem, language=language)
    events = dict[int, dict[str, str]]()
    for line in memories.read_text().splitlines():
        events |= {int(number): event for number, event in json.loads(line).items()}
    at = dict[int, int]()
    for number, event in sorted(events.items(), key=lambda item: (item[1]["time"], item[0])):
        at[number] = len(told.messages)
        time = dt.datetime.fromisoformat(event["time"]).replace(hour=12, tzinfo=dt.UTC) + PAUSE * len(told.messages)
        told.messages.append(Message(time=time, speaker="", text=event["event"]))
    for line in dialogues.read_text().splitlines():
        dialogue = json.loads(line)
        for turn in dialogue["test-turn"][:1]:
            evidence = frozenset(at[number] for number in dialogue["relevant-id"] if number in at)
            text = "".join(_said(dialogue["dialogue"][:turn])[-1:])
            if evidence and text:
                told.questions.append(Question(kind="dialogue", text=text, evidence=evidence))
    return told


def _said(lines: list[str]) -> list[str]:
    """What the person said, without the names of the speakers."""
    return list(_unquoted(line for line in lines if not line.startswith(("<BOD>", "<EOD>", "<Assistant>", "<助手>"))))


def _unquoted(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line.strip().partition(":")[2].strip(' "“”') or line.strip()
