"""The menu of commands that clients show, in English and Chinese."""

from collections.abc import Mapping

import msgspec
import structlog

from channels.telegram.api import Api
from channels.telegram.types import Command
from daemon.errors import ChannelError

TIMEOUT_S = 10.0

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

_commands = msgspec.json.Decoder(list[Command]).decode
_log = structlog.get_logger()


def menu(language: str) -> list[Command]:
    """The commands as a client shows them."""
    words = CHINESE if language == "zh" else ENGLISH
    return [Command(command=name, description=text) for name, text in words.items()]


async def register(api: Api, *, channel: str, language: str) -> None:
    """Have the platform show the commands: in the bot's language, and in Chinese to whom that is set.

    What stands there already is not written again. A failure is only logged: everything works without the menu.
    """
    try:
        await _register(api, language, "")
        if language != "zh":
            await _register(api, "zh", "zh")
    except (ChannelError, msgspec.DecodeError) as error:
        _log.warning("commands.failed", channel=channel, reason=str(error))


async def _register(api: Api, language: str, code: str) -> None:
    wanted = menu(language)
    where = {"language_code": code} if code else {}
    if _commands(await api.call("getMyCommands", where, timeout_s=TIMEOUT_S)) != wanted:
        await api.call("setMyCommands", {"commands": wanted, **where}, timeout_s=TIMEOUT_S)
