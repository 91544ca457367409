"""Reminders over the API: listed, paused, resumed and deleted by operators, each change in the audit log."""

from daemon.operators import Audit
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
    actions = [entry.action for entry in await Audit(lab.bus).newest(limit=10)]
    assert sorted(actions) == ["reminder.delete", "reminder.pause", "reminder.resume"]
