"""``millpond doctor``: looks at everything, and says what to do."""

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from daemon.cli.connected import loaded
from daemon.cli.exits import FAILED, leaves
from daemon.cli.table import print_json

if TYPE_CHECKING:
    from daemon.cli.finding import Finding
    from daemon.config import BotConfig, Config, Loaded

PROBE_S = 30.0


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--probe-model", is_flag=True, help="Ask each bot's model for one token; a provider may charge for it.")
@click.pass_context
def doctor(ctx: click.Context, *, as_json: bool, probe_model: bool) -> None:
    """Check everything that Millpond needs; exit code 1 when something is wrong."""
    findings = _examined(ctx, probe_model=probe_model)
    if as_json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            click.echo(f"{finding.state:<8}{finding.check}: {finding.text}")
        counts = Counter(finding.state for finding in findings)
        click.echo(f"errors: {counts['error']}, warnings: {counts['warning']}")
    ctx.exit(FAILED if any(finding.state == "error" for finding in findings) else 0)


def _examined(ctx: click.Context, *, probe_model: bool) -> "list[Finding]":
    import anyio

    from daemon import log
    from daemon.cli import machine
    from daemon.cli.finding import error
    from daemon.config import data_path
    from daemon.errors import ConfigError

    log.configure("error")
    findings = [machine.python(), machine.rooms()]
    try:
        read = loaded(ctx)
        folder = data_path(read.config)
    except ConfigError as failure:
        return [*findings, error("configuration", str(failure))]
    findings += _configuration(read)
    findings.append(machine.data_directory(folder))
    findings += anyio.run(_redis, read.config)
    findings += anyio.run(_models, read.config, probe_model)
    return [*findings, *machine.ports(read.config)]


def _configuration(read: "Loaded") -> "list[Finding]":
    from daemon.cli.finding import ok, warning

    where = str(read.path) if read.path else "no file, defaults and environment alone"
    return [ok("configuration", where), *(warning("configuration", text) for text in read.warnings)]


async def _redis(config: "Config") -> "list[Finding]":
    from daemon.bus import open_bus
    from daemon.cli.database import examine
    from daemon.cli.finding import error
    from daemon.config import data_path
    from daemon.errors import MillpondError

    try:
        async with open_bus(config.redis, data_path(config)) as bus:
            return await examine(bus, embedded=not config.redis.url)
    except* MillpondError as group:
        failures = [str(leaf) for leaf in leaves(group)]
    return [error("server", text) for text in failures]


async def _models(config: "Config", probe: bool) -> "list[Finding]":
    from daemon.cli.finding import ok, warning

    findings: list[Finding] = []
    for name, bot in config.bots.items():
        check = f"model of {name}"
        if bot.model.offline:
            text = "the offline stand-in, no real one; set OPENAI_API_KEY and OPENAI_MODEL, or bots.<name>.model"
            findings.append(warning(check, text))
        elif probe:
            findings.append(await _probed(check, bot))
        else:
            findings.append(ok(check, f"{bot.model.name}; not asked (--probe-model asks it for one token)"))
    return findings


async def _probed(check: str, bot: "BotConfig") -> "Finding":
    import anyio

    from daemon.cli.finding import error, ok
    from daemon.errors import InvalidAnswer, MillpondError
    from daemon.model import Request, connect

    model = await connect(bot.model)
    request = Request(messages=(b'{"role":"user","content":"Say yes."}',), max_completion_tokens=1)
    try:
        with anyio.fail_after(PROBE_S):
            async for _ in model.stream(request):
                pass
    except InvalidAnswer:
        pass  # cut off after its one token: it answers
    except TimeoutError:
        return error(check, f"{bot.model.name}: no answer within {PROBE_S:g} s; check base_url and the network")
    except MillpondError as failure:
        return error(check, f"{bot.model.name}: {failure}")
    finally:
        await model.aclose()
    return ok(check, f"{bot.model.name} answers")
