"""The configuration of a run: short times, a small window, all tools."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.canary.people import CLUB, PAGE, WEB
from tests.ports import free_port

CONFIG = """
data_dir = "{data_dir}"
[redis]
url = "{url}"
[queue]
lease_s = 3.0
renew_s = 0.8
wakeup_s = 1.0
backoff_min_s = 0.1
backoff_max_s = 1.0
attempts_max = 1000
[run]
grace_s = 5.0
[consolidation]
turn_wait_s = 3.0
call_deadline_s = 4.0
breaker_probe_s = 1.0
[bots.pond]
tools = [
    "time", "message", "compact", "read_file", "write_file", "edit_file", "list_files", "grep",
    "memory_search", "memory_get", "conversation_search",
]
admins = ["support:ann"]
[bots.pond.mcp.web]
command = "{python}"
args = ["-m", "tests.canary.fetcher"]
[bots.pond.model]
name = "minds"
base_url = "{model}"
context_window_tokens = {window_tokens}
[channels.{web}]
type = "web"
port = {web_port}
[channels.{page}]
type = "web"
port = {page_port}
[channels.{club}]
type = "testing"
url = "{platform}"
send_timeout_s = 1.0
streaming = false
"""

WINDOW_TOKENS = 6_144


def free_ports() -> Mapping[str, int]:
    """A port for each channel of type ``web``: it is to stay the same when its process is replaced."""
    return {WEB: free_port(), PAGE: free_port()}


def configured(
    folder: Path, url: str, *, platform: str, model: str, ports: Mapping[str, int], names: Sequence[str]
) -> dict[str, Path]:
    """Write a configuration for each process; they differ in the path below which each asks the model's server."""
    files: dict[str, Path] = {}
    for name in names:
        file = files[name] = folder / f"{name}.toml"
        text = CONFIG.format(
            data_dir=folder / "data",
            python=sys.executable,
            url=url,
            platform=platform,
            model=f"{model}/{name}/v1",
            window_tokens=WINDOW_TOKENS,
            web=WEB,
            page=PAGE,
            club=CLUB,
            web_port=ports[WEB],
            page_port=ports[PAGE],
        )
        file.write_text(text)
        file.chmod(0o600)
    return files
