"""The commands that clients offer in their menus, with a short description in English and Chinese."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "help": "List my commands",
    "new": "Start a new conversation",
    "stop": "Stop the current answer",
    "status": "Show the status of this conversation",
    "compact": "Replace older messages with a summary",
    "memory": "Show what I remember about this chat",
    "reminders": "List the reminders in this chat",
    "remind": "Set or change a reminder",
    "forget": "Find and delete stored text",
    "export": "Export everything I have stored about you",
    "usage": "Show today's token usage and your limits",
    "model": "Choose a model (administrators only)",
    "link": "Let several of your chats share one memory",
    "unlink": "Separate linked chats",
    "whoami": "Show your ID and the IDs of this chat",
}
CHINESE: Mapping[str, str] = {
    "help": "查看我的命令",
    "new": "开始新的对话",
    "stop": "停止当前的回答",
    "status": "查看这个对话的状态",
    "compact": "用摘要替换较早的消息",
    "memory": "查看我对这个聊天的记忆",
    "reminders": "列出这个聊天的提醒",
    "remind": "设置或更改提醒",
    "forget": "查找并删除我保存的内容",
    "export": "把我保存的关于你的全部内容导出为一个文件",
    "usage": "查看今天的用量和剩余额度",
    "model": "选择模型（管理员）",
    "link": "让多个聊天共用一份记忆",
    "unlink": "取消聊天之间的关联",
    "whoami": "查看你的 ID 和这个聊天的 ID",
}


def menu(language: str) -> Mapping[str, str]:
    """The description of each command in a bot's language, by its name without the slash."""
    return CHINESE if language == "zh" else ENGLISH
