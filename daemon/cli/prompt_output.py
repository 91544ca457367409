"""Output of ``millpond session show --prompt``: the next prompt of a session, part by part."""

from typing import Any

import click

from daemon.cli.table_output import say, table
from daemon.printable import printable_json


def print_prompt(shown: dict[str, Any]) -> None:
    """Print the result of ``workers.agent.prompt_preview``: the parts with their tokens, then the whole text."""
    click.echo(f"session {shown['session']}: bot {shown['bot']}, model {shown['model']}, prompt for the {shown['for']}")
    click.echo()
    parts = shown["parts"]
    totals = {"total": shown["tokens"], "free": parts["free"], "budget": shown["budget_tokens"]}
    counts = {part: tokens for part, tokens in parts.items() if part != "free"} | totals
    table(("part", "tokens"), [(part, f"{tokens:,}") for part, tokens in counts.items()])
    for each in shown["missing_servers"]:
        say(f"the tools of the tool server {each['server']} are missing: {each['reason']}")
    for each in shown["unreadable"]:
        say(f"without {each['path']}: {each['reason']}")
    for section in shown["system"]:
        _head(f"system: {section['part']}, {section['tokens']:,} tokens")
        say(section["text"])
    _head(f"tools, {parts['tools']:,} tokens")
    for tool in shown["tools"]:
        say(_json(tool))
    stretches: dict[str, tuple[int, int]] = shown["stretches"]
    for name, told in (("continuity", ""), ("history", f"{shown['history_turns']:,} turns, "), ("current", "")):
        first, upto = stretches[name]
        if name == "continuity" and first == upto:
            continue
        _head(f"{name}, {told}{parts[name]:,} tokens")
        for message in shown["messages"][first:upto]:
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
