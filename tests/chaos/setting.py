"""The configuration of a run: short times, small windows."""

from collections.abc import Sequence
from pathlib import Path

from tests.chaos.talker import NOTE

LEASE_S = 1.5
PUSH, PULL = "support", "web"
DEBOUNCE_S = 0.2
PART_MAX_CHARS = 60
SEND_TIMEOUT_S = 0.5
WINDOW_TOKENS = 4_096
TURN_WAIT_S = 3.0
CALL_DEADLINE_S = 4.0
MODEL_NAME = "talker"

CONFIG = """
data_dir = "{data_dir}"
[redis]
url = "{url}"
[queue]
lease_s = {lease_s}
renew_s = 0.4
wakeup_s = 1.0
backoff_min_s = 0.1
backoff_max_s = 2.0
attempts_max = 1000
[run]
grace_s = 5.0
[consolidation]
turn_wait_s = {turn_wait_s}
call_deadline_s = {call_deadline_s}
breaker_probe_s = 1.0
[bots.pond]
tools = ["{tool}"]
[bots.pond.model]
name = "{name}"
base_url = "{model}"
context_window_tokens = {window_tokens}
[channels.support]
type = "testing"
url = "{sink}"
debounce_s = {debounce_s}
send_timeout_s = {send_timeout_s}
part_max_chars = {part_max_chars}
parts_max = 1000
streaming = false
typing = false
"""
"""Short times. Attempts are not what is tested: a message that meets many kills is no poison."""


def configured(folder: Path, url: str, *, platform: str, model: str, names: Sequence[str]) -> dict[str, Path]:
    """Write a configuration for each process; they differ in the path below which each asks the model's server."""
    files: dict[str, Path] = {}
    for name in names:
        file = files[name] = folder / f"{name}.toml"
        file.write_text(_text(folder, url, platform=platform, model=f"{model}/{name}/v1"))
        file.chmod(0o600)
    return files


def _text(folder: Path, url: str, *, platform: str, model: str) -> str:
    return CONFIG.format(
        data_dir=folder / "data",
        url=url,
        lease_s=LEASE_S,
        turn_wait_s=TURN_WAIT_S,
        call_deadline_s=CALL_DEADLINE_S,
        tool=NOTE,
        name=MODEL_NAME,
        model=model,
        window_tokens=WINDOW_TOKENS,
        sink=platform,
        debounce_s=DEBOUNCE_S,
        part_max_chars=PART_MAX_CHARS,
        send_timeout_s=SEND_TIMEOUT_S,
    )
