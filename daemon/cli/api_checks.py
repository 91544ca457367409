"""The doctor's checks of the API: its token, here and in the processes that run."""

from pathlib import Path

from anyio import to_thread

from daemon.bus import Bus
from daemon.cli.doctor_finding import Finding, error, ok, warning
from daemon.config import Config, WebConfig
from daemon.errors import ConfigError
from daemon.operators import fingerprint, known_token
from daemon.overview import token_conflicts

CHECK = "API token"


async def examine_tokens(bus: Bus, config: Config, folder: Path) -> list[Finding]:
    """Whether each web channel has a token, and whether all of its processes accept this one.

    No request is sent to find out: another user's program may listen on the port of a stopped Millpond.
    """
    channels = {name: each for name, each in config.channels.items() if isinstance(each, WebConfig) and each.enabled}
    configured = {name: each.token for name, each in channels.items() if each.token}
    findings = [ok(CHECK, f"set by channels.{name}.token or token_file") for name in configured]
    prints = {name: fingerprint(token) for name, token in configured.items()}
    if len(configured) < len(channels):
        try:
            local = await to_thread.run_sync(known_token, folder)
        except ConfigError as failure:
            return [*findings, error(CHECK, str(failure))]
        if local is None:
            findings.append(ok(CHECK, "`millpond run` generates a token when it starts for the first time"))
        else:
            findings.append(warning(CHECK, local.warning) if local.warning else ok(CHECK, f"stored in {local.path}"))
        # Without the file, every token that a process accepts is another one.
        made = fingerprint(local.secret) if local else ""
        prints = {name: prints.get(name, made) for name in channels}
    return [*findings, *(warning(CHECK, text) for text in await token_conflicts(bus, prints))]
