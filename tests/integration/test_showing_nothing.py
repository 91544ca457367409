"""A platform on which nothing can be changed is not shown what is being written: it would stand there twice."""

import pytest

from channels.inbound import accept, make_inbound
from channels.live_display import typing_indicator
from channels.testing import channel as testing
from daemon.process import Process
from tests.fakes.sink import sink
from tests.integration.test_outbox import ANN, NAME, pushing, replica, until_empty
from tests.integration.test_showing import TEXT, commit, leads, write
from tests.limits import until


async def test_what_cannot_be_changed_is_sent_when_it_is_finished(process: Process, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(testing, "EDIT_EVERY_S", 0.0)
    monkeypatch.setattr(typing_indicator, "FIRST_S", 0.0)
    monkeypatch.setattr(typing_indicator, "SHORTEST_S", 0.02)
    monkeypatch.setattr(testing, "TYPING_LASTS_S", 0.02)
    async with sink() as platform:
        one = pushing(process, platform)
        await accept(one, make_inbound(one, channel=NAME, chat="ann", text="so?", sender_id="ann"))
        async with replica(one):
            await leads(process)
            await write(process.bus, TEXT)
            # It was heard, and what would be shown at once would have been.
            await until(lambda: len(platform.acts_of("typing")) >= 2)
            await commit(process.bus, f"{TEXT} and ends.")
            await until_empty(process.bus)

        assert platform.texts(ANN) == [f"{TEXT} and ends."]
        assert platform.acts_of("edit") == []
