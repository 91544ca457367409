"""Types of channels that other packages bring: found when they are named, checked like ours, told when they are bad."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from channels.push import connect
from daemon.config import LoadedConfig, PushConfig, Secret, channel_plugins, config_output, load
from daemon.errors import ConfigError
from tests.tables import each_row

GOOD = """
from daemon.config import Adapter, PathText, PushConfig, Secret

class HornConfig(PushConfig, frozen=True, tag="horn"):
    loudness: int = 3
    key: Secret = Secret("")
    key_file: PathText = ""

    def problems(self):
        if self.loudness > 11:
            yield "loudness", f"expected 11 at most, got {self.loudness}"

    def __post_init__(self):
        if self.loudness < 0:
            raise ValueError("nothing is as quiet as that")

ADAPTER = Adapter(config=HornConfig, connect="horn.adapter:connect")
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a package ``horn`` beside us: its source, and what its metadata says."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a source replaced within a second is read anew

    def install(source: str = GOOD, *, named: str = "horn = horn:ADAPTER", name: str = "millpond-horn") -> None:
        sys.modules.pop("horn", None)
        (site / "horn.py").write_text(source)
        metadata = site / f"{name.replace('-', '_')}-1.2.dist-info"
        metadata.mkdir(exist_ok=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
        (metadata / "entry_points.txt").write_text(f"[millpond.channels]\n{named}\n")

    yield install
    sys.modules.pop("horn", None)


def loaded(tmp_path: Path, text: str, **environ: str) -> LoadedConfig:
    file = tmp_path / "millpond.toml"
    file.write_text(text)
    return load(file, environ=environ)


def problem(tmp_path: Path, text: str = "[channels.fog]\ntype = 'horn'") -> str:
    with pytest.raises(ConfigError) as error:
        loaded(tmp_path, text)
    [line] = str(error.value).splitlines()[1:]
    return line.strip()


def test_a_type_of_another_package_is_found_and_read_like_ours(install: Install, tmp_path: Path) -> None:
    install()
    (tmp_path / "key").write_text("sesame")
    (tmp_path / "key").chmod(0o600)

    found = loaded(
        tmp_path,
        "[channels.fog]\ntype = 'horn'\nkey_file = 'key'\naccess.policy = 'open'\n[channels.web]\nport = 1",
        MILLPOND_CHANNELS__FOG__LOUDNESS="5",
    )

    fog = found.config.channels["fog"]
    assert isinstance(fog, PushConfig) and type(fog).__name__ == "HornConfig"
    assert fog.loudness == 5  # type: ignore[attr-defined]
    assert fog.key == Secret("sesame")  # type: ignore[attr-defined]
    assert (fog.bot, fog.access.policy) == ("pond", "open")
    assert list(found.config.channels) == ["fog", "web", "terminal"]
    assert found.warnings == ()


def test_its_section_may_go_by_the_name_of_the_type(install: Install, tmp_path: Path) -> None:
    install()

    assert type(loaded(tmp_path, "[channels.horn]").config.channels["horn"]).__name__ == "HornConfig"


def test_its_secrets_are_never_shown(install: Install, tmp_path: Path) -> None:
    install()

    text = config_output.toml(loaded(tmp_path, "[channels.fog]\ntype = 'horn'\nkey = 'sesame'"), defaults=True)

    assert 'type = "horn"' in text and 'key = "********"' in text and "loudness = 3" in text
    assert "sesame" not in text


@each_row(
    ("keys", "said"),
    [
        ("loudnes = 4", "channels.fog.loudnes: unknown key; did you mean loudness?"),
        ("loudness = 'very'", "channels.fog.loudness: expected a whole number, got 'very'"),
        ("loudness = 12", "channels.fog.loudness: expected 11 at most, got 12"),
        ("loudness = -1", "channels.fog: nothing is as quiet as that"),
        ("bot = 'nobody'", "channels.fog.bot: bot 'nobody' was not found"),
        ("send_timeout_s = 1000", "channels.fog.send_timeout_s: the value must be at most 80% of queue.lease_s"),
    ],
)
def test_what_is_wrong_in_its_section_is_told(install: Install, tmp_path: Path, keys: str, said: str) -> None:
    install()

    assert problem(tmp_path, f"[channels.fog]\ntype = 'horn'\n{keys}").startswith(said)


def test_a_check_of_a_packages_own_that_fails_is_told_with_its_section(install: Install, tmp_path: Path) -> None:
    install(GOOD.replace("if self.loudness > 11:", "if self.volume > 11:"))

    line = problem(tmp_path)

    assert line.startswith(
        "channels.fog: the package that provides this channel type failed to check this section of the configuration: "
        "AttributeError: "
    )


def test_what_is_off_is_not_judged(install: Install, tmp_path: Path) -> None:
    install()

    found = loaded(tmp_path, "[channels.fog]\ntype = 'horn'\nenabled = false\nloudness = 12")

    assert found.warnings == ()
    assert not found.config.channels["fog"].enabled


def test_a_type_that_nobody_brings_is_told_with_those_that_there_are(install: Install, tmp_path: Path) -> None:
    install()

    line = problem(tmp_path, "[channels.fog]\ntype = 'hornet'")

    assert "'hornet' is not a type in this version of Millpond (terminal, web, testing" in line
    assert "telegram, slack, discord, feishu, webhook, horn), and no installed package provides it" in line


@each_row(
    ("source", "said"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
        ("x = 1", "AttributeError: "),
        ("ADAPTER = 5", "the entry point refers to an object of type int, not to a daemon.config.Adapter"),
        (
            GOOD.replace('tag="horn"', 'tag="drum"'),
            "the adapter's config has the tag 'drum', but the entry point is named 'horn'",
        ),
        (
            GOOD.replace("loudness: int = 3", "loudness: int").replace("frozen=True", "frozen=True, kw_only=True"),
            "the adapter's config has keys without a default: loudness",
        ),
        (
            GOOD.replace("config=HornConfig", "config=dict"),
            "the adapter's config is not a subclass of daemon.config.PushConfig",
        ),
        (
            GOOD.replace("horn.adapter:connect", "horn.adapter"),
            "the adapter's connect value is 'horn.adapter', but it must have the form module:name",
        ),
    ],
)
def test_a_package_that_cannot_be_used_is_named_with_the_reason(
    install: Install, tmp_path: Path, source: str, said: str
) -> None:
    install(source)

    line = problem(tmp_path)

    assert line.startswith("channels.fog.type: package millpond-horn 1.2, which provides type 'horn', cannot be used: ")
    assert said in line


def test_of_two_packages_that_bring_one_type_neither_is_used(install: Install, tmp_path: Path) -> None:
    install()
    install(named="horn = horn:OTHER", name="other-horn")

    told = "type 'horn' is provided by several packages: millpond-horn 1.2 and other-horn 1.2. Uninstall all but one"
    assert told in problem(tmp_path)


def test_no_package_takes_the_place_of_a_type_of_ours(install: Install, tmp_path: Path) -> None:
    install("raise RuntimeError('loaded')", named="web = horn:ADAPTER")

    assert type(loaded(tmp_path, "[channels.web]\nport = 0").config.channels["web"]).__name__ == "WebConfig"


def test_nothing_is_looked_for_where_all_types_are_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def looked() -> None:
        raise AssertionError("That is slow")

    monkeypatch.setattr(channel_plugins, "_points", looked)

    loaded(tmp_path, "[channels.web]\nport = 0\n[channels.other]\ntype = 'web'\nport = 0")


def test_an_adapter_that_cannot_be_loaded_is_told_with_its_channel(install: Install, tmp_path: Path) -> None:
    install()
    config = loaded(tmp_path, "[channels.fog]\ntype = 'horn'").config.channels["fog"]
    assert isinstance(config, PushConfig)

    with pytest.raises(
        ConfigError, match=r"channels\.fog: the channel's adapter horn\.adapter:connect cannot be loaded: .*horn"
    ):
        connect(None, "fog", config)  # type: ignore[arg-type]
