"""``/v1/chat/completions`` and ``/v1/models``: the bot of a web channel behind the API of OpenAI.

``request`` reads what a client asks, ``chunks`` writes what it gets, and ``endpoints`` sends the newest user message
through a ``Conversation``. The older messages of a request are ignored: the bot has its own history, memory and tools.
"""

from channels.web.completions.completion_endpoints import Completions

__all__ = ["Completions"]
