"""README.txt of an export: what lies in it, in the languages that bots speak."""

from collections.abc import Mapping, Sequence

from daemon.wording import Language

_TEXT: Mapping[Language, str] = {
    "en": """\
This is everything that Millpond keeps of:
{scopes}
as it was on {time} (UTC).

memory/<scope>/MEMORY.md       what the bot remembers now; it stands in every prompt
memory/<scope>/HISTORY.md      what happened, a paragraph for each part of a conversation that was summed up
memory/<scope>/history.jsonl   the same with all that belongs to it, a JSON object a line
memory/<scope>/versions.jsonl  every version of MEMORY.md, and what produced it
memory/<scope>/notes.jsonl     daily notes
transcripts/<session>.jsonl    all that was said in a conversation, a message a line, from the first to the last
sessions/<session>.json        where it stands, what waits in it for an answer, what was said aside lately
groups/<session>.jsonl         what the person said in groups, when an administrator asked for all of a person
files/<scope>/                 files that the bot wrote for you, or keeps of long results
usage.jsonl                    what was used, by day: messages, calls of models, tokens, costs
dead.jsonl                     messages that could not be answered, and replies that could not be delivered
contents.json                  the list of scopes and conversations, and what could not be read

What there is nothing of is left out; contents.json says which name stands for which. Not in here: backups, and what
channels and models keep themselves.
""",
    "zh": """\
这里是 Millpond 保存的全部内容，属于：
{scopes}
时间：{time}（UTC）。

memory/<scope>/MEMORY.md       机器人现在记住的内容；它出现在每一次提示中
memory/<scope>/HISTORY.md      发生过的事，每一段被总结的对话一个段落
memory/<scope>/history.jsonl   同样的内容和所有相关信息，每行一个 JSON 对象
memory/<scope>/versions.jsonl  MEMORY.md 的每一个版本，以及它是怎么来的
memory/<scope>/notes.jsonl     每日笔记
transcripts/<session>.jsonl    一个对话里说过的全部内容，每行一条消息，从第一条到最后一条
sessions/<session>.json        对话的状态、等待回答的消息、最近的旁注
groups/<session>.jsonl         这个人在群里说过的话（仅当管理员导出一个人的全部内容时）
files/<scope>/                 机器人为你写的文件，或者保存的较长结果
usage.jsonl                    每天的用量：消息、模型调用、token、费用
dead.jsonl                     没能回答的消息，以及没能送达的回复
contents.json                  所有记忆和对话的列表，以及没能读取的内容

没有内容的部分会被省略；contents.json 说明每个名字代表什么。这里不包含：备份，以及渠道和模型自己保存的内容。
""",
}


def about(language: Language, *, scopes: Sequence[str], time: str) -> str:
    """The text. Pure."""
    return _TEXT[language].format(scopes="\n".join(f"  {scope}" for scope in scopes), time=time)
