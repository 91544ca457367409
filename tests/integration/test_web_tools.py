"""The web tools in turns, on a real server: one cache for all workers, a limit for each person, and no words of others
as orders."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from daemon.config import BotConfig, Secret, WebToolsConfig
from daemon.model import Answer
from daemon.process import Process
from daemon.testing import ScriptedModel
from tests.conftest import Lab
from tests.fakes.web_site import WebSite, page, web_site
from tests.forgetlab import Pond, pond
from tests.integration.test_tools import calls, results
from tests.integration.test_turns import worked_off
from tests.tables import each_row
from tests.unit.test_web_search import KEY, RESULTS
from workers.agent.bot_checks import examine
from workers.agent.prompt.system_prompt import identity
from workers.tools.web.web_access import WebCache
from workers.tools.web_tools import PART_MAX_CHARS

LONG = "a heron stands in the water. " * 1_000
SITE = {
    "/search": page(msgspec.json.encode(RESULTS["searxng"]), "application/json"),
    "/robots.txt": page(b"User-agent: *\nDisallow: /private", "text/plain"),
    "/": page(b"<title>Heron</title><p>stands", "text/html"),
    "/long": page(LONG.encode(), "text/plain"),
}


def browsing(process: Process, site: WebSite, **web: Any) -> Process:
    url = near(site)
    given = {"search": "searxng", "search_url": url, "private_hosts": ("127.0.0.1",), **web}
    section = WebToolsConfig(api_key=Secret(KEY), **given)
    bots = {"pond": BotConfig(tools=("web_search", "web_fetch"), web=section)}
    return replace(process, config=msgspec.structs.replace(process.config, bots=bots))


def near(site: WebSite) -> str:
    return site.url.replace("pond.example", "127.0.0.1")


def fetching(site: WebSite, path: str, call: str = "a", **more: Any) -> Answer:
    return calls((call, "web_fetch", {"url": f"{near(site)}{path}", **more}))


async def asked(process: Process, lab: Lab, *answers: Answer, sender: str = "ann") -> dict[str, Any]:
    """The results of calls, each made in a turn of a worker of its own."""
    found = dict[str, Any]()
    for answer in answers:
        await lab.publish(f"{sender}-{len(await lab.log())}", sender_id=sender)
        await worked_off(process, lab, ScriptedModel(answer, "done"))
        found |= results(await lab.log())
    return found


async def test_what_a_site_says_is_marked_as_untrusted_and_kept_out_of_logs(process: Process, lab: Lab) -> None:
    async with web_site(SITE) as site:
        wanted = calls(("s", "web_search", {"query": "heron"}), ("f", "web_fetch", {"url": f"{near(site)}/"}))
        model = ScriptedModel(wanted, "done")
        await lab.publish("m")
        with capture_logs() as logs:
            await worked_off(browsing(process, site), lab, model)

    shown = [msgspec.json.decode(each)["content"] for each in model.requests[1].messages if b'"tool"' in each[:20]]
    assert {each.splitlines()[0].split()[0] for each in shown} == {"<untrusted"}
    assert results(await lab.log())["s"].startswith("1. Grey heron\n   https://pond.example/heron\n")
    assert results(await lab.log())["f"] == f"{near(site)}/\nHeron\n\nstands"
    assert KEY not in str(logs) and "stands" not in str(logs)
    assert not any(KEY.encode() in request for request in site.requests if not request.startswith(b"GET /search"))


async def test_a_result_is_fetched_once_for_all_workers_and_read_part_by_part(process: Process, lab: Lab) -> None:
    async with web_site(SITE) as site:
        browser = browsing(process, site)
        first, rest = fetching(site, "/long"), fetching(site, "/long", "b", start=PART_MAX_CHARS)
        search = [calls((call, "web_search", {"query": "heron"})) for call in "cd"]
        found = await asked(browser, lab, first, rest, *search)

    assert sorted(site.paths) == ["/long", "/robots.txt", "/search?q=heron&format=json"]
    head, _, note = found["a"].rpartition("\n\n")
    assert note.startswith("[13,0") and note.endswith(f" more characters. Continue with start={PART_MAX_CHARS}.]")
    assert (head + found["b"]).endswith(LONG[-1_000:])
    assert found["c"] == found["d"]


async def test_what_robots_txt_forbids_is_fetched_only_by_choice(process: Process, lab: Lab) -> None:
    async with web_site({**SITE, "/private": page(b"secret", "text/plain")}) as site:
        refused = await asked(browsing(process, site), lab, fetching(site, "/private"))
        read = await asked(browsing(process, site, robots=False), lab, fetching(site, "/private", "b"))

    assert refused["a"] == "Error: The site's robots.txt does not allow programs to fetch this page."
    assert read["b"].endswith("secret")


async def test_a_person_makes_only_so_many_calls_a_minute_over_all_workers(process: Process, lab: Lab) -> None:
    async with web_site(SITE) as site:
        browser = browsing(process, site, calls_per_minute=2, robots=False)
        pages = [fetching(site, f"/?{call}", call) for call in "abc"]
        of_ann = await asked(browser, lab, *pages)
        of_bob = await asked(browser, lab, fetching(site, "/?d", "d"), sender="bob")

    assert [of_ann[call].startswith("Error: ") for call in "abc"] == [False, False, True]
    assert "limit of 2 web calls per minute" in of_ann["c"]
    assert not of_bob["d"].startswith("Error: ")


async def test_one_bot_is_not_given_the_pages_of_another(process: Process) -> None:
    own, other = (WebCache(process.bus, name, BotConfig()) for name in ("pond", "heron"))
    await own.put("of the inner network", "page", "http://wiki.internal/")

    assert await own.get("page", "http://wiki.internal/") == "of the inner network"
    assert await other.get("page", "http://wiki.internal/") is None


@pytest.mark.parametrize("looks", [True, False])
async def test_forgetting_removes_all_kept_results(process: Process, lab: Lab, tmp_path: Path, looks: bool) -> None:
    world = Pond(pond(process, tmp_path / "work"), lab)
    await world.plant()
    async with web_site(SITE) as site:
        await asked(browsing(process, site), lab, fetching(site, "/"))
    assert await kept(lab) == 2

    if not looks:
        await world.forget()

    assert await kept(lab) == (2 if looks else 0)


async def kept(lab: Lab) -> int:
    return int(await lab.bus.call("EXISTS", *map(lab.bus.keys.web, range(256))))


def test_the_identity_speaks_of_a_tool_only_if_the_bot_has_it(tmp_path: Path) -> None:
    for language in ("en", "zh"):
        for tools in (set[str](), {"web_search"}, {"web_fetch"}, {"web_search", "web_fetch"}):
            text = identity("pond", tmp_path, language, tools=tools)  # type: ignore[arg-type]
            assert {name for name in ("web_search", "web_fetch") if name in text} == tools


@each_row(("answer", "state"), [(SITE["/search"], "ok"), (page(b"", status=403), "error")])
async def test_the_doctor_tries_the_search(process: Process, answer: Any, state: str) -> None:
    async with web_site({"/search": answer}) as site:
        found = await examine(browsing(process, site).config)

    assert [each.state for each in found if each.check == "web search of pond"] == [state]
