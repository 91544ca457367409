"""One session as a client follows it: messages go in, answers, notices and text in progress come out.

Used by the terminal and by the OpenAI-compatible endpoint. Begin with ``Conversation.open``.
"""

from channels.conversation.conversation import AnswerProgress, Conversation, ConversationEntry, Shown, settled_by

__all__ = ["AnswerProgress", "Conversation", "ConversationEntry", "Shown", "settled_by"]
