"""Rules for the tool ``exec``."""

from collections.abc import Iterator

from daemon.config.config_reader import ConfigProblem
from daemon.config.schema import Config


def exec_findings(config: Config) -> Iterator[ConfigProblem]:
    """Commands that would wait for approval longer than their turns last."""
    limit = "agent.turn_timeout_s"
    for name, bot in config.bots.items():
        if bot.exec.approval and bot.exec.approval_s >= config.agent.turn_timeout_s:
            text = f"the value must be less than {limit}. Got {bot.exec.approval_s} and {config.agent.turn_timeout_s}"
            yield ConfigProblem(f"bots.{name}.exec.approval_s", text, (limit,))
