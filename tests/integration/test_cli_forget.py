"""``millpond session|memory|person forget``, as a real process: what it asks, what it removes, what it refuses."""

import json
from collections.abc import Iterator

import pytest

from tests.integration.test_cli import Place, a_place
from tests.tables import each_row


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with a_place() as place, place.running("--role", "agent", "--role", "consolidation"):
        for session in ("talk", "other"):
            for text in (f"I moved to Berlin, says {session}.", "I like tea."):
                talk(place, session, text)
        yield place


def talk(place: Place, session: str, text: str) -> None:
    done = place("chat", "--session", session, given=f"{text}\n")
    assert done.returncode == 0, done.stderr


def said(place: Place, session: str) -> str:
    return place("session", "show", session).stdout


def test_a_text_is_listed_and_forgotten_when_it_is_meant(place: Place) -> None:
    refused = place("memory", "forget", "talk", "berlin", given="n\n")
    assert refused.returncode == 1
    assert "1. messages, " in refused.stdout
    assert "I moved to Berlin, says talk." in refused.stdout
    assert "Delete this? It cannot be undone" in refused.stdout
    assert "Berlin" in said(place, "talk")

    done = place("memory", "forget", "talk", "I moved to Berlin, says talk", "--yes")

    assert done.returncode == 0, done.stderr
    assert "The text was forgotten. Deleted:\n- messages: " in done.stdout
    assert "Copies of the text in backups, " in done.stdout
    assert "says talk" not in said(place, "talk")
    assert "[forgotten]" in said(place, "talk")
    again = place("memory", "forget", "talk", "says talk", "--yes")
    assert (again.returncode, again.stdout) == (65, "")
    assert "no matching data was found" in again.stderr


def test_places_are_chosen_by_number(place: Place) -> None:
    for text in ("one red boat", "two red boats"):
        talk(place, "choose", text)
    wrong = place("memory", "forget", "choose", "red", "--only", "99", "--yes")
    assert (wrong.returncode, "Write numbers from 1 to " in wrong.stderr) == (65, True)
    listed = place("memory", "forget", "choose", "one red boat", given="n\n").stdout
    number = next(line.partition(".")[0] for line in listed.splitlines() if line.endswith(": one red boat"))

    done = place("memory", "forget", "choose", "one red boat", "--only", number, "--yes", "--json")

    report = json.loads(done.stdout)
    assert (report["whole"], report["failed"], report["removed"]["messages"]) == ("", [], 1)
    assert "one red boat" not in [line.strip() for line in said(place, "choose").splitlines()]
    assert "two red boats" in said(place, "choose")


def test_a_session_is_forgotten_and_the_other_stays(place: Place) -> None:
    talk(place, "gone", "a secret")

    done = place("session", "forget", "gone", "--yes", "--json")

    assert json.loads(done.stdout)["removed"]["messages"] == 2
    assert "secret" not in said(place, "gone")
    assert "tea" in said(place, "other")
    talk(place, "gone", "hello again")
    assert "hello again" in said(place, "gone")


@each_row(
    ("args", "code", "text"),
    [
        (("session", "forget", "nobody", "--yes"), 65, "no one has sent a message to this session"),
        (("memory", "forget", "nobody", "tea", "--yes"), 65, "no one has sent a message to this session"),
        (("memory", "forget", "talk", "x", "--yes"), 65, "too short"),
        (("memory", "forget", "talk", "--only", "1", "--yes"), 2, "--only selects matches of WHAT"),
        (("person", "forget", "nowhere:ann", "--yes"), 65, "is not a person's ID"),
        (("person", "forget", "terminal:a:b", "--yes"), 65, "is not a person's ID"),
        (("person", "forget", "terminal:nobody", "--yes"), 65, "no data was found"),
    ],
)
def test_what_is_not_there_is_said(place: Place, args: tuple[str, ...], code: int, text: str) -> None:
    done = place(*args)

    assert done.returncode == code, done
    assert text in done.stderr


def test_a_person_is_forgotten_with_all_conversations(place: Place) -> None:
    scope = json.loads(place("session", "show", "talk", "--json").stdout)["positions"]["scope"]
    backup = place.data / "redis-backup.tar"
    backup.write_bytes(b"old")

    done = place("person", "forget", scope, "--yes", "--json")

    report = json.loads(done.stdout)
    assert report["backups"] == [str(backup)]
    assert backup.exists()
    for session in ("talk", "other", "choose"):
        assert "tea" not in said(place, session)
        assert "red" not in said(place, session)
