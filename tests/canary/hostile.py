"""What a model asks of tools that wants to see what is not its own: every way out of a scope that there may be."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from daemon.recall import Chunk
from daemon.scope import folder_of
from tests.canary.canaries import ANYBODYS, beginning, blurred
from tests.canary.people import IDENTITIES, OF_SCOPE, folders_of, workspace
from tests.canary.scan import paths_below
from tests.fakes.openai_server import Call

PLANTED = "planted"  # names in a scope's files that begin so were put there by the run, from outside
HARD = f"{PLANTED}-hard"
"""The one that is a second name of another's file, and no link: whoever walks over files has to know it."""

HEIRLOOM = "heirloom.md"
FETCH = "web_get"  # of ``fetcher``, as the configuration names that server
MESSAGES = 60  # of a session so many are asked for by name
Arguments = Mapping[str, object]
Wish = tuple[str, Arguments]  # A tool, and what it is asked


class Hostile:
    def __init__(self, dice: random.Random, data: Path, address: Callable[[], str]) -> None:
        """``data``: the data directory of the run; ``address``: gives addresses of the API."""
        self._dice = dice
        self._data = data
        self._address = address

    def rounds(self, scope: str, word: str, foreign: Sequence[str]) -> list[list[Wish]]:
        """What a turn asks for, round by round.

        Args:
            scope: whose turn it is.
            word: the canary that the turn is about; it is what is written and said.
            foreign: canaries that it must not see.
        """
        dice = self._dice
        kinds = (
            *(self._reading, self._writing, self._saying, self._searching, self._own, self._reading, self._fetching),
        )
        chosen = [[dice.choice(kinds) for _ in range(dice.randint(1, 4))] for _ in range(dice.randint(1, 2))]
        return [[kind(scope, word, foreign) for kind in one] for one in chosen]

    def into_planted(self) -> list[list[Wish]]:
        """Through every link that ``plant`` makes."""
        ways = (
            "hard",
            "file",
            "folder/heirloom.md",
            "memory/MEMORY.md",
            "memory/HISTORY.md",
            "folder/list.md",
            "folder/notes/today.md",
        )
        reads: list[Wish] = [("read_file", {"path": f"{PLANTED}-{way}"}) for way in ways]
        return [
            reads,
            [("grep", {"pattern": ANYBODYS, "path": f"{PLANTED}-{way}"}) for way in ("memory", "folder", "hard")],
        ]

    def search(self, scope: str, foreign: Sequence[str]) -> Wish:
        return self._searching(scope, "", foreign)

    def _reading(self, scope: str, word: str, foreign: Sequence[str]) -> Wish:
        path = self.path(scope)
        tool = self._dice.choice(["read_file", "read_file", "list_files", "grep", "message"])
        if tool == "message":
            return tool, {"content": f"see {word}", "media": [path]}
        return tool, {"path": path, "pattern": ANYBODYS} if tool == "grep" else {"path": path}

    def _writing(self, scope: str, word: str, foreign: Sequence[str]) -> Wish:
        path = self.path(scope)
        if self._dice.random() < 0.6:
            return "write_file", {"path": path, "content": f"- {word}\n"}
        return "edit_file", {"path": path, "old_text": "- cn", "new_text": f"- {word}\n- cn"}

    def _saying(self, scope: str, word: str, foreign: Sequence[str]) -> Wish:
        other = self._dice.choice(IDENTITIES)
        session, chat = self._dice.choice(other.sessions), self._dice.choice(other.chats)
        channel, chat_id = self._dice.choice(
            [
                *[(other.channel, chat)] * 8,
                (other.channel, session),
                ("", session),
                (session, ""),
                (other.channel, f"{chat}:x"),
                (other.channel, f"../{chat}"),
                (other.channel, chat.replace("-", "%2D")),
                (other.channel, f"{chat}\x00"),
                (other.channel.upper(), chat),
                (f"{other.channel}:{chat}", "x"),
                (other.scope, chat),
            ]
        )
        return "message", {"content": f"hear {word}", "channel": channel, "chat_id": chat_id}

    def _searching(self, scope: str, word: str, foreign: Sequence[str]) -> Wish:
        if self._dice.random() < 0.5:
            return self._recalling(foreign)
        path = self._dice.choice(["", "memory", "skills", "notes", "exports", "results", self.path(scope)])
        if not foreign:
            return "grep", {"pattern": ANYBODYS, "path": path}
        wanted = self._dice.choice(foreign)
        if self._dice.random() < 0.3:
            return "grep", {"pattern": beginning(wanted), "literal": True, "path": path}
        return "grep", {"pattern": blurred(wanted), "path": path}

    def _recalling(self, foreign: Sequence[str]) -> Wish:
        query = beginning(self._dice.choice(foreign)) if foreign else "What counts, and what did they speak of?"
        session = self._dice.choice(self._dice.choice(IDENTITIES).sessions)
        file = self._dice.choice([f"transcript/{session}", f"transcript/{session}", "memory/HISTORY.md"])
        first = self._dice.randrange(MESSAGES)
        place = Chunk(kind="message", file=file, first=first, upto=first + 1, text="")
        wishes: Sequence[Wish] = (
            ("memory_search", {"query": query, "max_results": 10}),
            ("conversation_search", {"query": query, "max_results": 10}),
            ("memory_get", {"docid": place.docid, "context": 10}),
        )
        return self._dice.choice(wishes)

    def _fetching(self, scope: str, word: str, foreign: Sequence[str]) -> Wish:
        return FETCH, {"url": self._address()}

    def _own(self, scope: str, word: str, foreign: Sequence[str]) -> Wish:
        name = self._dice.choice(["notes/today.md", "list.md", "a/b/c.txt", "memory.md"])
        wishes: Sequence[Wish] = (
            ("write_file", {"path": name, "content": f"# Notes\n- {word}\n"}),
            ("edit_file", {"path": name, "old_text": "# Notes", "new_text": f"# Notes\n- {word}"}),
            ("read_file", {"path": name}),
            ("read_file", {"path": "memory/MEMORY.md"}),
            ("read_file", {"path": "memory/HISTORY.md"}),
            ("grep", {"pattern": ANYBODYS, "path": self._dice.choice(["memory", ""])}),
            ("list_files", {"path": self._dice.choice(["", "memory", "memory/", "exports"])}),
            ("message", {"content": f"by the way, {word}", "media": [name]}),
            ("compact", {"focus": word}),
            ("time", {}),
        )
        return self._dice.choice(wishes)

    def path(self, scope: str) -> str:
        other = self._dice.choice([each.scope for each in IDENTITIES if each.scope != scope])
        folder, own, chat = folder_of(other), folder_of(scope), self._dice.choice(OF_SCOPE[other].sessions)
        memory, files = folders_of(self._data, other)
        name = self._dice.choice(["MEMORY.md", "HISTORY.md", "notes/today.md", "list.md", ""])
        ways: Sequence[str] = (
            f"../{folder}/{name}",
            f"../../files/{folder}/{name}",
            f"../../memory/{folder}/{name}",
            f"./../{folder}/{name}",
            f"notes/../../{folder}/{name}",
            f"memory/{folder}/{name}",
            f"memory/../{folder}/{name}",
            f"memory/../../memory/{folder}/{name}",
            f"memory/../memory/{folder}/{name}",
            f"skills/../memory/{folder}/{name}",
            f"AGENTS.md/../memory/{folder}/{name}",
            f"files/{folder}/{name}",
            f"{folder}/{name}",
            f"{other}/{name}",
            f"{chat}/{name}",
            f"memory/{other}/{name}",
            f"{memory}/{name}",
            f"{files}/{name}",
            f"//{memory}/{name}",
            f"{workspace(self._data)}/files/{own}/../{folder}/{name}",
            f"file://{files}/{name}",
            f"~/{name}",
            f"{self._data}/transcripts",
            "/proc/self/cwd",
            "/proc/self/environ",
            f"%2e%2e/{folder}/{name}",
            f"..%2f{folder}%2f{name}",
            f"%2e%2e%2f%2e%2e%2fmemory%2f{folder}%2f{name}",
            f"..\\{folder}\\{name}",
            f"․․/{folder}/{name}",
            f"．．/{folder}/{name}",
            f"notes\x00/../../{folder}/{name}",
            f"{PLANTED}-folder/{name}",
            f"{PLANTED}-memory/{name}",
            f"{PLANTED}-file",
            f"{PLANTED}-hard",
            f"{PLANTED}-workspace/memory/{folder}/{name}",
            f"{PLANTED}-folder/../{folder}/{name}",
            "/".join([".."] * 40) + str(memory),
            "n" * 300,
            "n/" * 600 + name,
            "..",
            "",
        )
        return self._dice.choice(ways)


