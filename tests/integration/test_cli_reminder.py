"""``millpond reminder``, as real processes."""

import json
import re
from collections.abc import Iterator

import pytest

from tests.integration.test_cli import Place, a_place
from tests.tables import each_row


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with a_place() as place:
        assert place("send", "talk", "hello").returncode == 0
        yield place


def test_reminders_are_added_listed_paused_and_removed_by_hand(place: Place) -> None:
    assert place("reminder", "list").stdout == "no reminders\n"

    added = place("reminder", "add", "talk", "2h", "call the dentist", "--time-zone", "Europe/Berlin")
    found = re.match(r"Reminder (\w+) is set\. It fires on [\d :-]+\(Europe/Berlin, ", added.stdout)
    assert found, added
    weekly = json.loads(
        place("reminder", "add", "talk", "", "news", "--prompt", "--repeat", "weekdays", "--json").stdout
    )
    assert (weekly["kind"], weekly["rule"]) == ("prompt", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR")

    rows = json.loads(place("reminder", "list", "--json").stdout)["reminders"]
    assert {(row["session"], row["text"], row["state"]) for row in rows} == {
        ("terminal:talk", "call the dentist", "active"),
        ("terminal:talk", "news", "active"),
    }
    assert place("reminder", "pause", "talk", found[1]).stdout == f"reminder {found[1]} is paused\n"
    assert "paused" in place("reminder", "list", "talk").stdout
    assert "fires on 20" in place("reminder", "resume", "talk", found[1]).stdout
    assert place("reminder", "remove", "talk", found[1]).stdout == f"reminder {found[1]} is removed\n"
    assert f"{weekly['id']}" in place("redis-cli", "ZRANGE", "mp:{0}:upcoming", "0", "-1").stdout
    assert place("reminder", "remove", "talk", weekly["id"]).returncode == 0
    assert place("reminder", "list").stdout == "no reminders\n"


@each_row(
    "args, code, told",
    [
        (("add", "nobody", "2h", "tea"), 65, "session terminal:nobody was not found."),
        (("add", "talk", "soon", "tea"), 1, "“soon” is not a time."),
        (("add", "talk", "2h", " "), 1, "The reminder has no text."),
        (("remove", "talk", "abcdef"), 65, "reminder abcdef was not found in session terminal:talk."),
    ],
)
def test_a_reminder_that_cannot_be_kept_is_refused_with_a_remedy(
    place: Place, args: tuple[str, ...], code: int, told: str
) -> None:
    done = place("reminder", *args)

    assert (done.returncode, told in done.stderr) == (code, True), done
