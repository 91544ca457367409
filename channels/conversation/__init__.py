"""Follows one session as a client: messages, answers, notices and text in progress.

Public: ``Conversation`` sends and follows, ``ConversationEntry`` and ``AnswerProgress`` are what it yields.
Begin with ``Conversation.open``. The terminal and the OpenAI-compatible endpoint use it.
"""

from channels.conversation.conversation import AnswerProgress, Conversation, ConversationEntry, Shown, settled_by

__all__ = ["AnswerProgress", "Conversation", "ConversationEntry", "Shown", "settled_by"]
