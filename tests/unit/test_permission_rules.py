"""The rules of the users of roles: they have every key, every channel and every command of the code, and no other."""

import inspect
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from redis.exceptions import NoPermissionError, ResponseError

from daemon.bus.command_batch import asked_by, translated
from daemon.bus.keys import Keys
from daemon.bus.permissions import EVERY, OPERATOR, RIGHTS, pattern_of, rights_of, rules_of, users
from daemon.bus.script_batch import load_script
from daemon.services import ROLES

ROOT = Path(__file__).parents[2]
CHANNELS = {"commands", "nudges", "leaders", "rulings", "events"}
TOGETHER = {"partition", "of", "accepting", "claiming", "committing", "delivering"}


def keys_of() -> dict[str, str]:
    """A key of every kind, by the name of the method that makes it."""
    keys, found = Keys(prefix="mp", partitions=1), {}
    for name, member in vars(Keys).items():
        if isinstance(member, property):
            found[name] = str(getattr(keys, name))
        elif inspect.isfunction(member) and not name.startswith("_") and name not in TOGETHER:
            parameters = list(inspect.signature(member).parameters.values())[1:]
            found[name] = member(keys, *[0 if "int" in str(each.annotation) else "x:y" for each in parameters])
    return found


def granted(key: str, kinds: str) -> list[str]:
    return [kind for kind in kinds.split(",") if fnmatchcase(key, f"mp:{pattern_of(kind)}".replace("[", "[[]"))]


def test_each_key_of_the_code_is_one_kind_and_some_role_writes_it() -> None:
    for name, key in keys_of().items():
        if name not in CHANNELS:
            roles = {role: granted(key, rights_of(role).writes) for role in RIGHTS}
            assert any(roles.values()), f"{key}: no role writes it. Add its kind to RIGHTS in daemon/bus/permissions.py"
            assert all(len(kinds) <= 1 for kinds in roles.values()), roles


def test_no_kind_is_named_that_no_key_has_and_none_is_read_and_written() -> None:
    keys = [key for name, key in keys_of().items() if name not in CHANNELS]
    for role in RIGHTS:
        rights = rights_of(role)
        assert not set(rights.reads.split(",")) & set(rights.writes.split(","))
        for kind in (*rights.reads.split(","), *rights.writes.split(",")):
            assert any(granted(key, kind) for key in keys), f"{role}: {kind}"


def test_each_channel_of_the_code_is_heard_by_some_role() -> None:
    heard = {name.partition(":")[0] for role in RIGHTS for name in rights_of(role).hears.split(",")}

    assert heard == {*CHANNELS, "listeners", "replicated"}


def test_each_command_of_a_script_is_one_that_every_role_may_call() -> None:
    rooms = ("daemon", "channels", "workers")
    scripts = "".join(path.read_text() for room in rooms for path in (ROOT / room).rglob("*.lua"))
    called = {name.lower() for name in re.findall(r"redis\.p?call\(\s*'([A-Z]+)'", scripts)}

    assert called - {call.split()[0] for call in EVERY.calls.split(", ")} == set()


def test_there_is_a_user_for_each_role_and_one_for_commands() -> None:
    lines = users("pond").splitlines()

    assert set(RIGHTS) == set(ROLES)
    assert lines[0] == "user default off"
    assert [line.split()[1] for line in lines[1:]] == [OPERATOR, *(f"{OPERATOR}-{role}" for role in RIGHTS)]
    assert all(" on >PASSWORD resetkeys ~pond:" in line for line in lines[1:])
    assert "%R~" in users("pond") and "%R~" not in users("pond", read_only=False)
    assert "~mp:" not in rules_of("web", "pond")


@pytest.mark.parametrize(
    "words", ["NOPERM No permissions to access a key", "ERR ACL failure in script: User a has no …"]
)
def test_a_refusal_names_the_command_and_no_conversation(words: str) -> None:
    error = NoPermissionError(words) if words.startswith("NOPERM") else ResponseError(words)
    script = load_script(str(ROOT / "daemon" / "bus" / "x"), "publish.lua")

    said = str(translated(error, asked_by(("HGET", "mp:{0}:session:telegram:ann", "head"))))

    assert said.startswith("Redis rejected HGET mp:{0}:session:* because the Redis user lacks permission (NOPERM).")
    assert "millpond redis-acl" in said and "ann" not in said
    assert asked_by(("EVALSHA", "x"), script) == "the script publish.lua"
    assert asked_by(("INFO",)) == "INFO"
