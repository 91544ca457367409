"""Sentences about linking several chats of one person; ``daemon.wording`` has them among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "link_code": (
        "Your code is {code}.\n"
        "Send /link {code} in your other chat with me within {minutes} minutes. I will then ask in both chats whether "
        "the chats should share one memory. Do not give the code to anyone else."
    ),
    "link_ask_member": (
        "{other} created this code. If you confirm, your chat and the chat of {other} will share one memory. Each of "
        "you can then read and delete everything that I have saved from either chat. The shared memory contains the "
        "past and future conversations, facts, notes and files of both chats.\n"
        "/link yes confirms the link, and /link no rejects it. Answer within {minutes} minutes. I am also asking "
        "{other} to confirm the link. Nothing is shared until both of you confirm."
    ),
    "link_ask_maker": (
        "{other} sent your code and wants to link their chat with your chat. If you confirm, the two chats will share "
        "one memory. Each of you can then read and delete everything that I have saved from either chat. The shared "
        "memory contains the past and future conversations, facts, notes and files of both chats.\n"
        "/link yes confirms the link, and /link no rejects it. Answer within {minutes} minutes. If you did not send "
        "the code yourself, reject the link."
    ),
    "link_waits": (
        "Your confirmation is saved. I am waiting for {other} to confirm the link. You can still reject the link with "
        "/link no."
    ),
    "link_both": (
        "Both chats have confirmed the link. I am merging the two memories, and will notify both chats when the merge "
        "is complete."
    ),
    "link_no": "The link was rejected. Nothing was shared.",
    "link_no_other": "{other} rejected the link. Nothing was shared.",
    "link_rejected": "This link request was already rejected. Nothing was shared. Send /link to get a new code.",
    "link_gone": (
        "The chats were not linked, because I no longer accept messages from one of the two people. Nothing was shared."
    ),
    "link_none": (
        "This chat has no open link request. A link request expires after {minutes} minutes. Send /link to get a new "
        "code."
    ),
    "link_over": "Both chats have already confirmed this link. To separate linked chats, send /unlink.",
    "link_busy": (
        "This chat already has an open link request. Answer the open request with /link yes or /link no, and then send "
        "this code again."
    ),
    "link_old": (
        "This code was created before Millpond was updated, and is no longer valid. Send /link in your other chat to "
        "get a new code."
    ),
    "link_done": (
        "This chat is now linked with {other}, and both chats share one memory. To separate the chats again, send "
        "/unlink."
    ),
    "link_already": "This chat and {other} are already linked and share one memory.",
    "link_wrong": (
        "This code is wrong or no longer valid. A code is valid for {minutes} minutes, can be used once, and expires "
        "when a newer code is created. Send /link in your other chat to get a new code."
    ),
    "link_often": "Too many wrong codes were entered. Try again in {minutes} minutes.",
    "link_own": ("This code was created in this chat or in a linked chat. Send the code in another chat."),
    "link_bot": (
        "This code was created by another bot. Send the code to the bot that created it. Bots do not share memories "
        "with each other."
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
        "This chat is linked with another chat by the configuration. To unlink the chats, ask an administrator to "
        "change the configuration."
    ),
}

CHINESE: Mapping[str, str] = {
    "link_code": (
        "你的关联码：{code}\n请在 {minutes} 分钟之内，在你与我的另一个聊天中发送 /link {code}。之后我会在两个聊天中分别"
        "询问是否共用一份记忆。不要把关联码告诉别人。"
    ),
    "link_ask_member": (
        "这个关联码是 {other} 生成的。如果你同意，你的聊天和 {other} 的聊天就共用一份记忆：我从任何一方保存的对话、"
        "记忆、笔记和文件，以及以后新增的内容，双方都能查看和删除。\n"
        "/link 同意 表示确认，/link 拒绝 表示不关联。请在 {minutes} 分钟之内回答。我也在询问 {other}；双方都同意之前，"
        "不会共享任何内容。"
    ),
    "link_ask_maker": (
        "{other} 发送了你的关联码，想与你的聊天关联。如果你同意，两个聊天就共用一份记忆：我从任何一方保存的对话、"
        "记忆、笔记和文件，以及以后新增的内容，双方都能查看和删除。\n"
        "/link 同意 表示确认，/link 拒绝 表示不关联。请在 {minutes} 分钟之内回答。如果不是你自己发送的关联码，请拒绝。"
    ),
    "link_waits": "已记下你的同意，正在等待 {other} 确认。在此之前，仍可以用 /link 拒绝 取消。",
    "link_both": "双方都已同意。我正在合并两份记忆，合并完成后两个聊天都会收到通知。",
    "link_no": "已拒绝关联，没有共享任何内容。",
    "link_no_other": "{other} 拒绝了关联，没有共享任何内容。",
    "link_rejected": "这次关联已被拒绝，没有共享任何内容。发送 /link 可以得到新的关联码。",
    "link_gone": "两个聊天没有关联，因为我已不再接收其中一方的消息。没有共享任何内容。",
    "link_none": "这个聊天没有等待确认的关联请求。关联请求在 {minutes} 分钟后失效。发送 /link 可以得到新的关联码。",
    "link_over": "双方已经同意了这次关联。/unlink 可以取消关联。",
    "link_busy": "这个聊天还有一个关联请求没有回答。请先用 /link 同意 或 /link 拒绝 回答，再重新发送这个关联码。",
    "link_old": "这个关联码是 Millpond 更新之前生成的，已经失效。在另一个聊天中发送 /link 可以得到新的关联码。",
    "link_done": "已与 {other} 关联，现在两个聊天共用一份记忆。/unlink 可以取消关联。",
    "link_already": "这个聊天与 {other} 已经关联，它们共用一份记忆。",
    "link_wrong": (
        "关联码不正确、已经用过、已被新的关联码取代，或者超过了 {minutes} 分钟。"
        "在另一个聊天中发送 /link 可以得到新的关联码。"
    ),
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
