"""The prompts of turns: the system message, the history of the session, and the newest messages within a size.

Begin with ``prompt_builder``, which puts a request together. ``system_prompt`` and ``skills`` are about the workspace,
``prompt_history`` and ``history`` about older messages, ``turn_requests`` about each model call of a turn.
"""
