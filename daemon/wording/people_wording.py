"""Sentences about access, pauses, and linking several chats of one person; ``daemon.wording`` has them among all
sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    # Sentences about access and pauses; ``daemon.wording`` has them among all sentences.
    "stranger": (
        "I cannot accept messages from you yet. Your pairing code is {code}. An administrator of this bot "
        "can approve you by sending me /pair {code}, or by running `millpond channel pair {channel} {code}`. "
        "The code is valid for {minutes:minute|minutes}."
    ),
    "arrival_failed": (
        "Your message was not accepted because of an error. To find the cause, an administrator can search the log "
        "for {correlation}."
    ),
    "arrival_refused": "I cannot accept this message: {reason}.",
    "group_admins_only": (
        "In groups, only this bot's administrators can use /{command} because it affects all members. To see "
        "the commands that you can use here, send /help. An administrator can allow group members to use "
        "more commands with the bots.<name>.groups_may setting."
    ),
    "pair_how": (
        "To approve a person, send /pair CODE, where CODE is the person's pairing code. To approve all members of a "
        "group, send /pair without a code in the group."
    ),
    "pair_done": "{name} is now approved and has been notified.",
    "pair_group": "This group is approved. I now accept messages from everyone in this group.",
    "pair_welcome": "You have been approved. What can I do for you?",
    "pair_wrong": (
        "This code is wrong, has already been used, or is older than {minutes:minute|minutes}. The person who "
        "needs access can get a new code by sending me a message."
    ),
    "pair_often": "Too many wrong codes were entered. Try again in {minutes:minute|minutes}.",
    "pair_pull": (
        "This channel accepts messages from anyone. Pairing codes are only needed on chat platforms such as Telegram, "
        "Slack, Discord or Feishu."
    ),
    "ban_how": (
        "To ban a person or group, send /ban ID. To ban the sender of a message, you can also reply to the "
        "message with /ban. To lift a ban, send /unban ID."
    ),
    "ban_done": (
        "{name} is banned from {channel}. I no longer accept new messages from {name}, but I still answer messages "
        "that were sent before the ban. To lift the ban, send /unban {id}."
    ),
    "ban_admin": (
        "{name} is an administrator and cannot be banned. To ban {name}, first remove their ID from the "
        "bots.<name>.admins setting."
    ),
    "ban_channel": "I am not connected to a channel named {channel}.",
    "unban_done": "{name} is no longer banned from {channel}.",
    "unban_none": "{name} is not banned from {channel}.",
    "decided_later": "Nothing was changed, because a newer decision about this person or group has already been made.",
    "pause_how": "/pause and /resume apply to this chat. /pause all and /resume all apply to all my chats.",
    "pause_chat": (
        "I am paused in this chat until you send /resume. New messages are saved, and I will answer them after the "
        "pause. Commands still work."
    ),
    "pause_all": (
        "I am paused in all my chats until you send /resume all. New messages are saved, and I will answer "
        "them after the pause. Commands still work."
    ),
    "pause_already": "I am already paused.",
    "resume_chat": "I am active in this chat again, and will answer the messages that arrived while I was paused.",
    "resume_all": (
        "I am active again in all chats except those that were paused individually. I will answer the "
        "messages that arrived while I was paused."
    ),
    "resume_none": "I am not paused in this chat.",
    "resume_but_all": "I am paused in all my chats, not just this one. To end the pause, send /resume all.",
    "paused": "I am currently paused. Your message has been saved, and I will answer it after the pause.",
    "approval_asked": (
        "I want to run the command below. An administrator has {minutes:minute|minutes} to allow it with /approve {id} "
        "or to reject it with /deny {id}.\n"
        "\n"
        "{command}"
    ),
    "choice_approve": "Approve",
    "choice_deny": "Deny",
    "choice_link_yes": "Confirm the link",
    "choice_link_no": "Reject the link",
    "choice_forget": "Delete {number}",
    "choice_forget_all": "Delete all entries",
    "choice_old": "This button belongs to an older question and no longer works.",
    "choice_not_yours": "You are not allowed to use this button.",
    "approval_how": (
        "/approve ID allows me to run the command with this ID, and /deny ID rejects it. The ID is in my "
        "message about the command."
    ),
    "approval_none": "No command with ID {id} is waiting for approval.",
    "approval_done_approve": "Command {id} is approved. It will run once.",
    "approval_done_deny": "Command {id} is denied. It will not run.",
    "approval_approved": "Command {id} has already been approved.",
    "approval_started": "Command {id} has already been approved and started.",
    "approval_denied": "Command {id} has already been denied.",
    "approval_expired": "The approval request for command {id} has expired. The command was not run.",
    "help_admins": (
        "For administrators:\n"
        "/pair CODE approves the person who received the pairing code CODE; in a group, /pair without a code approves "
        "the group\n"
        "/ban ID bans the person or group with this ID, and /unban ID lifts the ban; to ban the sender of a "
        "message, reply to the message with /ban\n"
        "/pause pauses me in this chat until you send /resume; /pause all pauses me in every chat until you "
        "send /resume all\n"
        "/approve ID allows me to run a command that is waiting for approval, and /deny ID rejects it"
    ),
    # Sentences about linking several chats of one person; ``daemon.wording`` has them among all sentences.
    "link_code": (
        "Your code is {code}.\n"
        "Send /link {code} in your other chat with me within {minutes:minute|minutes}. I will then ask in both "
        "chats whether the chats should share one memory. Do not give the code to anyone else."
    ),
    "link_ask_member": (
        "{other} created this code. If you confirm, your chat and {other}'s chat will share one memory. Each "
        "of you can then read and delete everything that I have saved from either chat. The shared memory "
        "contains the past and future conversations, facts, notes and files from both chats.\n"
        "To confirm the link, send /link yes. To reject the link, send /link no. Answer within "
        "{minutes:minute|minutes}. I am also asking {other} to confirm. Nothing is shared until both of you confirm."
    ),
    "link_ask_maker": (
        "{other} sent your code and wants to link their chat with yours. If you confirm, the two chats will "
        "share one memory. Each of you can then read and delete everything that I have saved from either "
        "chat. The shared memory contains the past and future conversations, facts, notes and files from "
        "both chats.\n"
        "To confirm the link, send /link yes. To reject the link, send /link no. Answer within "
        "{minutes:minute|minutes}. If you did not send the code yourself, reject the link."
    ),
    "link_waits": (
        "Your confirmation is saved. I am waiting for {other} to confirm. You can still reject the link with /link no."
    ),
    "link_both": (
        "Both chats have confirmed the link. I am merging the two memories, and will notify both chats when I am done."
    ),
    "link_no": "The link was rejected. Nothing was shared.",
    "link_no_other": "{other} rejected the link. Nothing was shared.",
    "link_rejected": "This link request has already been rejected. Nothing was shared. To get a new code, send /link.",
    "link_gone": (
        "The chats were not linked because I no longer accept messages from one of the two people. Nothing was shared."
    ),
    "link_none": (
        "This chat has no pending link request. Link requests expire after {minutes:minute|minutes}. To get a new "
        "code, send /link."
    ),
    "link_over": "Both chats have already confirmed this link. To separate linked chats, send /unlink.",
    "link_busy": (
        "This chat already has an open link request. Answer the open request with /link yes or /link no, and then "
        "send this code again."
    ),
    "link_old": (
        "This code was created before Millpond was updated and is no longer valid. To get a new code, send "
        "/link in your other chat."
    ),
    "link_done": (
        "This chat is now linked with {other}, and both chats share one memory. To separate the chats again, send "
        "/unlink."
    ),
    "link_already": "This chat and {other} are already linked and share one memory.",
    "link_wrong": (
        "This code is wrong or no longer valid. Each code is valid for {minutes:minute|minutes}, can be used "
        "once, and expires when you create a newer code. To get a new code, send /link in your other chat."
    ),
    "link_often": "Too many wrong codes were entered. Try again in {minutes:minute|minutes}.",
    "link_own": "This code was created in this chat or in a linked chat. Send the code in a different chat.",
    "link_bot": (
        "This code was created by another bot. Send the code to that bot. Bots do not share memories with each other."
    ),
    "link_group": "Only direct chats can be linked. Send /link to me in a direct chat.",
    "link_not_person": "I cannot link chats because I keep {kind} instead of one memory per person.",
    "link_kind_session": "one memory per conversation",
    "link_kind_workspace": "one memory for all conversations",
    "unlink_begun": "I am separating the memories of the linked chats. I will let you know when I am done.",
    "unlink_done": (
        "This chat and {other} are no longer linked. Each chat keeps its memory from before the link, along "
        "with everything saved from its own messages since then."
    ),
    "unlink_none": "This chat is not linked to any other chat.",
    "unlink_config": (
        "The configuration file links this chat to another chat. To unlink the chats, ask an administrator to "
        "change the configuration file."
    ),
}

CHINESE: Mapping[str, str] = {
    # Sentences about access and pauses; ``daemon.wording`` has them among all sentences.
    "stranger": (
        "我暂时还不能接收你的消息。你的配对码是 {code}：请让这个机器人的管理员给我发送 /pair {code}，或者运行 "
        "`millpond channel pair {channel} {code}` 来批准你。配对码在 {minutes} 分钟内有效。"
    ),
    "arrival_failed": "出现错误，你的消息没有被接收。管理员可以用编号 {correlation} 查到这个错误。",
    "arrival_refused": "我不能接收这条消息：{reason}。",
    "group_admins_only": (
        "/{command} 会影响群里的所有人，只有这个机器人的管理员可以在群里使用。/help 列出你在这里可以使用的命令；"
        "设置 bots.<name>.groups_may 可以让所有成员使用更多命令。"
    ),
    "pair_how": "/pair 配对码 批准得到这个配对码的人。要批准一个群的所有成员，请在那个群里单独发送 /pair。",
    "pair_done": "{name} 已获批准，并且已经收到通知。",
    "pair_group": "这个群已获批准，现在我接收群里所有成员的消息。",
    "pair_welcome": "你已获批准，现在可以与我对话了。有什么可以帮你的吗？",
    "pair_wrong": "配对码不正确、已经用过，或者超过了 {minutes} 分钟。对方给我发一条消息，就会得到新的配对码。",
    "pair_often": "错误的配对码太多，请在 {minutes} 分钟后再试。",
    "pair_pull": "这个渠道接收任何人的消息；只有 Telegram、Slack、Discord、飞书等聊天平台才需要配对码。",
    "ban_how": (
        "/ban ID 封禁一个人或一个群，我不再接收他们的消息；也可以用 /ban 回复一条消息来封禁发送者。/unban ID 解除封禁。"
    ),
    "ban_done": (
        "{name} 已在 {channel} 上被封禁。我不再接收 {name} 的新消息，但仍会回答封禁之前的消息。/unban {id} 解除封禁。"
    ),
    "ban_admin": "{name} 是管理员，不能封禁。请先在配置的 bots.<name>.admins 中移除 {name}。",
    "ban_channel": "我没有连接名为 {channel} 的渠道。",
    "unban_done": "{name} 在 {channel} 上的封禁已解除。",
    "unban_none": "{name} 在 {channel} 上没有被封禁。",
    "decided_later": "关于这个人或这个群已经有更新的决定，所以这个命令没有作用。",
    "pause_how": "/pause 和 /resume 只对这个聊天有效；/pause all 和 /resume all 对我的所有聊天有效。",
    "pause_chat": "我已在这个聊天中暂停，发送 /resume 可以恢复。新消息会保存，暂停结束后再回答。命令仍然可用。",
    "pause_all": "我已在所有聊天中暂停，发送 /resume all 可以恢复。新消息会保存，暂停结束后再回答。命令仍然可用。",
    "pause_already": "我已经处于暂停状态。",
    "resume_chat": "我已在这个聊天中恢复，现在开始回答暂停期间收到的消息。",
    "resume_all": "除了单独暂停的聊天，我已在所有聊天中恢复，现在开始回答暂停期间收到的消息。",
    "resume_none": "我在这个聊天中没有暂停。",
    "resume_but_all": "我在所有聊天中都处于暂停状态，不只是这个聊天。请发送 /resume all 结束暂停。",
    "paused": "我现在处于暂停状态。你的消息已经保存，暂停结束后会得到回答。",
    "approval_asked": (
        "我想运行下面的命令。管理员可以在 {minutes} 分钟内发送 /approve {id} 批准，或发送 /deny {id} 拒绝："
        "\n\n{command}"
    ),
    "choice_approve": "批准",
    "choice_deny": "拒绝",
    "choice_link_yes": "同意关联",
    "choice_link_no": "拒绝关联",
    "choice_forget": "删除 {number}",
    "choice_forget_all": "删除全部条目",
    "choice_old": "这个按钮属于以前的问题，已经失效。",
    "choice_not_yours": "你不能使用这个按钮。",
    "approval_how": "/approve ID 批准我运行一条命令，/deny ID 拒绝这条命令。ID 在我关于这条命令的消息里。",
    "approval_none": "没有 ID 为 {id} 的命令在等待批准。",
    "approval_done_approve": "命令 {id} 已批准，将运行一次。",
    "approval_done_deny": "命令 {id} 已拒绝，不会运行。",
    "approval_approved": "命令 {id} 之前已经批准。",
    "approval_started": "命令 {id} 之前已经批准并开始运行。",
    "approval_denied": "命令 {id} 之前已经拒绝。",
    "approval_expired": "命令 {id} 的批准时间已过，命令没有运行。",
    "help_admins": (
        "管理员专用：\n"
        "/pair 配对码 批准得到这个配对码的人；在群里发送 /pair 批准整个群\n"
        "/ban ID 封禁一个人或一个群，用 /ban 回复一条消息封禁其发送者；/unban ID 解除封禁\n"
        "/pause 让我在这个聊天中暂停，/pause all 在所有聊天中暂停；/resume 和 /resume all 结束暂停\n"
        "/approve ID 批准一条等待批准的命令；/deny ID 拒绝这条命令"
    ),
    # Sentences about linking several chats of one person; ``daemon.wording`` has them among all sentences.
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
