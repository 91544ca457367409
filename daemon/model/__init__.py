"""Models: what a turn asks, and the answers it gets.

``connect(config)`` gives the model that a bot's configuration names: an OpenAI-compatible server or the offline one.
"""

from daemon.model.base import Answer, Chunk, Model, Request, TextChunk, ToolCall, Usage

__all__ = ["Answer", "Chunk", "Model", "Request", "TextChunk", "ToolCall", "Usage"]
