"""Loads conversations that people really had, with questions whose answers are known, from files beside the project.

The folder has one sub-folder for each set: ``locomo*/*.json`` (LoCoMo's format), ``madial/`` (MADial-Bench's format),
and ``memorybank/`` (MemoryBank's format).
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
MEMORYBANK_EVIDENCE = """
3.3u 4.0u 6.2b 1.1u 3.2u 5.1u 7.1u | 0.2u 1.8u 2.1b 8.1u 9.1u 3.1u 1.2b | 0.3u 2.1u+2.2u 1.1u 3.1u 6.0b 5.1b 1.1u
1.1u 0.4u 6.1b 4.1u 0.2u 3.1b 7.0b | 1.2u 2.3u 1.2u 0.4b 4.1u 5.3u 7.1b | 9.1u 9.3u 0.2u 1.2b 5.1u 4.1u 7.1u
1.1u 2.0u+2.1u 1.2u 3.0u 8.0u 7.0u 9.0u | 0.1u 9.2u 5.0u 1.2u 0.3u 8.0b 5.0b | 0.1u 3.0u 3.1b 7.1b 9.1u 1.2b 5.0b
1.2u 7.0b 8.1b 7.1b 5.0u+5.1u 3.0b 6.0b | 0.2b 0.2b 8.2u 3.1u 6.1u 5.1b 7.0u | - - - 5.1u 1.2b 0.2u
0.2u 0.2u 3.1u 2.1u 7.1b | 1.2u 3.1u 7.0u 6.2b 1.4u | 0.2u 5.1u 5.2u 6.1b 6.1b 7.1b 9.0u
"""
"""The messages with the answers to MemoryBank's questions, which the set does not name: for each person in order, a
word for each question. A word consists of the day and the exchange of that day, both counted from 0, and the speaker
(``u`` the user, ``b`` the bot). A dash: the conversation repeats the answer, so that no message is the right one."""
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
        found += _madial(memories, memories.with_name(memories.name.replace("-memory", "-dialogue")))
    for bank in sorted(folder.glob("memorybank/memory_bank_*.json")):
        found += _memorybank(bank, bank.with_name(f"{bank.stem.replace('memory_bank', 'probing_questions')}.jsonl"))
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


def _madial(memories: Path, dialogues: Path) -> Iterator[Conversation]:
    """The memories of each person as a conversation, since a search never leaves the memory of one person."""
    events = dict[int, dict[str, str]]()
    for line in memories.read_text().splitlines():
        events |= {int(number): event for number, event in json.loads(line).items()}
    dialogues_of = dict[str, list[dict[str, Any]]]()
    for line in dialogues.read_text().splitlines():
        dialogue = json.loads(line)
        dialogues_of.setdefault(_speaker(dialogue["dialogue"][1]), []).append(dialogue)
    for person, asked in dialogues_of.items():
        language = "zh" if "-zh-" in memories.name else "en"
        told = Conversation(set_name="madial", name=f"{memories.stem} {person}", language=language)
        at = _remember(told, {number: event for number, event in events.items() if person in event["event"]})
        for dialogue in asked:
            evidence = frozenset(at[number] for number in dialogue["relevant-id"] if number in at)
            text = "".join(_said(dialogue["dialogue"][: dialogue["test-turn"][0]])[-1:])
            if evidence and text:
                told.questions.append(Question(kind="dialogue", text=text, evidence=evidence))
        yield told


def _remember(told: Conversation, events: dict[int, dict[str, str]]) -> dict[int, int]:
    """Add events as messages, in order; their indices, by number."""
    at = dict[int, int]()
    for number, event in sorted(events.items(), key=lambda item: (item[1]["time"], item[0])):
        at[number] = len(told.messages)
        time = dt.datetime.fromisoformat(event["time"]).replace(hour=12, tzinfo=dt.UTC) + PAUSE * len(told.messages)
        told.messages.append(Message(time=time, speaker="", text=event["event"]))
    return at


def _speaker(line: str) -> str:
    return line.strip().partition(">")[0].removeprefix("<")


def _memorybank(bank: Path, questions: Path) -> Iterator[Conversation]:
    evidence = [person.split() for person in MEMORYBANK_EVIDENCE.replace("|", "\n").strip().splitlines()]
    asked = [json.loads(line) for line in questions.read_text().splitlines()]
    for person, texts, places in zip(json.loads(bank.read_text()).values(), asked, evidence, strict=True):
        name, at = person["name"].strip(), dict[str, int]()
        language = "zh" if bank.stem.endswith("_cn") else "en"
        told = Conversation(set_name="memorybank", name=f"{bank.stem} {name}", language=language)
        for day, (date, exchanges) in enumerate(person["history"].items()):
            time = dt.datetime.fromisoformat(date).replace(hour=12, tzinfo=dt.UTC)
            for number, exchange in enumerate(exchanges):
                for mark, part, speaker in (("u", "query", name), ("b", "response", "assistant")):
                    at[f"{day}.{number}{mark}"] = len(told.messages)
                    told.messages.append(Message(time=time, speaker=speaker, text=exchange[part]))
                    time += PAUSE
        for (question,), place in zip(zip(*texts.values(), strict=True), places, strict=True):
            found = frozenset(at[each] for each in place.split("+") if each in at)
            if found:  # the English conversations lack a few messages of the Chinese ones
                told.questions.append(Question(kind="fact", text=question.strip('"'), evidence=found))
        yield told


def _said(lines: list[str]) -> list[str]:
    """What the person said, without the names of the speakers."""
    return list(_unquoted(line for line in lines if not line.startswith(("<BOD>", "<EOD>", "<Assistant>", "<助手>"))))


def _unquoted(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line.strip().partition(":")[2].strip(' "“”') or line.strip()
