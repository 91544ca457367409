"""``millpond person`` and ``millpond queue jobs``, as real processes."""

import json
from collections.abc import Iterator

import pytest

from tests.integration.test_cli import Place, a_place
from tests.tables import each_row

ANN, BOB = "pond:person:web:ann", "pond:person:web:bob"


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with a_place() as place:
        for name in ("ann", "bob"):
            memory = place.data / "bots" / "pond" / "memory" / f"pond%3aperson%3aweb%3a{name}" / "MEMORY.md"
            memory.parent.mkdir(parents=True)
            memory.write_text(f"- {name}\n", encoding="utf-8")
        assert place("send", "talk", "hello").returncode == 0
        yield place


def test_people_are_linked_shown_and_parted_by_hand(place: Place) -> None:
    assert place("person", "list").stdout == "nobody is linked\n"

    assert "now shares web:ann's memory" in place("person", "link", "web:ann", BOB).stdout

    [link] = json.loads(place("person", "list", "--json").stdout)["links"]
    assert (link["home"], link["member"]) == (ANN, BOB)
    shown = json.loads(place("person", "show", "web:bob", "--json").stdout)
    assert (shown["home"], [each["scope"] for each in shown["identities"]]) == (ANN, [ANN, BOB])
    assert json.loads(place("memory", "show", BOB, "--json").stdout)["scope"] == ANN
    assert "web:bob" in place("person", "show", "web:ann").stdout
    again = place("person", "link", "web:ann", "web:bob")
    assert again.returncode == 1
    assert "already" in again.stderr

    assert "unlinked" in place("person", "unlink", "web:bob").stdout

    assert place("person", "unlink", "web:bob").returncode == 1
    jobs = json.loads(place("queue", "jobs", "--json").stdout)["jobs"]
    assert [(job["kind"], job["status"]) for job in jobs] == [("unlink", "done"), ("link", "done")]
    assert "unlink" in place("queue", "jobs").stdout


@each_row(
    ("name", "told"),
    [
        ("bob", "is not a person's ID"),
        ("phone:bob", "channel 'phone' is not in this configuration"),
        ("web:bob:7", "is not a person's ID"),
        ("web:stranger", "this person has never sent a message"),
    ],
)
def test_who_is_nobody_is_told_so(place: Place, name: str, told: str) -> None:
    done = place("person", "show", name)

    assert done.returncode == 65
    assert told in done.stderr
