"""Sentences about linking several chats of one person; ``daemon.wording`` has them among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "link_code": (
        "Your code is {code}.\n"
        "Send /link {code} in your other chat with me within {minutes} minutes. After that, both chats share "
        "one memory. Do "
        "not give the code to anyone else: anyone who uses it shares your memory."
    ),
    "link_begun": (
        "The code is correct. I am merging the two memories, and will notify both chats when the merge is complete."
    ),
    "link_done": (
        "This chat is now linked with {other}, and both chats share one memory. /unlink separates the chats again."
    ),
    "link_already": "This chat and {other} are already linked and share one memory.",
    "link_wrong": (
        "This code is wrong, was already used, or is older than {minutes} minutes. Send /link in your other chat to "
        "get a new code."
    ),
    "link_often": "Too many wrong codes were entered. Try again in {minutes} minutes.",
    "link_own": (
        "This code was created in this chat or in a chat that is linked with this chat. Send the code in another chat."
    ),
    "link_bot": (
        "This code was created by another bot. Send the code to that bot. Bots do not share memories with each other."
    ),
    "link_group": "Only direct chats can be linked. Send /link to me in a direct chat.",
    "link_not_person": "I cannot link chats, because I keep {kind} instead of one memory per person.",
    "link_kind_session": "one memory per conversation",
    "link_kind_workspace": "one memory for all conversations",
    "unlink_begun": (
        "I am separating the memories of the linked chats, and will notify you when the separation is complete."
    ),
    "unlink_done": (
        "This chat and {other} are no longer linked. Each chat keeps its memory from before the link, plus all facts "
        "saved from its own messages since then."
    ),
    "unlink_none": "This chat is not linked with any other chat.",
    "unlink_config": (
        "The configuration links this chat with another chat. Ask an administrator to change the configuration."
    ),
}

CHINESE: Mapping[str, str] = {
    "link_code": (
        "你的关联码：{code}\n请在 {minutes} 分钟之内，在你与我的另一个聊天中发送 /link {code}；之后两个聊天"
        "共用一份记忆。不要把关联码告诉别人：使用它的人会与你共用记忆。"
    ),
    "link_begun": "关联码正确。我正在合并两份记忆，合并完成后两个聊天都会收到通知。",
    "link_done": "已与 {other} 关联，现在两个聊天共用一份记忆。/unlink 可以取消关联。",
    "link_already": "这个聊天与 {other} 已经关联，它们共用一份记忆。",
    "link_wrong": "关联码不正确、已经用过，或者超过了 {minutes} 分钟。在另一个聊天中发送 /link 可以得到新的关联码。",
    "link_often": "错误的关联码太多，请在 {minutes} 分钟后再试。",
    "link_own": "这个关联码是在这个聊天或者与它关联的聊天中生成的。请在另一个聊天里发送。",
    "link_bot": "这个关联码是另一个机器人生成的。请把它发给那个机器人。机器人之间不共用记忆。",
    "link_group": "只能关联私聊。请在私聊中给我发送 /link。",
    "link_not_person": "我不能关联聊天，因为我{kind}，不按人保存。",
    "link_kind_session": "按对话保存记忆",
    "link_kind_workspace": "让所有对话共用一份记忆",
    "unlink_begun": "我正在把关联的聊天的记忆分开，完成后会通知你。",
    "unlink_done": "已取消与 {other} 的关联。两个聊天各自保留关联之前的记忆，以及之后从自己的消息中保存的内容。",
    "unlink_none": "这个聊天没有与其他聊天关联。",
    "unlink_config": "这个聊天是在配置中与另一个聊天关联的。请让管理员更改配置。",
}
