"""README.txt of an export: a description of its files, in the languages of bots."""

from collections.abc import Mapping, Sequence

from daemon.wording import Language

_TEXT: Mapping[Language, str] = {
    "en": """\
This file contains everything that Millpond has stored about:
{scopes}
Created on {time} (UTC).

memory/<scope>/MEMORY.md       the bot's current memory, which is part of every prompt
memory/<scope>/HISTORY.md      past events, one paragraph for each consolidated part of a conversation
memory/<scope>/history.jsonl   the entries of the history with all of their fields, one JSON object per line
memory/<scope>/versions.jsonl  every version of MEMORY.md, with its origin
memory/<scope>/notes.jsonl     daily notes
transcripts/<session>.jsonl    all messages of a conversation from the first to the last, one per line
sessions/<session>.json        state of a conversation, with its unanswered messages, reminders and command replies
groups/<session>.jsonl         the person's messages in groups, if an administrator exported all data of a person
files/<scope>/                 files that the bot wrote for you, and long tool results
usage.jsonl                    usage by day: messages, model calls, tokens, costs
dead.jsonl                     messages that could not be answered, and replies that could not be delivered
contents.json                  list of scopes and conversations, and of parts that could not be read

Parts without content are left out of the export.
The file contents.json lists the memory or conversation that each file belongs to.
Backups, and data that chat platforms and model providers store themselves, are not included.
""",
    "zh": """\
这个文件包含 Millpond 保存的以下对象的全部内容：
{scopes}
导出时间：{time}（UTC）。

memory/<scope>/MEMORY.md       机器人当前的记忆，每次提示词中都有
memory/<scope>/HISTORY.md      发生过的事，每一段整理过的对话对应一个段落
memory/<scope>/history.jsonl   同样的条目及其全部字段，每行一个 JSON 对象
memory/<scope>/versions.jsonl  MEMORY.md 的每一个版本及其来源
memory/<scope>/notes.jsonl     每日笔记
transcripts/<session>.jsonl    一个对话从第一条到最后一条的全部消息，每行一条
sessions/<session>.json        对话的状态、待回答的消息、提醒、最近对命令的直接回复
groups/<session>.jsonl         这个人在群里的消息（仅当管理员导出一个人的全部数据时）
files/<scope>/                 机器人为你写的文件，以及较长的工具结果
usage.jsonl                    每天的用量：消息、模型调用、token、费用
dead.jsonl                     未能回答的消息，以及未能送达的回复
contents.json                  记忆和对话的列表，以及无法读取的部分

没有内容的部分会省略。contents.json 说明每个名字对应哪份记忆或哪个对话。不包含备份，也不包含渠道和模型自己保存的数据。
""",
}


def about(language: Language, *, scopes: Sequence[str], time: str) -> str:
    """The text. Pure."""
    return _TEXT[language].format(scopes="\n".join(f"  {scope}" for scope in scopes), time=time)
