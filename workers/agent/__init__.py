"""The agent worker: answers one message at a time per conversation, with a model and tools."""
