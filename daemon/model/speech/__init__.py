"""Speech: transcription of voice messages, and spoken answers, by a server of OpenAI's API.

No public names: import from the modules, which import the openai SDK. Begin with ``speech_to_text``.
"""
