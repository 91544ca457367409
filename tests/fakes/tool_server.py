"""A tool server for tests, a program of its own: ``python -m tests.fakes.tool_server [HOW]``.

It speaks the protocol by hand, so that it can break it as well. HOW is how it misbehaves from the start: ``silent``
says nothing, ``late`` waits a second, ``gone`` ends at once, ``noisy`` prints what is no message before each answer.
The call ``slow`` says that it has begun beside the file that ``GATE`` names, and ends when that is there.
The variable TOOLS holds other tools than these, JSON; a call of one without WHAT says what was called and with what.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

TOOLS: list[dict[str, Any]] = [
    {"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object", "required": ["text"]}},
    {
        "name": "where",
        "description": "What it knows.",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    },
    {"name": "act", "description": "Does WHAT.", "inputSchema": {"type": "object"}},
    {"name": "bad name!", "inputSchema": {"type": "string"}},
    {"name": "bad_schema", "inputSchema": {"type": "object", "properties": {"a": {"type": "no such type"}}}},
    {"name": "huge", "inputSchema": {"type": "object", "description": "x" * 20_000}},
]


def out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def answer(request: dict[str, Any], **fields: Any) -> None:
    out(json.dumps({"jsonrpc": "2.0", "id": request["id"], **fields}) + "\n")


def said(request: dict[str, Any], text: str, **more: Any) -> None:
    answer(request, result={"content": [{"type": "text", "text": text}], **more})


def act(request: dict[str, Any], what: str) -> None:  # noqa: PLR0912, PLR0915 - a list of what can go wrong
    match what:
        case "die":
            os._exit(3)
        case "hang":
            time.sleep(60)
        case "slow":
            gate = Path(os.environ["GATE"])
            gate.with_suffix(".reached").write_text("here")
            while not gate.exists():
                time.sleep(0.005)
            said(request, "late")
        case "flood":
            while True:
                out("{" * 4_000 + "\n")
        case "line":
            while True:
                out("x" * 60_000)
        case "empty lines":
            while True:
                out("\n" * 60_000)
        case "notices":
            while True:
                out('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n')
        case "stderr":
            for _ in range(200):
                sys.stderr.write("e" * 100_000)
            said(request, "done")
        case "large":
            said(request, "0123456789" * 1_000_000)
        case "parts":
            answer(request, result={"content": [{"type": "text", "text": "x"}] * 80_000})
        case "error":
            said(request, "it went wrong", isError=True)
        case "refuse":
            answer(request, error={"code": -32000, "message": "not today"})
        case "picture":
            part = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
            answer(request, result={"content": [part, {"type": "text", "text": "see"}]})
        case "garbage":
            answer(request, result={"content": 7})
        case "structured":
            answer(request, result={"content": [], "structuredContent": {"a": 1}})
        case quoted if quoted.startswith("quote "):  # says in every way what it was told
            sys.stderr.write(f"{quoted}\n")
            out(f"{quoted}\n")
            answer(request, error={"code": -32000, "message": quoted})
        case quoted if quoted.startswith("garble "):
            out(f'{{"jsonrpc":"2.0","id":{request["id"]},"result":{{"content":[{quoted}\n')
        case "half":  # of a character, in three ways; then of a message
            out(
                f'{{"jsonrpc":"2.0","id":{request["id"]},"result":{{"content":[{{"type":"text","text":"a \\ud83d b "}},'
            )
            sys.stdout.buffer.write(b'{"type":"text","text":"\xe4\xbd c \\ud83d\\ude00 \\\\ud83d \x01"}]}}\n')
            out("")
        case "no JSON":
            out(f'{{"jsonrpc":"2.0","id":{request["id"]},"result":{{"content":[}}\n')
        case "child":  # one that outlives us, and holds our output open
            os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "30")
            os._exit(0)


def handle(request: dict[str, Any]) -> None:
    method, params = request.get("method"), request.get("params", {})
    if "id" not in request:
        return
    if method == "initialize":
        version = params.get("protocolVersion", "2025-06-18")
        info = {"name": "fake", "version": "1"}
        answer(request, result={"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        given = os.environ.get("TOOLS")
        answer(request, result={"tools": json.loads(given) if given else TOOLS})
    elif method == "tools/call" and params["name"] == "echo":
        said(request, params["arguments"]["text"])
    elif method == "tools/call" and params["name"] == "where":
        known = {name: os.environ.get(name, "") for name in ("MILLPOND_SCOPE", "MILLPOND_SESSION", "TOKEN")}
        others = sorted(os.environ)
        said(request, json.dumps({"pid": os.getpid(), "names": others, **known}))
    elif method == "tools/call" and "what" not in params["arguments"]:
        said(request, json.dumps([params["name"], params["arguments"]]))
    elif method == "tools/call":
        act(request, params["arguments"]["what"])
    else:
        answer(request, error={"code": -32601, "message": "no such method"})


def main(how: str) -> None:
    if marks := os.environ.get("STARTS"):
        with Path(marks).open("a") as file:
            file.write(f"{os.getpid()}\n")
    match how:
        case "silent":
            time.sleep(60)
        case "late":
            time.sleep(1)
        case "gone":
            sys.exit(1)
    for line in sys.stdin:
        if how == "noisy":
            out("starting up…\n\n[1, 2]\n{not json\n\xff\n")
        handle(json.loads(line))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
