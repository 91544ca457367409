"""``[bots.<name>.exec]``: the tool ``exec``, which runs shell commands in a sandbox."""

from typing import Literal

from daemon.config.section import Count, Seconds, Section


class ExecConfig(Section, frozen=True):
    """Who may have commands run, and how far they may go."""

    allow: Literal["admins", "everyone"] = "admins"
    """``admins``: only in turns whose messages all come from administrators."""
    approval: bool = False
    """Whether each command waits until an administrator approves it."""
    approval_s: Seconds = 300.0
    """How long it waits; time in which a person reads a message."""
    network: bool = False
    """Whether commands may use the network of this machine, which includes its own servers."""
    timeout_s: Seconds = 30.0
    memory_max_mb: Count = 512
    """Address space of each process, in MiB."""
    processes_max: Count = 64
    output_max_bytes: Count = 100_000
    """A command that prints more is stopped."""
