"""Builds prompts that fit into the token budget.

No public names: import from the modules.
Begin with ``prompt_builder``. ``system_prompt`` and ``skills`` describe the workspace, ``history_loader`` loads older
messages, ``turn_requests`` makes the request of each model call.
"""
