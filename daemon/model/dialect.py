"""A server's dialect: which parameters of the chat completions API it takes, and the request body in its terms."""

from dataclasses import dataclass, replace

import msgspec

from daemon.model.base import Request

_json = msgspec.json.encode


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """What is known of a model's server; it begins with what OpenAI documents and learns from refusals."""

    limit: str = "max_completion_tokens"
    """How the largest answer is said; older servers know ``max_tokens`` only."""
    usage: bool = True
    """Whether ``stream_options`` may ask for the usage of a stream."""
    force: bool = True
    """Whether ``tool_choice`` may force a tool."""

    def without(self, refused: str, request: Request) -> "Dialect | None":
        """The dialect to ask ``request`` in after the server's text ``refused``; None if it names nothing of it."""
        if self.limit == "max_completion_tokens" and self.limit in refused:
            return replace(self, limit="max_tokens")
        if self.usage and "stream_options" in refused:
            return replace(self, usage=False)
        if self.force and request.force_tool and "tool_choice" in refused:
            return replace(self, force=False)
        return None

    def body(self, model: str, request: Request) -> bytes:
        """The request as JSON; messages and tools are JSON already and are joined as they are."""
        fields = [b'"model":' + _json(model), b'"stream":true', b'"messages":[' + b",".join(request.messages) + b"]"]
        fields.append(f'"{self.limit}":{request.max_completion_tokens}'.encode())
        if self.usage:
            fields.append(b'"stream_options":{"include_usage":true}')
        if request.tools:
            fields.append(b'"tools":[' + b",".join(request.tools) + b"]")
        if request.force_tool and self.force:
            choice = {"type": "function", "function": {"name": request.force_tool}}
            fields.append(b'"tool_choice":' + _json(choice))
        return b"{" + b",".join(fields) + b"}"
