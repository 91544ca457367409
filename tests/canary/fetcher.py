"""A tool server that fetches any address, a program of its own: what a bot may have to read web pages with."""

import json
import sys
import urllib.error
import urllib.request
from typing import Any

TOOL = {
    "name": "get",
    "description": "Reads a web page.",
    "inputSchema": {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
}
SHOWN_BYTES = 4_000
LIMIT_S = 5.0


def get(url: str) -> str:
    try:
        with urllib.request.urlopen(url, timeout=LIMIT_S) as page:
            return f"{page.status} {page.read1(SHOWN_BYTES).decode(errors='replace')}"
    except urllib.error.HTTPError as error:
        with error:
            return f"{error.code} {error.read(SHOWN_BYTES).decode(errors='replace')}"
    except (OSError, ValueError) as error:
        return f"nothing: {error}"


def answer(request: dict[str, Any]) -> dict[str, Any]:
    match request["method"]:
        case "initialize":
            version = request["params"]["protocolVersion"]
            return {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "fetcher", "version": "1"},
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            return {"content": [{"type": "text", "text": get(request["params"]["arguments"]["url"])}]}
    return {}


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer(asked)}), flush=True)
