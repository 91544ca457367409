"""Another account of the machine, or any program on it: asks the API for everything, without the token."""

import random
from collections.abc import Mapping, Sequence
from urllib.parse import quote

import httpx2

from tests.canary.canaries import words_in
from tests.canary.findings import Findings
from tests.canary.looks import GONE, READ_S
from tests.canary.people import IDENTITIES, Identity
from tests.canary.plan import Counts

OPEN = ("/", "/livez", "/healthz", "/readyz", "/page/api.js", "/login")
HOSTS = ("127.0.0.1", "localhost", "127.0.0.1", "127.1.2.3", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0")


def addresses_of(who: Identity, session: str) -> Sequence[str]:
    """Paths at which a person's conversations, memory and traces lie."""
    scope = quote(who.scope, safe="")
    return (
        *(f"/api/sessions/{session}/messages", f"/api/sessions/{quote(session, safe='')}/messages?before=9999"),
        *(f"/api/sessions/{session}/{part}" for part in ("context", "prompt", "timeline", "search?q=cn", "turns")),
        *(f"/api/events?session={session}", "/api/sessions", "/api/sessions?q=a&age=60", "/api/memory?q=a"),
        *(f"/api/memory/{scope}{part}" for part in ("", "/versions", "/history", "/notes", "/search?q=cn")),
        *("/api/trace/m000001", "/api/system", "/api/usage", "/api/dead", "/api/unknown", "/api/audit", "/api/me"),
        *("/api/tools", "/api/system/history", "/api/queues/backlog", "/api/queues/dead/1-1", "/api/logs/m000001"),
        "/metrics",
        *("/page/../api/sessions", "/s/../api/sessions", "//api/sessions", "/%61pi/sessions", "/login/../api/sessions"),
    )


class Stranger:
    def __init__(
        self,
        client: httpx2.AsyncClient,
        urls: Mapping[str, str],
        dice: random.Random,
        findings: Findings,
        counts: Counts,
    ) -> None:
        """``client`` sends no token."""
        self._client = client
        self._urls = list(urls.values())
        self._dice = dice
        self._findings = findings
        self._counts = counts

    def address(self) -> str:
        """An address at which there is something to see, on any of the names of this machine."""
        dice, who = self._dice, self._dice.choice(IDENTITIES)
        port = dice.choice(self._urls).rpartition(":")[2]
        return f"http://{dice.choice(HOSTS)}:{port}{dice.choice(addresses_of(who, dice.choice(who.sessions)))}"

    async def knock(self) -> None:
        """Read something, be somebody, or change something; whatever is done, it has to be refused."""
        dice, who = self._dice, self._dice.choice(IDENTITIES)
        url, session = dice.choice(self._urls), dice.choice(who.sessions)
        text = dice.choice(["/export", "/memory", "/forget all", "/new", "hello"])
        post = {"session": dice.choice([session, "x"]), "text": text, "user": who.sender}
        headers = dice.choice([{}, {"Authorization": "Bearer x"}, {"Cookie": "millpond=x"}])
        path = dice.choice([*addresses_of(who, session), *OPEN])
        asks = [("GET", path, None), ("GET", path, None), ("POST", "/api/messages", post), ("PUT", path, {"text": ""})]
        method, path, body = dice.choice(asks)
        try:
            answer = await self._client.request(method, f"{url}{path}", json=body, headers=headers, timeout=READ_S)
        except GONE:
            return
        self._counts.knocks += 1
        # The library writes `/page/../api` as `/api`.
        if words_in(answer.text) or (answer.status_code == 200 and answer.request.url.path not in OPEN):
            self._findings.add("strangers", f"{method} {path}: {answer.status_code} {answer.text[:200]}")
