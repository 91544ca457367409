"""``millpond doctor``: checks everything, and names remedies."""

from collections import Counter
from typing import TYPE_CHECKING

import click

from daemon.cli.command_setup import FAILED, leaves, loaded, translated
from daemon.cli.output.table_output import print_json, say, tell

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from daemon.cli.doctor.doctor_finding import Finding
    from daemon.config import BotConfig, Config, LoadedConfig, ModelConfig


PROBE_S = 90.0


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--probe-model",
    is_flag=True,
    help="Test each bot's models with a tool call and a picture. The calls may cost money.",
)
@click.pass_context
def doctor(ctx: click.Context, *, as_json: bool, probe_model: bool) -> None:
    """Check everything that Millpond needs. The exit code is 1 if there is an error."""
    findings = _examined(ctx, probe_model=probe_model)
    if as_json:
        print_json({"findings": findings})
    else:
        for finding in findings:
            say(f"{finding.state:<8}{finding.check}: {translated(finding.text)}")
        counts = Counter(finding.state for finding in findings)
        tell(f"errors: {counts['error']}, warnings: {counts['warning']}")
    ctx.exit(FAILED if any(finding.state == "error" for finding in findings) else 0)


def _examined(ctx: click.Context, *, probe_model: bool) -> "list[Finding]":
    import anyio

    from daemon import log
    from daemon.cli.doctor import machine_checks
    from daemon.cli.doctor.doctor_finding import error
    from daemon.config import data_path
    from daemon.errors import ConfigError

    log.configure("error")
    findings = [machine_checks.python(), machine_checks.rooms()]
    try:
        read = loaded(ctx)
        folder = data_path(read.config)
    except ConfigError as failure:
        return [*findings, error("configuration", str(failure))]
    findings += _configuration(read)
    findings.append(machine_checks.data_directory(folder))
    findings += anyio.run(_redis, read.config)
    findings += _tools(read.config)
    findings += anyio.run(_equipment, read.config)
    findings += anyio.run(_search, read.config)
    findings += anyio.run(_models, read.config, probe_model)
    findings += anyio.run(_channels, read.config)
    return [*findings, *machine_checks.ports(read.config)]


def _configuration(read: "LoadedConfig") -> "list[Finding]":
    from daemon.cli.doctor.doctor_finding import ok, warning

    where = (
        str(read.path)
        if read.path
        else "no configuration file was found, so only defaults and environment variables are used"
    )
    return [ok("configuration", where), *(warning("configuration", text) for text in read.warnings)]


def _tools(config: "Config") -> "list[Finding]":
    from daemon.cli.doctor.doctor_finding import error, ok, warning
    from daemon.cli.preflight import missing_programs, tool_faults
    from daemon.config import bot_workspace

    wrong = [each for name, bot in config.bots.items() for each in tool_faults(name, bot, bot_workspace(config, name))]
    found = [error("tools", f"{each.path}: {each.text}.") for each in wrong]
    found += [warning("tools", f"{each.path}: {each.text}") for each in missing_programs(config)]
    return found or [ok("tools", "all programs that the bots need were found")]


async def _equipment(config: "Config") -> "list[Finding]":
    from daemon.services import EQUIPMENT, load

    found: list[Finding] = await load(EQUIPMENT)(config)
    return found


async def _search(config: "Config") -> "list[Finding]":
    from daemon.cli.doctor.model_checks import examine_search

    return await examine_search(config.memory_search)


async def _redis(config: "Config") -> "list[Finding]":
    from daemon.archive import Archive
    from daemon.bus import open_bus
    from daemon.cli.doctor.database_checks import examine, examine_archive
    from daemon.cli.doctor.doctor_finding import error
    from daemon.cli.doctor.machine_checks import examine_tokens
    from daemon.cli.doctor.model_checks import examine_caching, examine_models, examine_reminders
    from daemon.clock import SystemClock
    from daemon.config import data_path
    from daemon.errors import MillpondError

    try:
        async with open_bus(config.redis, data_path(config)) as bus:
            archive = Archive(bus, data_path(config), config=config.archive)
            found = await examine(bus, embedded=not config.redis.url)
            found += await _permitted("archive", examine_archive(bus, archive))
            found += await _permitted("api token", examine_tokens(bus, config, data_path(config)))
            found += await _permitted("models", examine_models(bus, config))
            found += await _permitted("reminders", examine_reminders(bus))
            return found + await _permitted("prompt caches", examine_caching(bus, config, SystemClock()))
    except* MillpondError as group:
        failures = [str(leaf) for leaf in leaves(group)]
    return [error("server", text) for text in failures]


async def _permitted(check: str, examination: "Awaitable[list[Finding]]") -> "list[Finding]":
    from daemon.cli.doctor.doctor_finding import warning
    from daemon.errors import BusError, BusUnavailable

    failures = list[BaseException]()
    try:
        return await examination
    except* BusUnavailable:
        raise
    except* BusError as group:
        failures += leaves(group)
    return [warning(check, f"not checked. {failures[0]}")]


async def _channels(config: "Config") -> "list[Finding]":
    from daemon.config import PushConfig
    from daemon.services import EXAMINE, load

    findings: list[Finding] = []
    for name, channel in config.channels.items():
        if isinstance(channel, PushConfig) and channel.enabled:
            findings += await load(EXAMINE)(name, config)
    return findings


async def _models(config: "Config", probe: bool) -> "list[Finding]":
    from daemon.cli.doctor.model_checks import examine_speech
    from daemon.config import summary_model_of

    findings: list[Finding] = []
    for name, bot in config.bots.items():
        # Each by itself: asked as one, a fallback would answer for a first model that is gone.
        first, *fallbacks = bot.model.chain
        findings.append(await _model(f"model of {name}", bot, first, probe))
        findings += [await _model(f"fallback of {name}", bot, each, probe) for each in fallbacks]
        if (summing_up := summary_model_of(bot)) != bot.model:
            findings.append(await _model(f"summary model of {name}", bot, summing_up, probe))
        findings += await examine_speech(name, bot, probe=probe)
    return findings


async def _model(check: str, bot: "BotConfig", model: "ModelConfig", probe: bool) -> "Finding":
    from daemon.cli.doctor.doctor_finding import ok, warning

    if model.offline:
        text = (
            "no real model is set, so the offline mock model answers. Run `millpond init`, or set OPENAI_API_KEY "
            "and OPENAI_MODEL."
        )
        return warning(check, text)
    if probe:
        return await _probed(check, bot, model)
    return ok(check, f"{model.name} was not tested (--probe-model tests the model)")


async def _probed(check: str, bot: "BotConfig", asked: "ModelConfig") -> "Finding":
    import anyio

    from daemon.cli.doctor.doctor_finding import error, ok, warning
    from daemon.errors import MillpondError
    from daemon.services import PROBE, load

    try:
        with anyio.fail_after(PROBE_S):
            found: list[str] = await load(PROBE)(bot, asked)
    except TimeoutError:
        return error(check, f"{asked.name} did not respond within {PROBE_S:g} s. Check base_url and the network.")
    except MillpondError as failure:
        return error(check, f"{asked.name}: {failure}")
    if found:
        return warning(check, f"{asked.name} answers, but {'; '.join(found)}")
    return ok(check, f"{asked.name} answers and can call tools{(' and read pictures' if asked.vision else '')}")
