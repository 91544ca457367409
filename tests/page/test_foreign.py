"""What a page of another program on the same machine can do to a person who has logged in: nothing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal

from tests.page.browsing import Visit, login_link
from tests.page.conftest import Pond
from tests.page.planting import dead_letter

BODY = '{"reason": "precious"}'

TRIES = """async ([there, body]) => {
  const asked = async (path, options) => {
    try {
      const response = await fetch(there + path, {credentials: "include", ...options});
      return `${response.status} ${await response.text()}`;
    } catch (error) {
      return `rejected: ${error.name}`;
    }
  };
  const post = (headers, mode) => ({method: "POST", body, headers, mode});
  const framed = await new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.onload = () => { try { done(frame.contentDocument.body.textContent); } catch { done("closed"); } };
    frame.src = there + "/system";
    document.body.append(frame);
  });
  return {
    json: await asked("/api/dead/drop", post({"Content-Type": "application/json"}, "cors")),
    text: await asked("/api/dead/drop", post({"Content-Type": "text/plain"}, "no-cors")),
    read: await asked("/api/dead", {}),
    blind: await asked("/api/dead", {mode: "no-cors"}),
    logout: await asked("/api/logout", {method: "POST", mode: "no-cors"}),
    stream: await new Promise((done) => {
      const events = new EventSource(there + "/api/system/events", {withCredentials: true});
      events.addEventListener("system", () => done("heard"));
      events.onerror = () => done("refused");
    }),
    framed,
  };
}"""
"""What a script may try with the cookie of a person; each gives what came of it."""


class _Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><form method=post enctype=text/plain></form>")

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


@contextmanager
def another_program() -> Iterator[str]:
    """A page on another port of this machine: to a browser it is the same site."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Elsewhere)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def letter(millpond: Pond, portal: BlockingPortal) -> None:
    millpond.ask("dora", "hello")
    portal.call(lambda: dead_letter(millpond.folder, "web:dora", "Keep this.", reason="precious"))


def letters(visit: Visit) -> list[dict[str, Any]]:
    page = visit.open("/login")
    found = json.loads(page.evaluate("async () => (await fetch('/api/dead')).text()"))["dead"]
    return [each for each in found if each["reason"] == "precious"]


@pytest.mark.usefixtures("letter")
def test_a_page_of_another_port_reads_and_changes_nothing(visit: Visit) -> None:
    visit.forgive(".*")  # a browser complains of each try
    with another_program() as elsewhere:
        visit.page.goto(elsewhere)
        tried = visit.page.evaluate(TRIES, [visit.url, BODY])
        visit.page.evaluate(
            "there => { const form = document.forms[0]; form.action = there + '/api/dead/drop'; form.submit(); }",
            visit.url,
        )
        visit.page.wait_for_url(f"{visit.url}/**")
        sent = visit.page.content()

    assert "dead-precious" not in json.dumps(tried)
    assert tried["json"] == tried["read"] == "rejected: TypeError"
    assert tried["stream"] == "refused"
    assert tried["framed"] in ("closed", "")
    assert "cross_site" in sent or "not_json" in sent
    assert [each["message"] for each in letters(visit)] == ["dead-precious"]


@pytest.mark.usefixtures("letter")
def test_the_persons_own_page_can(visit: Visit) -> None:
    page = visit.open("/login")
    assert letters(visit)

    own = """async body => {
      const headers = {"Content-Type": "application/json"};
      return (await fetch("/api/dead/drop", {method: "POST", body, headers})).status;
    }"""

    assert page.evaluate(own, BODY) == 200
    assert letters(visit) == []


def test_a_link_opened_twice_says_how_to_get_another(stranger: Visit, millpond: Pond) -> None:
    link = login_link(millpond.folder)
    stranger.page.goto(link)
    stranger.page.wait_for_url(lambda url: "/login" not in url)
    stranger.forgive("403")
    stranger.forgive("401")  # what the first page was still asking for when its cookie went
    stranger.page.context.clear_cookies()

    stranger.page.goto(link)

    stranger.page.get_by_role("alert").get_by_text("millpond page").wait_for()
    assert "#" not in stranger.page.url
