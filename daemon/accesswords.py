"""Sentences about access and pauses; ``daemon.wording`` has them among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "stranger": (
        "I do not accept messages from you yet. Your pairing code is {code}. An administrator of this bot can approve "
        "you by sending /pair {code} to me, or by running `millpond channel pair {channel} {code}`. The code is "
        "valid for {minutes} minutes."
    ),
    "arrival_failed": (
        "An error occurred, and your message was not accepted. Administrators can find the error in the log by the ID "
        "{correlation}."
    ),
    "arrival_refused": "I cannot accept this message: {reason}.",
    "group_admins_only": (
        "In groups, only administrators of this bot can use /{command}, because this command affects all members. "
        "/help lists the commands that you can use here. An administrator can allow more commands for group members "
        "with the setting bots.<name>.groups_may."
    ),
    "pair_how": (
        "To approve a person, send /pair CODE with the pairing code that the person received. To approve all members "
        "of a group, send /pair without a code in the group."
    ),
    "pair_done": "{name} is now approved and has been notified.",
    "pair_group": "This group is approved. I now accept messages from all members in this group.",
    "pair_welcome": "You are approved now. What can I do for you?",
    "pair_wrong": (
        "This code is wrong, was already used, or is older than {minutes} minutes. The person who needs access can "
        "get a new code by sending me a message."
    ),
    "pair_often": "Too many wrong codes were entered. Try again in {minutes} minutes.",
    "pair_pull": (
        "This channel accepts messages from anyone. Pairing codes are only needed on chat platforms such as Telegram "
        "or Slack."
    ),
    "ban_how": (
        "To ban a person or a group, send /ban ID. To ban the sender of a message, you can also reply to the message "
        "with /ban. To lift a ban, send /unban ID."
    ),
    "ban_done": (
        "{name} is banned from {channel}. I no longer accept new messages from {name}, but I still answer messages "
        "from before the ban. To lift the ban, send /unban {id}."
    ),
    "ban_admin": (
        "{name} is an administrator and cannot be banned. To ban {name}, first remove the ID of {name} from the "
        "setting bots.<name>.admins."
    ),
    "ban_channel": "I am not connected to a channel named {channel}.",
    "unban_done": "{name} is no longer banned from {channel}.",
    "unban_none": "{name} is not banned from {channel}.",
    "decided_later": (
        "This command had no effect, because a newer decision about this person or group has already been made."
    ),
    "pause_how": "/pause and /resume apply to this chat. /pause all and /resume all apply to all of my chats.",
    "pause_chat": (
        "I am paused in this chat until you send /resume. New messages are saved, and I will answer them after the "
        "pause. Commands still work."
    ),
    "pause_all": (
        "I am paused in all of my chats until you send /resume all. New messages are saved, and I will answer them "
        "after the pause. Commands still work."
    ),
    "pause_already": "I am already paused.",
    "resume_chat": "I am active in this chat again, and will answer the messages that arrived during the pause.",
    "resume_all": (
        "I am active again in all chats, except in chats that were paused individually. I will answer the messages "
        "that arrived during the pause."
    ),
    "resume_none": "I am not paused in this chat.",
    "resume_but_all": "I am paused in all of my chats, not only in this chat. Send /resume all to end the pause.",
    "paused": "I am paused right now. Your message is saved and will be answered after the pause.",
    "approval_asked": (
        "I want to run this command. Within {minutes} minutes, an administrator can allow the command with /approve "
        "{id} or refuse the command with /deny {id}:\n\n{command}"
    ),
    "approval_how": (
        "/approve ID allows me to run the command with this ID, and /deny ID refuses the command. To find the ID, see "
        "my message about the command."
    ),
    "approval_none": "No command with the ID {id} is waiting for approval.",
    "approval_done_approve": "The command {id} is approved. It runs once.",
    "approval_done_deny": "The command {id} is denied. It will not run.",
    "approval_approved": "The command {id} has already been approved.",
    "approval_started": "The command {id} has already been approved and started.",
    "approval_denied": "The command {id} has already been denied.",
    "approval_expired": "The approval of the command {id} has expired. The command was not run.",
    "help_admins": (
        "For administrators:\n"
        "/pair CODE approves the person who received the pairing code CODE; /pair without a code, sent in a group, "
        "approves the group\n"
        "/ban ID bans the person or group with this ID, and /unban ID lifts the ban; to ban the sender of a message, "
        "reply to the message with /ban\n"
        "/pause pauses me in this chat until you send /resume; /pause all pauses me in every chat until you send "
        "/resume all\n"
        "/approve ID allows me to run a command that waits for approval, and /deny ID refuses the command"
    ),
}

CHINESE: Mapping[str, str] = {
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
    "pair_pull": "这个渠道接收任何人的消息；只有 Telegram、Slack 等聊天平台才需要配对码。",
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
}
