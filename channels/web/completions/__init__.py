"""Serves a bot over OpenAI's API: ``/v1/chat/completions`` and ``/v1/models``.

Public: ``Completions`` has the endpoints.
Begin with ``completion_request``, which finds the session and the newest message; older messages of a request are
ignored. ``completion_answer`` writes the response.
"""

from channels.web.completions.completion_endpoints import Completions

__all__ = ["Completions"]
