"""The commands that people are offered to choose from, with a few words on each, in English and Chinese."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "help": "What I can do",
    "new": "Begin a new conversation",
    "stop": "End the answer that is being written",
    "status": "Where this conversation stands",
    "compact": "Replace older messages by a summary",
    "memory": "What I remember here",
    "forget": "Remove something from what I keep",
    "export": "Everything that I keep of you, as one file",
    "usage": "What was used today, and what is left",
    "model": "Choose a model (administrators)",
    "link": "Be remembered as one person in several chats",
    "unlink": "Part linked chats again",
    "whoami": "By which names I know you and this chat",
}
CHINESE: Mapping[str, str] = {
    "help": "我能做什么",
    "new": "开始新的对话",
    "stop": "停止正在写的回答",
    "status": "这段对话的情况",
    "compact": "用摘要替换较早的消息",
    "memory": "我在这里记得什么",
    "forget": "从我保存的内容中删除",
    "export": "把我保存的关于你的一切导出为一个文件",
    "usage": "今天用了多少，还剩多少",
    "model": "选择模型（管理员）",
    "link": "在多个聊天中把你记作同一个人",
    "unlink": "取消聊天之间的关联",
    "whoami": "我用哪些名字认识你和这个聊天",
}


def menu(language: str) -> Mapping[str, str]:
    """What each command does, by its name without the slash, in a bot's language."""
    return CHINESE if language == "zh" else ENGLISH
