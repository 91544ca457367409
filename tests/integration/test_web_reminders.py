"""Reminders over the API: listed, added, changed, paused, resumed and deleted by operators, each change audited."""

from daemon.operators import OperatorAudit
from daemon.process import Process
from tests.conftest import Lab
from tests.remindlab import RemindLab
from tests.weblab import page_of

ANN = "/api/sessions/web:ann/reminders"


async def test_an_operator_lists_pauses_resumes_and_deletes_reminders(process: Process, lab: Lab) -> None:
    remind = RemindLab(process, lab)
    await remind.met()
    later, sooner = await remind.set("later", when="2h"), await remind.set("sooner", when="1h")
    async with page_of(process) as page:
        listed = await page.get(ANN)
        overall = await page.get("/api/reminders", limit=1)
        paused = (await page.client.post(f"{ANN}/{later.id}/pause")).json()["reminder"]
        after_pause = await lab.bus.call("ZRANGE", lab.bus.keys.upcoming(0), 0, -1)
        resumed = (await page.client.post(f"{ANN}/{later.id}/resume")).json()["reminder"]
        deleted = (await page.client.delete(f"{ANN}/{sooner.id}")).json()
        gone = await page.refused(f"{ANN}/{sooner.id}", 404, method="DELETE")
        stranger = await page.stranger.get(ANN)

    assert [each["text"] for each in listed["reminders"]] == ["sooner", "later"]
    assert (overall["reminders"][0]["id"], overall["more"]) == (sooner.id, 1)
    assert (paused["paused"], paused["text"], "paused" in resumed) == (True, "later", False)
    assert after_pause == [f"web:ann {sooner.id}".encode()]
    assert (deleted, gone, stranger.status_code) == ({"reminder": None}, "no_reminder", 401)
    assert [reminder.id for reminder in await remind.kept()] == [later.id]
    actions = [entry.action for entry in await OperatorAudit(lab.bus).newest(limit=10)]
    assert sorted(actions) == ["reminder.delete", "reminder.pause", "reminder.resume"]


async def test_an_operator_adds_and_changes_a_reminder_and_a_repeated_request_adds_none(
    process: Process, lab: Lab
) -> None:
    remind = RemindLab(process, lab)
    await remind.met()
    form = {
        "text": "tea",
        "when": "2030-01-02 09:00",
        "repeat": "daily",
        "until": "2030-02-01",
        "count": 5,
        "id": "one",
    }
    async with page_of(process) as page:
        for _ in range(2):
            added = (await page.client.post(ANN, json=form)).json()["reminder"]
        address = f"{ANN}/{added['id']}"
        await page.client.post(f"{address}/pause")
        renamed = (await page.client.patch(address, json={"text": " green tea "})).json()["reminder"]
        moved = (await page.client.patch(address, json={"when": "2030-01-03 10:00"})).json()["reminder"]
        once = (await page.client.patch(address, json={"repeat": ""})).json()["reminder"]
        refused = await page.client.patch(f"{address}?language=zh", json={"when": "soon"})
        codes = [
            await page.refused(address, 400, method="PATCH", json={}),
            await page.refused(address, 400, method="PATCH", json={"text": " "}),
            await page.refused("/api/sessions/web:nobody/reminders", 400, method="POST", json=form),
            await page.refused("/api/sessions/support:7/reminders", 403, method="POST", json=form),
        ]

    assert (renamed["text"], renamed["due"], renamed["left"], renamed["paused"]) == ("green tea", added["due"], 5, True)
    assert (moved["local"], moved["left"], moved["rule"]) == ("2030-01-03T10:00:00", 5, "FREQ=DAILY")
    assert (moved["until"], moved["paused"]) == (added["until"], True)
    assert ("rule" in once, once["local"]) == (False, "2030-01-03T10:00:00")
    assert "“soon”不是时间" in refused.json()["error"]["message"]
    assert codes == ["bad_request", "reminder", "reminder", "foreign_session"]
    assert [reminder.id for reminder in await remind.kept()] == [added["id"]]
