"""The configuration of a soak: all channels, short times, a small window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PUSH, LAKE, WORK, SITE, TERMINAL = "support", "lake", "work", "site", "terminal"
"""Channels of the types testing, telegram, slack, web and terminal."""

LEASE_S = 5.0
TURN_WAIT_S = 3.0
GRACE_S = 5.0
SEND_TIMEOUT_S = 2.5  # half a lease: who sends must know that nobody else does
SENDS_PER_S = 40
"""What the platform of a test takes: all that waited while nobody sent would come at once, and time out together."""

REPEAT_S = 6.0  # after which time Slack's fake brings again what is not acknowledged
DEBOUNCE_S = 0.3
SLOTS = 24  # turns at a time: each may have a connection to everything, which a pool keeps
WINDOW_TOKENS = 4_096
MODEL_NAME = "soak"
SEEN_TTL_S = 60.0  # longer than anything here is said again; a day of ids would look like a leak of the server's
CONFIG = """
data_dir = "{data_dir}"
[queue]
lease_s = {lease_s}
renew_s = 1.2
wakeup_s = 2.0
backoff_min_s = 0.2
backoff_max_s = 2.0
attempts_max = 1000
seen_ttl_s = {seen_ttl_s}
notice_ttl_s = 60.0
[agent]
slots = {slots}
[run]
grace_s = {grace_s}
[consolidation]
turn_wait_s = {turn_wait_s}
call_deadline_s = 4.0
breaker_probe_s = 1.0
[bots.pond]
tools = ["time"]
[bots.pond.model]
name = "{model_name}"
base_url = "{model}"
context_window_tokens = {window_tokens}
chunk_timeout_s = 5.0
[channels.site]
type = "web"
port = {port}
[channels.terminal]
type = "terminal"
[channels.support]
type = "testing"
url = "{sink}"
updates_url = "{sink}updates"
sends_per_s = {sends_per_s}
send_timeout_s = {send_timeout_s}
debounce_s = {debounce_s}
streaming = false
typing = false
access = {{ policy = "open" }}
[channels.lake]
type = "telegram"
token = "{telegram_token}"
base_url = "{telegram}"
send_timeout_s = {send_timeout_s}
debounce_s = {debounce_s}
streaming = false
typing = false
access = {{ policy = "open" }}
[channels.work]
type = "slack"
bot_token = "{slack_token}"
app_token = "{slack_app}"
base_url = "{slack}"
send_timeout_s = {send_timeout_s}
debounce_s = {debounce_s}
streaming = false
typing = false
access = {{ policy = "open" }}
"""


@dataclass(frozen=True, kw_only=True)
class Around:
    model: str
    sink: str
    telegram: str
    telegram_token: str
    slack: str
    slack_token: str
    slack_app: str


def configured(folder: Path, around: Around, names: Sequence[str], ports: Mapping[str, int]) -> dict[str, Path]:
    """Write a configuration for each process; they differ in where they listen, if ``ports`` names them."""
    files: dict[str, Path] = {}
    for name in names:
        file = files[name] = folder / f"{name}.toml"
        file.write_text(
            CONFIG.format(
                data_dir=folder / "data",
                port=ports.get(name, 0),
                lease_s=LEASE_S,
                turn_wait_s=TURN_WAIT_S,
                grace_s=GRACE_S,
                slots=SLOTS,
                seen_ttl_s=SEEN_TTL_S,
                send_timeout_s=SEND_TIMEOUT_S,
                debounce_s=DEBOUNCE_S,
                sends_per_s=SENDS_PER_S,
                window_tokens=WINDOW_TOKENS,
                model_name=MODEL_NAME,
                **vars(around),
            )
        )
        file.chmod(0o600)
    return files
