"""What ``millpond doctor`` says of a bot of Telegram."""

from channels.telegram.api import connect
from channels.telegram.examined import examined
from daemon.cli.finding import Finding
from daemon.config import TelegramConfig


async def examine(name: str, config: TelegramConfig) -> list[Finding]:
    """Its lines."""
    check = f"channel {name}"
    async with connect(config.base_url, config.token) as api:
        found = [
            Finding(check=check, state=each.state, text=each.text) for each in await examined(api, config, name=name)
        ]
    access = config.access
    if access.policy == "closed" or (access.policy is None and not access.allow):
        text = (
            f"access is closed: only administrators are answered; set channels.{name}.access.policy, to pairing for "
            "example"
        )
        found.append(Finding(check=check, state="warning", text=text))
    return found
