"""The doctor's checks of this machine: Python, our own packages, the data directory, the ports."""

import http.client
import importlib.metadata
import os
import platform
import shlex
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from anyio import to_thread

from daemon.bus import Bus
from daemon.cli.doctor.doctor_finding import Finding, error, ok, warning
from daemon.config import Config, WebConfig
from daemon.durable import OTHERS
from daemon.errors import ConfigError
from daemon.operators import fingerprint, known_token
from daemon.overview import token_conflicts

OLDEST_PYTHON = (3, 11)
ROOMS = ("daemon", "channels", "workers")
FREE_WARNING_BYTES = 1_000_000_000
FREE_ERROR_BYTES = 50_000_000
"""Below this the embedded server is about to refuse writes."""
ASK_TIMEOUT_S = 1.0


def python() -> Finding:
    """Whether this Python will do."""
    text = f"{platform.python_implementation()} {platform.python_version()}"
    if sys.version_info < OLDEST_PYTHON:
        return error("python", f"{text}. Millpond needs 3.11 or newer.")
    return ok("python", text)


def rooms() -> Finding:
    """Whether other distributions own packages called as ours."""
    owners = importlib.metadata.packages_distributions()
    foreign = sorted({owner for room in ROOMS for owner in owners.get(room, ()) if owner.lower() != "millpond"})
    if foreign:
        return warning(
            "packages",
            f"{', '.join(foreign)} has packages with the same names as Millpond's packages ({', '.join(ROOMS)}). "
            "Python imports Millpond's packages right now, but after an update Python may import the other packages. "
            "Uninstall the other package, or install Millpond in its own virtual environment.",
        )
    return ok("packages", "no other package uses the names of Millpond's packages")


def data_directory(folder: Path) -> Finding:
    """Whether the data directory can be written and has free space."""
    problem = room("data_dir", folder, "Millpond will soon be unable to accept messages")
    if problem is None and (warned := open_to_others(folder)):
        return warning("data_dir", warned)
    return problem or ok("data_dir", f"{folder}, {_free_bytes(folder) / 1e9:,.1f} GB free")


def room(check: str, folder: Path, consequence: str) -> Finding | None:
    """What is wrong with a folder that is to be written to; ``consequence``: of a full disk."""
    existing = _existing(folder)
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        return error(
            check, f"{existing} cannot be written. Change the folder's permissions, or set another folder in {check}."
        )
    free_bytes = _free_bytes(folder)
    text = f"{folder}, {free_bytes / 1e9:,.1f} GB free"
    if free_bytes < FREE_ERROR_BYTES:
        return error(check, f"{text}. Free some disk space now, because {consequence}.")
    if free_bytes < FREE_WARNING_BYTES:
        return warning(check, f"{text}. Free some disk space.")
    return None


def _existing(folder: Path) -> Path:
    return next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(_existing(folder)).free


def open_to_others(folder: Path) -> str:
    """A sentence if other users of the machine can enter the data directory, or if it is another user's.

    It is not closed here, for an administrator may have opened it.
    """
    if not folder.is_dir():
        return ""
    state = folder.stat()
    if state.st_uid not in (0, os.geteuid()):
        return (
            f"{folder} belongs to another user of this machine, who can read and replace all files in the folder. Run "
            "Millpond as this user, or set another folder in data_dir."
        )
    if state.st_mode & OTHERS:
        return f"Other users of this machine can access {folder}. Run chmod -R go= {shlex.quote(str(folder))}"
    return ""


def ports(config: Config) -> Iterator[Finding]:
    """Whether each web channel can listen, or does so already."""
    for name, channel in config.channels.items():
        if isinstance(channel, WebConfig) and channel.enabled:
            yield _port(f"web port of {name}", channel)


def _port(check: str, channel: WebConfig) -> Finding:
    if not channel.port:
        return ok(
            check,
            "the web page can use any free port"
            if channel.port == 0
            else ("the web page uses port 8765 or the next free port"),
        )
    where = f"{channel.host}:{channel.port}"
    try:
        family = socket.AF_INET6 if ":" in channel.host else socket.AF_INET
        with socket.socket(family) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((channel.host, channel.port))
    except OSError as failure:
        if _is_ours(channel):
            return ok(check, f"Millpond is running and responds at {where}")
        text = (
            f"{where} cannot be used ({failure.strerror}). Stop the program that uses this port, or change the "
            "channel's port or host."
        )
        return error(check, text)
    return ok(check, f"{where} is free")


def _is_ours(channel: WebConfig) -> bool:
    asked = http.client.HTTPConnection(channel.host, channel.port, timeout=ASK_TIMEOUT_S)
    try:
        asked.request("GET", "/healthz", headers={"Host": "localhost"})
        return b'"status"' in asked.getresponse().read(4096)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        asked.close()


# The doctor's checks of the API: its token, here and in the processes that run.

CHECK = "API token"


async def examine_tokens(bus: Bus, config: Config, folder: Path) -> list[Finding]:
    """Whether each web channel has a token, and whether all of its processes accept this one.

    No request is sent to find out: another user's program may listen on the port of a stopped Millpond.
    """
    channels = {name: each for name, each in config.channels.items() if isinstance(each, WebConfig) and each.enabled}
    configured = {name: each.token for name, each in channels.items() if each.token}
    findings = [ok(CHECK, f"the token is set in the section channels.{name}") for name in configured]
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
