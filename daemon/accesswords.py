"""What the bot says of who may speak and where it rests; ``daemon.wording`` has it among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "stranger": (
        "I do not know you yet. Your code is {code}: an administrator of this bot lets you in by writing /pair {code} "
        "to me, or with `millpond channel pair {channel} {code}`. It can be used for {minutes} minutes."
    ),
    "arrival_failed": (
        "Something went wrong, and your message was not taken in. An administrator finds it as {correlation}."
    ),
    "arrival_refused": "I cannot take this message: {reason}.",
    "pair_how": (
        "/pair CODE lets the person in who was given that code. In a group, /pair alone lets everybody in it speak "
        "to me there."
    ),
    "pair_done": "{name} may speak to me now, and is told so.",
    "pair_group": "Whoever is in this group may speak to me here now.",
    "pair_welcome": "You may speak to me now. What can I do for you?",
    "pair_wrong": (
        "That code is wrong, used up, or older than {minutes} minutes. Whoever wants to be let in gets a new one by "
        "writing to me."
    ),
    "pair_often": "That were too many wrong codes. Try again in {minutes} minutes.",
    "pair_pull": "On this channel everybody is heard; codes belong to channels of chat platforms.",
    "ban_how": (
        "/ban ID, or /ban as an answer to a message of the person's, and I no longer listen to that person; the id of "
        "a group bans the group. /unban ID takes it back."
    ),
    "ban_done": (
        "{name} is banned from {channel}: I no longer listen. What was written before is still answered. "
        "/unban {id} takes it back."
    ),
    "ban_admin": "{name} is an administrator; that is changed in the configuration: bots.<name>.admins.",
    "ban_channel": "I do not speak on a channel {channel}.",
    "unban_done": "{name} is no longer banned from {channel}.",
    "unban_none": "{name} is not banned from {channel}.",
    "decided_later": "Something newer was decided meanwhile; nothing was changed.",
    "pause_how": "/pause and /resume stand alone, for this chat, or with the word all, for every chat of mine.",
    "pause_chat": (
        "I rest in this chat until /resume. What is written here is kept, and answered then; commands work all the "
        "while."
    ),
    "pause_all": (
        "I rest in all my chats until /resume all. What is written is kept, and answered then; commands work all the "
        "while."
    ),
    "pause_already": "I rest already.",
    "resume_chat": "I go on in this chat, with what was written meanwhile.",
    "resume_all": "I go on everywhere, with what was written meanwhile, but in chats that are paused by themselves.",
    "resume_none": "I do not rest here.",
    "resume_but_all": "I go on in this chat once all of my chats do: /resume all.",
    "paused": "I rest just now. Your message is kept and will be answered when I go on.",
    "help_admins": (
        "For administrators:\n"
        "/pair CODE lets in whom I gave that code; /pair in a group lets the group in\n"
        "/ban ID, or as an answer to a message, has me no longer listen to somebody; /unban ID takes it back\n"
        "/pause has me rest in this chat, /pause all everywhere; /resume and /resume all have me go on"
    ),
    "usage_total": "The bot: {messages} messages, {tokens} tokens{more}",
    "tier_overheard": "overheard messages",
}

CHINESE: Mapping[str, str] = {
    "stranger": (
        "我还不认识你。你的代码是 {code}：这个机器人的管理员给我写 /pair {code}，或者运行 "
        "`millpond channel pair {channel} {code}`，就能让你进来。代码在 {minutes} 分钟之内有效。"
    ),
    "arrival_failed": "出了问题，你的消息没有被接收。管理员可以用 {correlation} 找到它。",
    "arrival_refused": "我不能接收这条消息：{reason}。",
    "pair_how": "/pair 代码 让得到这个代码的人进来。在群里单独写 /pair，群里的每个人就都可以在那里与我说话。",
    "pair_done": "{name} 现在可以与我说话了，并且已经收到通知。",
    "pair_group": "现在这个群里的每个人都可以在这里与我说话。",
    "pair_welcome": "你现在可以与我说话了。有什么可以帮你的吗？",
    "pair_wrong": "代码不对、已经用过，或者超过了 {minutes} 分钟。想进来的人给我写一条消息，就会得到新的代码。",
    "pair_often": "错误的代码太多了。请在 {minutes} 分钟后再试。",
    "pair_pull": "在这个渠道上每个人的话我都听；代码只用于聊天平台的渠道。",
    "ban_how": (
        "/ban 编号，或者用 /ban 回复那个人的一条消息，我就不再听他的话；写群的编号就封禁整个群。/unban 编号 可以撤销。"
    ),
    "ban_done": "{name} 已在 {channel} 上被封禁：我不再听他的话。之前写的内容仍会得到回答。/unban {id} 可以撤销。",
    "ban_admin": "{name} 是管理员；这要在配置 bots.<name>.admins 中更改。",
    "ban_channel": "我不在 {channel} 这个渠道上。",
    "unban_done": "{name} 在 {channel} 上不再被封禁。",
    "unban_none": "{name} 在 {channel} 上没有被封禁。",
    "decided_later": "在此期间有了更新的决定，没有做任何更改。",
    "pause_how": "/pause 和 /resume 单独写，只对这个聊天有效；后面加上 all，对我的所有聊天有效。",
    "pause_chat": "我在这个聊天中休息，直到 /resume。这里写的内容会保存，之后再回答；命令一直可以使用。",
    "pause_all": "我在所有聊天中休息，直到 /resume all。写的内容会保存，之后再回答；命令一直可以使用。",
    "pause_already": "我已经在休息了。",
    "resume_chat": "我在这个聊天中继续，先回答这段时间里写的内容。",
    "resume_all": "除了单独暂停的聊天，我在所有聊天中继续，先回答这段时间里写的内容。",
    "resume_none": "我没有在这里休息。",
    "resume_but_all": "等我在所有聊天中继续时，这个聊天也会继续：/resume all。",
    "paused": "我正在休息。你的消息已经保存，等我继续时会得到回答。",
    "help_admins": (
        "管理员专用：\n"
        "/pair 代码 让得到这个代码的人进来；在群里写 /pair 让整个群进来\n"
        "/ban 编号，或者用它回复一条消息，我就不再听那个人的话；/unban 编号 撤销\n"
        "/pause 让我在这个聊天中休息，/pause all 在所有聊天中休息；/resume 和 /resume all 让我继续"
    ),
    "usage_total": "机器人：{messages} 条消息，{tokens} 个 token{more}",
    "tier_overheard": "旁听到的消息",
}
