"""Transcribes voice messages and speaks answers.

No public names: import from the modules.
Begin with ``speech_to_text``. The modules import the openai SDK.
"""
