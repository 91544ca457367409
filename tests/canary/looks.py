"""What people and processes can see of each scope from outside: its files, its chats, what was sent."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio import to_thread

from tests.canary.canaries import words_in, words_in_bytes
from tests.canary.findings import Findings
from tests.canary.hostile import HARD
from tests.canary.knowledge import Knowledge
from tests.canary.people import SCOPE_OF, SCOPES, folders_of
from tests.canary.plan import Counts
from tests.canary.scan import contents, files_below, names_of

GONE = (httpx2.HTTPError, OSError)
AGAIN_S = 0.2
PAGE = 200
READ_S = 20.0


class Looks:
    """Looks, and notes what should not be there."""

    def __init__(self, data: Path, knowledge: Knowledge, findings: Findings, counts: Counts) -> None:
        self._data = data
        self._knowledge = knowledge
        self._findings = findings
        self._counts = counts

    # Files.

    async def files(self) -> None:
        for scope in SCOPES:
            before = self._knowledge.may(scope)
            found = await to_thread.run_sync(self.in_files, scope)
            # What was linked or forgotten while it was read is judged by whatever is kinder.
            for path, words in found.items():
                for word in sorted(self._knowledge.foreign(scope, words) - before):
                    self._findings.add("files", f"{path}: {word}")

    def in_files(self, scope: str) -> dict[str, set[str]]:
        """The canaries in each file of a scope, its memory's among them. Blocks."""
        found: dict[str, set[str]] = {}
        for folder in folders_of(self._data, scope):
            for path in files_below(folder):
                # A second name of another's file was planted, and tools do not read it.
                if path.name.startswith(HARD) and names_of(path) != 1:
                    continue
                self._counts.looks += 1
                found[str(path.relative_to(self._data))] = words_in_bytes(contents(path))
        return found

    # The API.

    async def chat(self, client: httpx2.AsyncClient, url: str, session: str) -> str:
        """All that the API shows of a session, read and looked at; asked again while the web process is away."""
        texts: list[str] = []
        after = -1
        while True:
            scope = SCOPE_OF[session]
            before = self._knowledge.may(scope)
            page = await self._page(client, f"{url}/api/sessions/{session}/messages?after={after}&limit={PAGE}")
            self._counts.reads += 1
            text = json.dumps(page, ensure_ascii=False)
            self.judge("answers", session, text, kinder=before)
            if not page["messages"]:
                return "\n".join(texts)
            texts.append(text)
            after = page["messages"][-1]["index"]

    async def sessions(self, client: httpx2.AsyncClient, url: str) -> None:
        before = {session: self._knowledge.may(scope) for session, scope in SCOPE_OF.items()}
        page = await self._page(client, f"{url}/api/sessions?limit={PAGE}")
        for line in page.pop("sessions"):
            # A line holds the title and the last message, of its own session alone.
            text = json.dumps(line, ensure_ascii=False)
            self.judge("answers", line["session"], text, kinder=before.get(line["session"], frozenset()))
        for word in sorted(words_in(json.dumps(page))):
            self._findings.add("answers", f"list of sessions: {word}")

    @staticmethod
    async def _page(client: httpx2.AsyncClient, url: str) -> Any:
        while True:
            try:
                answer = await client.get(url, timeout=READ_S)
                if answer.status_code == 200:
                    return answer.json()
            except GONE:
                pass
            await anyio.sleep(AGAIN_S)

    async def watch(self, client: httpx2.AsyncClient, url: str, session: str) -> None:
        """See every event of a session, until cancelled."""
        while True:
            try:
                async with client.stream("GET", f"{url}/api/events?session={session}", timeout=READ_S) as answer:
                    async for line in answer.aiter_lines():
                        self._counts.events += line.startswith("event:")
                        self.judge("answers", session, line)
            except GONE:
                pass
            await anyio.sleep(AGAIN_S)

    # Anything.

    def judge(self, kind: str, session: str, text: str, *, kinder: frozenset[str] = frozenset()) -> None:
        """Note what a text that stands in a session must not hold."""
        # In a chat that nobody has, nothing may be said.
        found, scope = words_in(text), SCOPE_OF.get(session, "")
        for word in sorted((self._knowledge.foreign(scope, found) if scope else found) - kinder):
            at = text.index(word)
            self._findings.add(kind, f"{session}: …{text[max(0, at - 100) : at + 30]}…")

    def on_delivery(self) -> Callable[[Any], None]:
        return lambda post: self.judge("deliveries", post["session"], json.dumps(post, ensure_ascii=False))
