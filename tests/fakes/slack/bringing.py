"""What is brought by HTTP: signed as Slack signs, with headers that say which try it is, again until it is taken."""

import hashlib
import hmac
import itertools
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

import anyio
from anyio.abc import TaskGroup, TaskStatus

from tests.fakes.slack.apps import App, Delivery
from tests.fakes.wire import GONE

TIMEOUT_S = 3.0  # of the documentation: an app has to answer within it
GONE_WRONG = (OSError, TimeoutError, *GONE)


FORM = "application/x-www-form-urlencoded"


def signed(secret: str, body: bytes, *, at: float) -> dict[str, str]:
    """The headers that say who brings something, and when; ``at`` in seconds since 1970."""
    stamp = str(int(at))
    digest = hmac.new(secret.encode(), f"v0:{stamp}:".encode() + body, hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": f"v0={digest}"}


class Pressing:
    def __init__(self, app: App, repeat_s: float, brought_at: Callable[[], str]) -> None:
        self.app = app
        self.repeat_s = repeat_s
        self.brought_at = brought_at
        self.in_order = False
        """Nothing of a channel overtakes what was not taken at the first try; Slack promises nothing of the kind."""
        self.answers: list[int] = []
        """The status of each try; 0: there was none."""

    async def run(self, tasks: TaskGroup) -> None:
        """Until cancelled; each try is a task of its own."""
        while True:
            arrived, now = self.app.arrived, anyio.current_time()
            for delivery in list(self.app.waiting) if self.app.url else []:
                if delivery.due <= now and not delivery.under_way and not self._held(delivery):
                    delivery.under_way = True
                    # All are under way at once; but they set out in the order in which they came about.
                    await tasks.start(self._bring, delivery)
            waiting = [each.due for each in self.app.waiting if each.due > now and not each.under_way]
            due = min(waiting, default=None) if self.app.url else None
            with anyio.move_on_after(None if due is None else max(0.0, due - anyio.current_time())):
                await arrived.wait()

    def _held(self, delivery: Delivery) -> bool:
        before = itertools.takewhile(lambda each: each is not delivery, self.app.waiting)
        return self.in_order and any(
            each.tries and not each.under_way and each.channel == delivery.channel for each in before
        )

    async def _bring(self, delivery: Delivery, *, task_status: TaskStatus[None]) -> None:
        sent = anyio.Event()
        async with anyio.create_task_group() as tg:
            tg.start_soon(self._try, delivery, sent)
            await sent.wait()
            task_status.started()

    async def _try(self, delivery: Delivery, sent: anyio.Event) -> None:
        try:
            await self._tried(delivery, sent)
        finally:
            sent.set()

    async def _tried(self, delivery: Delivery, sent: anyio.Event) -> None:
        if delivery.tries and (not delivery.repeats or delivery.tries == self.app.tries_max):
            self.app.give_up(delivery)
            return
        delivery.tries += 1
        reason, status = "", 0
        try:
            status, _ = await self.press(delivery, sent)
        except TimeoutError:
            reason = "http_timeout"
        except GONE_WRONG:
            reason = "connection_failed"
        self.answers.append(status)
        delivery.under_way = False
        if 200 <= status < 300:
            if delivery in self.app.waiting:
                self.app.waiting.remove(delivery)
                self.app.done.append(delivery)
        else:
            delivery.reason = reason or "http_error"
            delivery.due = anyio.current_time() + self.repeat_s
        self.app.arrive()

    async def press(self, delivery: Delivery, sent: anyio.Event | None = None) -> tuple[int, bytes]:
        """Bring it once; what is answered."""
        more: dict[str, Any] = {}
        if delivery.tries > 1:
            more = {"X-Slack-Retry-Num": str(delivery.tries - 1), "X-Slack-Retry-Reason": delivery.reason}
        if delivery.kind == "slash_commands":
            return await self.bring(urlencode(delivery.payload).encode(), sent=sent, content_type=FORM)
        if delivery.kind == "interactive":
            form = {"payload": json.dumps(delivery.payload)}
            return await self.bring(urlencode(form).encode(), sent=sent, content_type=FORM)
        return await self.bring(delivery.payload, sent=sent, **more)

    async def bring(
        self,
        body: Any,
        *,
        secret: str | None = None,
        at: float | None = None,
        content_type: str = "application/json",
        sent: anyio.Event | None = None,
        **headers: str,
    ) -> tuple[int, bytes]:
        """Bring anything, signed by the app's secret or another one, now or at another time; what is answered.

        A header that is given empty is left out, ``X-Slack-Signature`` too. ``sent`` is set once it is under way.

        Raises:
            OSError, TimeoutError: nobody answered.
        """
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        url = urlsplit(self.app.url)
        to = urlsplit(self.brought_at() or self.app.url)
        given = {"Host": url.netloc, "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)"}
        given |= {"Content-Type": content_type, "Content-Length": str(len(content)), "Connection": "close"}
        given |= signed(
            self.app.signing_secret if secret is None else secret,
            content,
            at=self.app.world.now() if at is None else at,
        )
        given |= headers
        lines = [f"POST {url.path or '/'} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items() if value)]
        answer = b""
        with anyio.fail_after(TIMEOUT_S):
            async with await anyio.connect_tcp(to.hostname or "127.0.0.1", to.port or 80) as stream:
                await stream.send("\r\n".join([*lines, "", ""]).encode() + content)
                if sent is not None:
                    sent.set()
                try:
                    while True:
                        answer += await stream.receive()
                except GONE:
                    pass
        if not answer:
            raise ConnectionError("nothing was answered")
        return int(answer.split(b" ")[1]), answer.partition(b"\r\n\r\n")[2]
