"""What the bot says of linking several chats of one person; ``daemon.wording`` has it among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "link_code": (
        "Your code: {code}\nWithin {minutes} minutes write /link {code} in your other chat with me; from then on I "
        "remember you as one person, in both. Tell the code to nobody else: whoever has it shares your memory."
    ),
    "link_begun": "That is your code. I am joining what I remember of you; both chats are told when it is done.",
    "link_done": "Linked with {other}: what I remember is one from now on. /unlink parts the two again.",
    "link_already": "This chat and {other} are linked already: they share one memory.",
    "link_wrong": (
        "That code is wrong, used up, or older than {minutes} minutes. /link in your other chat makes a new one."
    ),
    "link_often": "That were too many wrong codes. Try again in {minutes} minutes.",
    "link_own": "That code is from this very chat, or from one that is linked with it. Write it in the other one.",
    "link_bot": "That code was made by another bot. Write it in a chat with that one; what I remember is mine alone.",
    "link_group": "Only the chats of one person can be linked, not groups. Write to me directly.",
    "link_not_person": "Here I remember no persons, only {kind}, so there is nothing to link.",
    "link_kind_session": "single conversations",
    "link_kind_workspace": "everything together",
    "unlink_begun": "I am parting what I remember here; you are told when it is done.",
    "unlink_done": (
        "No longer linked with {other}. Each goes on with what it remembered before, and what came here since."
    ),
    "unlink_none": "This chat is linked with no other.",
    "unlink_config": "This chat was linked by the configuration; an administrator has to change it there.",
}

CHINESE: Mapping[str, str] = {
    "link_code": (
        "你的代码：{code}\n请在 {minutes} 分钟之内，在你与我的另一个聊天中写 /link {code}；"
        "之后我在两边都把你当作同一个人来记。不要把代码告诉别人：谁有它，谁就与你共用记忆。"
    ),
    "link_begun": "代码正确。我正在合并关于你的记忆；完成后两个聊天都会收到通知。",
    "link_done": "已与 {other} 关联：从现在起记忆是共用的。/unlink 可以再次分开。",
    "link_already": "这个聊天与 {other} 已经关联：它们共用一份记忆。",
    "link_wrong": "代码不对、已经用过，或者超过了 {minutes} 分钟。在另一个聊天中写 /link 可以得到新的代码。",
    "link_often": "错误的代码太多了。请在 {minutes} 分钟后再试。",
    "link_own": "这个代码来自这个聊天，或者来自已经与它关联的聊天。请写到另一个聊天里。",
    "link_bot": "这个代码是另一个机器人生成的。请写到与它的聊天里；我记住的内容只属于我。",
    "link_group": "只能关联同一个人的聊天，群聊不行。请直接写给我。",
    "link_not_person": "我在这里不按人记忆，只记{kind}，所以没有可以关联的内容。",
    "link_kind_session": "单个对话",
    "link_kind_workspace": "所有的内容",
    "unlink_begun": "我正在把这里的记忆分开；完成后会通知你。",
    "unlink_done": "不再与 {other} 关联。各自保留以前的记忆，以及之后在这里产生的内容。",
    "unlink_none": "这个聊天没有与其他聊天关联。",
    "unlink_config": "这个聊天是由配置关联的，需要管理员在那里更改。",
}
