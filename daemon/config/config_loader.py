"""Loads the configuration: reads the file, applies the environment, checks each key, then the rules between keys."""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from daemon.config.channels import WebConfig
from daemon.config.config_file import read_tables
from daemon.config.config_keys import join, readable
from daemon.config.config_reader import ConfigProblem, ConfigReader
from daemon.config.config_rules import broken
from daemon.config.environment import NAMED_SECTIONS, Table, fill_models, is_table, lay_over
from daemon.config.schema import Config
from daemon.config.secret import decode_secret, readable_by_others
from daemon.errors import ConfigError

DEFAULT_BOT = "pond"


class LoadedConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A valid configuration and its source."""

    config: Config
    path: Path | None
    """The file; ``None`` when there is none."""
    sources: Mapping[str, str]
    """Dotted path of a key that was given → ``file``, ``environment <variable>``; what is not in it is a default."""
    warnings: tuple[str, ...] = ()
    """Sentences for people: what works and should be changed all the same."""


def load(
    path: Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    faults: Callable[[Config], Iterable[ConfigProblem]] = lambda _config: (),
) -> LoadedConfig:
    """The configuration of this process: the environment overrides the file, which overrides defaults. Secret files are
    read.

    ``path`` is the file; else ``MILLPOND_CONFIG`` names it, else it is ``millpond.toml`` in the data directory if it
    is there. ``environ`` stands in for the environment of the process. ``faults`` gives what else is wrong on this
    machine.

    Raises:
        ConfigError: lists everything that is wrong, a line each; holds no secret.
    """
    environ = os.environ if environ is None else environ
    file, tables = read_tables(path, environ)
    twice = list(lay_over(tables, environ))
    _add_defaults(tables, environ)
    reading = ConfigReader(folder=file.absolute().parent if file else Path(), names=_names(tables))
    reading.findings += [
        ConfigProblem(
            readable(name),
            f"this environment variable sets the same configuration key as {readable(other)}. Remove one of the two "
            "variables",
        )
        for other, name in twice
    ]
    clean = reading.section("", Config, tables)
    _assign_bots(clean, reading)
    config = _converted(clean, reading)
    findings = _all_findings(reading, config, faults)
    if findings:
        raise ConfigError("the configuration has errors:\n" + "\n".join(_lines(findings, reading.sources, file)))
    warnings = (*reading.warnings, *_open_to_others(file, reading.inline), *_open_channels(config))
    return LoadedConfig(config=config, path=file, sources=reading.sources, warnings=warnings)


def _open_to_others(file: Path | None, inline: list[str]) -> Iterable[str]:
    if file and inline and readable_by_others(file.stat()):
        keys = ", ".join(map(readable, inline))
        yield f"{readable(str(file))} contains secrets ({keys}) and can be read by other users. Run chmod 600 on it"


def _open_channels(config: Config) -> Iterable[str]:
    for name, channel in config.channels.items():
        if isinstance(channel, WebConfig) and channel.enabled and channel.open:
            yield (
                f"channels.{name}.open is true, so every user and program on this machine can read and write the "
                f"conversations on channel {name}. Remove the `open` setting to require the token"
            )


def _add_defaults(tables: Table, environ: Mapping[str, str]) -> None:
    """The bot that there is when none is given, the channels that are there unless disabled, and OpenAI's variables."""
    bots = tables.setdefault("bots", {})
    channels = tables.setdefault("channels", {})
    if is_table(bots):
        if not bots:
            bots[DEFAULT_BOT] = {}
        fill_models(bots, environ)
    if is_table(channels):
        for name in Config().channels:
            channels.setdefault(name, {})


def _names(tables: Table) -> dict[str, Iterable[str]]:
    return {named: list(given) if is_table(given := tables.get(named)) else [] for named in NAMED_SECTIONS}


def _assign_bots(clean: Table, reading: ConfigReader) -> None:
    """Give channels that name no bot the one that is meant: ``pond``, or the only one."""
    bots = cast("Table", clean["bots"])
    if DEFAULT_BOT in bots:
        return
    for name, channel in cast("dict[str, Table]", clean["channels"]).items():
        path = f"channels.{name}.bot"
        if path in reading.sources or channel.get("enabled") is False:
            continue
        if len(bots) == 1:
            channel["bot"] = next(iter(bots))
            reading.sources[path] = "the only bot"
        elif bots:
            text = (
                "this setting is missing, but it is required because several bots are configured. Choose one of "
                f"{', '.join(bots)}"
            )
            reading.refuse(path, text)


def _converted(clean: Table, reading: ConfigReader) -> Config:
    """``clean`` as the structs; sections of types that other packages bring stand among ours."""
    channels = cast("dict[str, Table]", clean["channels"])
    ours = {name: channel for name, channel in channels.items() if join("channels", name) not in reading.foreign}
    config = msgspec.convert({**clean, "channels": ours}, Config, dec_hook=decode_secret)
    if not reading.foreign:
        return config
    found: dict[str, Any] = {}
    for name, channel in channels.items():
        path = join("channels", name)
        if name in ours:
            found[name] = config.channels[name]
            continue
        try:
            found[name] = msgspec.convert(channel, reading.foreign[path], dec_hook=decode_secret)
        except msgspec.ValidationError as error:
            reading.refuse(path, str(error))
    return msgspec.structs.replace(config, channels=found)


def _all_findings(
    reading: ConfigReader, config: Config, faults: Callable[[Config], Iterable[ConfigProblem]]
) -> list[ConfigProblem]:
    """What the walk found, and the broken rules and faults that say something new beside it."""
    rules = list(broken(config))
    broken_paths = {rule.path for rule in rules}
    rules += [fault for fault in faults(config) if fault.path not in broken_paths]
    return reading.findings + [rule for rule in rules if not any(map(reading.refused, (rule.path, *rule.needs)))]


def _lines(findings: list[ConfigProblem], sources: Mapping[str, str], file: Path | None) -> Iterable[str]:
    for finding in findings:
        inside = [source for path, source in sources.items() if path.startswith(f"{finding.path}.")]
        source = sources.get(finding.path) or (inside or [""])[0]
        where = {"": "", "file": f" (in {readable(str(file))})"}
        told = where.get(source, f" ({readable(source.replace('environment', 'variable'))})")
        yield f"  {finding.path}: {finding.text}{told}"