def call_of(wish: Wish, name: str) -> Call:
    tool, arguments = wish
    return Call(tool, json.dumps(arguments), id=name)


def plant(dice: random.Random, data: Path, scope: str, heirlooms: Mapping[str, str]) -> None:
    """Put links to what others have into a scope's files, as somebody with a shell might.

    ``heirlooms`` are the canaries, by scope, of files that are never written again: only such a file can have a second
    name that stays a second name.
    """
    other = dice.choice([each.scope for each in IDENTITIES if each.scope != scope])
    (memory, files), (_, own) = folders_of(data, other), folders_of(data, scope)
    if not own.is_dir() or not files.is_dir():
        return
    unplant(own)
    heirloom = files / HEIRLOOM
    if not heirloom.exists():
        heirloom.write_text(f"- {heirlooms[other]}\n")
    for name, target in (("folder", files), ("memory", memory), ("workspace", workspace(data)), ("file", heirloom)):
        # What the model wrote may stand in the way.
        with suppress(FileExistsError):
            (own / f"{PLANTED}-{name}").symlink_to(target)
    with suppress(FileExistsError):
        (own / HARD).hardlink_to(heirloom)


def unplant(folder: Path) -> None:
    """Take them away, wherever below ``folder`` they are now."""
    for path in paths_below(folder):
        if path.name.startswith(f"{PLANTED}-"):
            path.unlink(missing_ok=True)
