"""What ``millpond session show --prompt`` prints: the next prompt of a session, part by part."""

from typing import Any

import click

from daemon.cli.table import say, table
from daemon.printable import printable_json

HEAD_MESSAGES = 2
"""What stands for consolidated messages: a user's message with the summary, and an answer to it."""


def print_prompt(shown: dict[str, Any]) -> None:
    """Print what ``workers.agent.preview`` found: the parts with their tokens, then every word of it."""
    click.echo(f"{shown['session']}: bot {shown['bot']}, model {shown['model']}, for the {shown['for']}")
    click.echo()
    parts = shown["parts"]
    totals = {"in all": shown["tokens"], "free": parts["free"], "budget": shown["budget_tokens"]}
    counts = {part: tokens for part, tokens in parts.items() if part != "free"} | totals
    table(("part", "tokens"), [(part, f"{tokens:,}") for part, tokens in counts.items()])
    for section in shown["system"]:
        _head(f"system: {section['part']}, {section['tokens']:,} tokens")
        say(section["text"])
    _head(f"tools, {parts['tools']:,} tokens")
    for tool in shown["tools"]:
        say(_json(tool))
    current = max(at for at, message in enumerate(shown["messages"]) if message["role"] == "user")
    first = 1 + (HEAD_MESSAGES if parts["continuity"] else 0)
    if first > 1:
        _head(f"continuity, {parts['continuity']:,} tokens")
        for message in shown["messages"][1:first]:
            say(_message(message))
    _head(f"history, {shown['history_turns']:,} turns, {parts['history']:,} tokens")
    for message in shown["messages"][first:current]:
        say(_message(message))
    _head(f"current, {parts['current']:,} tokens")
    for message in shown["messages"][current:]:
        say(_message(message))


def _head(text: str) -> None:
    click.echo()
    click.echo(f"──── {text}")


def _message(message: dict[str, Any]) -> str:
    content = message.get("content")
    lines = [content] if isinstance(content, str) else [_json(part) for part in content or ()]
    lines += [_json(call) for call in message.get("tool_calls") or ()]
    name = message["role"] + (f" ({message['tool_call_id']})" if message.get("tool_call_id") else "")
    return f"{name}: " + "\n".join(lines)


def _json(value: object) -> str:
    import msgspec

    return printable_json(msgspec.json.encode(value).decode())
