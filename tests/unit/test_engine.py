"""Which server program may open which data."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.errors import ConfigError, EngineRefused
from daemon.server.redis_program import RedisEngine, check_marker, find_program, may_open, parse_version
from daemon.server.server_files import ServerFiles
from tests.tables import each_row

versions = st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
engines = st.builds(
    lambda name, parts: RedisEngine(name, ".".join(map(str, parts))), st.sampled_from(["valkey", "redis"]), versions
)


@given(engines)
def test_an_engine_opens_its_own_data(engine: RedisEngine) -> None:
    assert may_open(engine, engine)


@given(engines, engines)
def test_of_two_releases_of_one_engine_only_the_newer_opens_the_others_data(
    one: RedisEngine, other: RedisEngine
) -> None:
    if one.engine == other.engine and one.release > other.release:
        assert may_open(one, other)
        assert not may_open(other, one)


@given(engines, engines, engines)
def test_what_may_follow_in_two_steps_may_follow_in_one(a: RedisEngine, b: RedisEngine, c: RedisEngine) -> None:
    if may_open(b, a) and may_open(c, b):
        assert may_open(c, a)


@each_row(
    ("kept", "found", "allowed"),
    [
        (RedisEngine("redis", "6.2.14"), RedisEngine("redis", "7.0.15"), True),
        (RedisEngine("redis", "7.0.15"), RedisEngine("redis", "6.2.14"), False),
        (RedisEngine("redis", "7.0.15"), RedisEngine("redis", "7.0.2"), True),
        (RedisEngine("redis", "7.2.4"), RedisEngine("valkey", "9.1.2"), True),
        (RedisEngine("redis", "7.4.0"), RedisEngine("valkey", "9.1.2"), False),
        (RedisEngine("redis", "8.0.0"), RedisEngine("valkey", "9.1.2"), False),
        (RedisEngine("valkey", "7.2.0"), RedisEngine("redis", "8.2.0"), False),
        (RedisEngine("valkey", "9.1.2"), RedisEngine("valkey", "8.1.0"), False),
    ],
)
def test_only_engines_that_read_all_of_the_data_open_it(kept: RedisEngine, found: RedisEngine, allowed: bool) -> None:
    assert may_open(found, kept) is allowed


def test_the_answer_to_version_tells_the_engine() -> None:
    assert parse_version("Valkey server v=9.1.2 sha=00000000:1 malloc=libc bits=64") == RedisEngine("valkey", "9.1.2")
    assert parse_version("Redis server v=6.2.14 sha=00000000:0 malloc=jemalloc-5.1.0") == RedisEngine("redis", "6.2.14")
    assert parse_version("nginx version: nginx/1.27") is None


def test_the_marker_is_written_first_and_follows_an_upgrade(tmp_path: Path) -> None:
    layout = ServerFiles(tmp_path)
    layout.create()

    check_marker(layout, RedisEngine("redis", "7.0.15"))
    check_marker(layout, RedisEngine("valkey", "9.1.2"))

    assert layout.engine.read_text() == '{"engine":"valkey","version":"9.1.2"}\n'


def test_newer_data_is_refused_with_what_to_do(tmp_path: Path) -> None:
    layout = ServerFiles(tmp_path)
    layout.create()
    check_marker(layout, RedisEngine("valkey", "9.1.2"))

    with pytest.raises(EngineRefused, match=r"Valkey 9\.1\.2 wrote this data.*\[redis\] server"):
        check_marker(layout, RedisEngine("redis", "6.2.14"))


def test_data_that_lost_its_marker_is_not_opened_by_an_engine_that_would_start_empty(tmp_path: Path) -> None:
    layout = ServerFiles(tmp_path)
    layout.create()
    (layout.folder / "appendonlydir").mkdir()

    with pytest.raises(EngineRefused):
        check_marker(layout, RedisEngine("redis", "6.2.14"))
    check_marker(layout, RedisEngine("valkey", "9.1.2"))


@each_row("text", ["", "{", '{"engine":"valkey","version":"new"}', '{"engine":"other","version":"1.2.3"}'])
def test_a_marker_that_cannot_be_read_opens_nothing(tmp_path: Path, text: str) -> None:
    layout = ServerFiles(tmp_path)
    layout.create()
    layout.engine.write_text(text)

    with pytest.raises(EngineRefused, match="cannot be read"):
        check_marker(layout, RedisEngine("valkey", "9.1.2"))


def test_the_bundled_program_is_found() -> None:
    found = find_program("")

    assert found.engine.release >= (6, 2)
    assert found.path.is_file()


def _program(folder: Path, answer: str, mode: int = 0o755) -> str:
    program = folder / "some-server"
    program.write_text(f"#!/bin/sh\necho '{answer}'\n")
    program.chmod(mode)
    return str(program)


@each_row(
    ("answer", "mode", "reason"),
    [
        ("Redis server v=5.0.7 sha=0", 0o755, "version Redis 5.0.7 is too old"),
        ("hello", 0o755, "is neither Redis nor Valkey"),
        ("Redis server v=7.0.0", 0o644, "is not executable"),
    ],
)
def test_a_configured_program_that_cannot_serve_is_named_with_the_reason(
    tmp_path: Path, answer: str, mode: int, reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        find_program(_program(tmp_path, answer, mode))


def test_a_configured_program_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere: the file was not found"):
        find_program(str(tmp_path / "nowhere"))
