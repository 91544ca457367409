"""The prompts of turns: the system message, the history of the session, and the newest messages within a size.

Begin with ``prompt_builder``, which puts a request together. ``system_prompt`` and ``skills`` are about the workspace,
``history_loader`` and ``history_messages`` about older messages, ``turn_requests`` about each model call of a turn.
"""
