"""Sentences of ``/forget``, of reminders and of the setup; ``daemon.wording`` has them among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    # Sentences of ``/forget`` and the names of its tiers; ``daemon.wording`` has them among all sentences.
    "forget_how": (
        "/forget WORDS searches the data stored for this chat, and lists each text that contains these words. To "
        "delete entries 1 and 3 of that list, send /forget 1 3. To delete every entry, send /forget all."
    ),
    "forget_slow": (
        "The stored data is too large to be searched from this chat. Ask an administrator to run `millpond "
        "memory forget {scope} WORDS`."
    ),
    "forget_none": "I found no stored text containing these words.",
    "forget_match": "{number}. {tier}, {date}{places}: {text}",
    "forget_places": ", in {count} places",
    "forget_more": "… and {count} more. Use more words to get a shorter list.",
    "forget_choose": (
        "Send /forget 1 3 to delete entries 1 and 3 from everywhere they are stored. Send /forget all to "
        "delete every entry in the list. Deleted text cannot be restored."
    ),
    "forget_stale": "First, search for the text with /forget WORDS. Search results expire after 10 minutes.",
    "forget_number": "The list has no entry {number}. Choose a number from 1 to {count}.",
    "forget_length": "Enter 2 to {most} characters after /forget.",
    "forget_began": "I am deleting the text, and will notify you here when I am done.",
    "forget_done": "The text was forgotten. Deleted:",
    "forget_nothing_left": "The text had already been deleted, so there was nothing left to delete.",
    "forget_removed": "- {tier}: {count}",
    "forget_failed": "These steps failed:",
    "forget_incomplete": (
        "{count:deletion step|deletion steps} failed, so some of the text may still be stored. To see the reasons, an "
        "administrator can run `millpond queue jobs --json`."
    ),
    "forget_waits": (
        "The text has been deleted everywhere except in the message archive, which is currently unavailable. "
        "When the archive is available again, I will delete the text there too, and notify you here."
    ),
    "forget_unsearched": (
        "The message archive is currently unavailable, so this list does not include archived messages."
    ),
    "forget_untouched": (
        "Copies of the text in backups, on the chat platform, at the model provider and in external services "
        "were not deleted."
    ),
    "tier_memory": "memory",
    "tier_history": "history",
    "tier_notes": "daily notes",
    "tier_messages": "messages",
    "tier_archive": "archived messages",
    "tier_versions": "older versions of memory",
    "tier_continuity": "conversation summary",
    "tier_titles": "conversation title",
    "tier_waiting": "unanswered messages",
    "tier_replies": "undelivered replies",
    "tier_dead": "dead letters",
    "tier_notices": "notices",
    "tier_live": "text being written",
    "tier_files": "files",
    "tier_terminal": "terminal input",
    "tier_usage": "usage records",
    "tier_overheard": "group messages saved as context",
    "tier_reminders": "reminders",
    # Sentences about reminders; ``daemon.wording`` has them among all sentences.
    "reminders_none": "This chat has no reminders. Ask me to remind you of something, or see /remind.",
    "reminders": ("Reminders in this chat, soonest first:\n{lines}"),
    "reminders_more": "… and {count:more reminder|more reminders}",
    "remind_set": "Reminder {id} is set. It fires on {time}{rule}.",
    "remind_repeats": ", repeated by {rule}",
    "remind_until": ", until {time}",
    "remind_left": ", {count:more time|more times}",
    "remind_missing": (
        "The time {local} does not exist because clocks move forward for summer time. The reminder will fire on "
        "{time} instead."
    ),
    "remind_twice": (
        "The time {local} occurs twice because clocks move back at the end of summer time. The reminder fires at "
        "the earlier of the two times, on {time}."
    ),
    "remind_months": (
        "The reminder does not fire in months that do not have this day. To be reminded on the last day of each "
        "month, use FREQ=MONTHLY;BYMONTHDAY=-1."
    ),
    "remind_hours": "“{text}” means {hours} hours from now. If you mean the time of day, write {hours}:00.",
    "remind_years": "The reminder fires only in leap years, because other years have no 29 February.",
    "remind_quiet": (
        "{time} falls within this bot's quiet hours ({hours}), so the reminder fires when the quiet hours end."
    ),
    "remind_prompt": "answered by the bot",
    "remind_paused": "paused",
    "remind_held_quiet": "delayed until the quiet hours end",
    "remind_held_person": "delayed until tomorrow because you have reached today's reminder limit",
    "remind_held_bot": "delayed until tomorrow because this bot has reached today's reminder limit",
    "remind_held_silent": "on hold until you send a message in this chat again",
    "remind_held_access": "on hold until this bot accepts messages from you or this group again",
    "remind_held_stopped": "stopped with /remind stop",
    "remind_late": "(This reminder is late. It was due on {time}.)\n\n{text}",
    "remind_usage": (
        "/remind WHEN TEXT sets a reminder. WHEN can be, for example, 20m, 2h, 18:30, tomorrow 09:00, monday 9am, "
        "2026-12-24 18:00, daily 08:00, weekdays 08:00, every tuesday and thursday 08:30, every month on the 15th "
        "at 9:00, or cron 0 8 * * 1-5. You can also ask me in your own words.\n"
        "/remind ask WHEN REQUEST makes me answer REQUEST at that time, for example: /remind ask daily 08:00 What "
        "is new?\n"
        "/reminders lists the reminders in this chat\n"
        "/remind pause ID pauses a reminder, /remind resume ID resumes it, and /remind delete ID deletes it\n"
        "/remind zone Europe/Berlin sets your time zone (currently {zone})\n"
        "/remind stop turns off all your reminders from this bot, and /remind start turns them back on"
    ),
    "remind_zone_set": "Your time zone is now {zone}. The times of existing reminders do not change.",
    "remind_off": "You will no longer get reminders from this bot. To turn reminders on again, send /remind start.",
    "remind_on": "Reminders from this bot are turned on again. Stopped reminders in this chat are active again.",
    "remind_done_pause": "Reminder {id} is paused. To resume the reminder, send /remind resume {id}.",
    "remind_done_resume": "Reminder {id} is active. It fires on {time}.",
    "remind_done_delete": "Reminder {id} is deleted.",
    "remind_over": "The time for reminder {id} has passed, so the reminder was deleted. Please set a new reminder.",
    "remind_no_id": "This chat has no reminder {id}. To list the reminders in this chat, send /reminders.",
    "remind_moved": "Reminder {id} was changed before your command took effect. List the reminders and try again.",
    "remind_group": (
        "In a group, only this bot's administrators can set or change reminders. Message me in a direct "
        "chat, or ask an administrator."
    ),
    "remind_stopped": "You have turned off all reminders from this bot. To turn reminders on again, send /remind "
    "start.",
    "remind_full": "This chat already has the maximum of {most} reminders. Delete a reminder first.",
    "remind_no_chat": (
        "You do not have a direct chat with me yet. Message me in a direct chat first, and then set the reminder."
    ),
    "remind_chat_gone": (
        "The chat {session} was not found. Send me a message in that chat first, and then set the reminder."
    ),
    "remind_proactive": (
        "You are responding to a reminder, so you cannot set or change reminders now. Tell the person to ask for the "
        "reminder in a message."
    ),
    "remind_empty": "The reminder has no text. Add some text to the reminder.",
    "remind_long": "The text has {count} characters, but reminders are limited to {most}. Shorten the text.",
    "remind_when": (
        "“{text}” is not a time. Use a format such as 20m, 18:30, tomorrow 09:00, monday 9:00, 2026-12-24 18:00, or "
        "daily 08:00."
    ),
    "remind_words": "You can also ask for a reminder in your own words, without /remind.",
    "remind_day": "“{text}” specifies a day but no time. Add a time, for example {text} 09:00.",
    "remind_past": "{time} has already passed. The current time is {now}. Choose a later time.",
    "remind_count": "The number of repetitions must be between 1 and {most}. To repeat the reminder "
    "indefinitely, leave out the number.",
    "remind_once": "Only repeating reminders can have an end date or a number of repetitions. Add an interval, such "
    "as daily, or leave out the number and the end date.",
    "remind_far": "This time is more than ten years in the future. Choose an earlier time.",
    "remind_zone": "The time zone “{name}” was not found. Use a name such as Europe/Berlin or Asia/Shanghai.",
    "remind_rule": (
        "“{rule}” is not a valid recurrence rule. Use a rule such as “daily”, “weekdays”, “FREQ=WEEKLY;BYDAY=MO,WE” "
        "or “cron 0 8 * * 1-5”."
    ),
    "remind_cron": "“{rule}” is not a valid cron expression ({problem}). Use an expression such as 0 8 * * 1-5.",
    "remind_often": "A reminder can fire at most once every {minutes:minute|minutes}. Choose a longer interval.",
    "remind_never": (
        "This recurrence rule does not match any date in the given period. Choose another rule or a later end date."
    ),
    "runtime_reminder": (
        "Started by: reminder {id}, due on {time}. This turn was not triggered by a person's message. Carry out the "
        "request below and reply in the chat. If the person does not need a message, reply with NO_REPLY only. In "
        "that case, nothing is sent."
    ),
    "runtime_reminder_late": "This reminder is late. Mention the delay to the person.",
    # Sentences of the bot during its setup; ``daemon.wording`` has them among all sentences.
    "owner_welcome": (
        "Hello, {name}! You are now my administrator. To start me, run `millpond run`. If you have already sent me "
        "messages, I will answer them as soon as I am running. Send /help to see my commands."
    ),
    # Slack keeps a message without a recipient for minutes only, and takes a message that begins with / for a command
    # of its own.
    "owner_welcome_slack": (
        "Hello, {name}! You are now my administrator. To start me, run `millpond run`. After that, message me "
        "here, or mention me in a channel. To list my commands, send `/millpond help`."
    ),
}

CHINESE: Mapping[str, str] = {
    # Sentences of ``/forget`` and the names of its tiers; ``daemon.wording`` has them among all sentences.
    "forget_how": (
        "/forget 关键词 会列出为这个聊天保存的内容中包含这些词的地方。然后用 /forget 1 3 删除列表中的第 1 条和第 3 条，"
        "用 /forget all 删除列表中的全部条目。"
    ),
    "forget_slow": "保存的数据太多，无法在这个聊天里查找。请让管理员运行 `millpond memory forget {scope} 关键词`。",
    "forget_none": "没有找到包含这些词的内容。",
    "forget_match": "{number}. {tier}，{date}{places}：{text}",
    "forget_places": "，共 {count} 处",
    "forget_more": "……另有 {count} 条。多写几个词可以缩短列表。",
    "forget_choose": (
        "/forget 1 3 在所有保存的地方删除第 1 条和第 3 条。/forget all 删除列表中的全部条目。删除后无法恢复。"
    ),
    "forget_stale": "请先发送 /forget 关键词。然后可以在 10 分钟内从列表中选择。",
    "forget_number": "列表中没有第 {number} 条，请选择 1 到 {count} 之间的编号。",
    "forget_length": "请写出想让我忘记的内容，至少 2 个、最多 {most} 个字符。",
    "forget_began": "正在删除，完成后会在这里告诉你。",
    "forget_done": "已经忘记。删除了：",
    "forget_nothing_left": "这些内容之前已经删除，不需要再删除。",
    "forget_removed": "- {tier}：{count}",
    "forget_failed": "以下步骤失败：",
    "forget_incomplete": (
        "有 {count} 个步骤失败，部分内容可能仍然保留。管理员可以用 `millpond queue jobs --json` 查看原因。"
    ),
    "forget_waits": (
        "除了旧消息的归档以外，其他地方的内容都已经删除。归档目前无法访问，"
        "这一部分会等归档恢复后再删除，删除后会在这里告诉你。"
    ),
    "forget_unsearched": "旧消息的归档目前无法访问，所以这个列表不包含归档的消息。",
    "forget_untouched": "以下副本没有删除：以前的备份，以及聊天平台、模型服务商和调用外部服务的工具所保存的副本。",
    "tier_memory": "记忆",
    "tier_history": "历史",
    "tier_notes": "每日笔记",
    "tier_messages": "消息",
    "tier_archive": "归档的消息",
    "tier_versions": "记忆的旧版本",
    "tier_continuity": "对话摘要",
    "tier_titles": "对话标题",
    "tier_waiting": "尚未回答的消息",
    "tier_replies": "尚未送达的回复",
    "tier_dead": "死信",
    "tier_notices": "通知",
    "tier_live": "正在生成的文字",
    "tier_files": "文件",
    "tier_terminal": "在终端输入的内容",
    "tier_usage": "用量记录",
    "tier_overheard": "群聊背景消息",
    "tier_reminders": "提醒",
    # Sentences about reminders; ``daemon.wording`` has them among all sentences.
    "reminders_none": "这个聊天没有提醒。可以直接让我提醒你，也可以看看 /remind 的用法。",
    "reminders": "这个聊天的提醒，按时间先后排列：\n{lines}",
    "reminders_more": "……还有 {count} 个提醒",
    "remind_set": "提醒 {id} 已设置，将在 {time} 触发{rule}。",
    "remind_repeats": "，按 {rule} 重复",
    "remind_until": "，到 {time} 为止",
    "remind_left": "，还有 {count} 次",
    "remind_missing": "夏令时开始时，钟表会跳过 {local}，所以提醒会相应推后，在 {time} 触发。",
    "remind_twice": "夏令时结束时，钟表会两次显示 {local}。提醒在第一次触发，即 {time}。",
    "remind_months": "没有这一天的月份会跳过。要在每月最后一天提醒，请使用 FREQ=MONTHLY;BYMONTHDAY=-1。",
    "remind_hours": "“{text}”的意思是 {hours} 小时后。如果是指几点钟，请写 {hours}:00。",
    "remind_years": "其他年份没有 2 月 29 日，所以这个提醒只在闰年触发。",
    "remind_quiet": "{time} 在这个机器人的安静时段（{hours}）内，所以提醒会在安静时段结束时触发。",
    "remind_prompt": "由机器人回答",
    "remind_paused": "已暂停",
    "remind_held_quiet": "等到安静时段结束",
    "remind_held_person": "等到明天，因为你今天的提醒次数已用完",
    "remind_held_bot": "等到明天，因为这个机器人今天的提醒次数已用完",
    "remind_held_silent": "等到你再次在这个聊天里发消息",
    "remind_held_access": "等到这个机器人重新接收你或这个群的消息",
    "remind_held_stopped": "已用 /remind stop 停止",
    "remind_late": "（这个提醒迟到了，原定时间是 {time}。）\n\n{text}",
    "remind_usage": (
        "/remind 时间 内容 设置提醒。时间可以是：20分钟、2小时、18:30、明早九点、下周一 9:00、2026-12-24 18:00、"
        "每天 08:00、工作日 08:00、每周二和周四 08:30、每月15号 9:00，或者 cron 0 8 * * 1-5。"
        "也可以直接用自己的话告诉我。\n"
        "/remind ask 时间 请求 到时由我回答这个请求，例如 /remind ask 每天 08:00 有什么新消息？\n"
        "/reminders 列出这个聊天的提醒\n"
        "/remind pause ID、/remind resume ID、/remind delete ID 暂停、恢复、删除提醒\n"
        "/remind zone Asia/Shanghai 设置你的时区；现在是 {zone}\n"
        "/remind stop 关闭这个机器人给你的所有提醒；/remind start 重新打开"
    ),
    "remind_zone_set": "你的时区现在是 {zone}。已经设置的提醒时间不变。",
    "remind_off": "这个机器人不会再给你发提醒。/remind start 可以重新打开。",
    "remind_on": "这个机器人可以再给你发提醒了。这个聊天里停止的提醒已恢复。",
    "remind_done_pause": "提醒 {id} 已暂停。/remind resume {id} 可以恢复。",
    "remind_done_resume": "提醒 {id} 已恢复，将在 {time} 触发。",
    "remind_done_delete": "提醒 {id} 已删除。",
    "remind_over": "提醒 {id} 的时间已过，所以已删除。请设置新的提醒。",
    "remind_no_id": "这个聊天里没有找到提醒 {id}。/reminders 会列出这个聊天的提醒。",
    "remind_moved": "提醒 {id} 刚刚被更改过。请列出提醒后重试。",
    "remind_group": "在群聊中，只有这个机器人的管理员可以设置或更改提醒。请在私聊中找我，或请管理员设置。",
    "remind_stopped": "你已关闭这个机器人的所有提醒。发送 /remind start 可以重新打开。",
    "remind_full": "这个聊天已有 {most} 个提醒，达到上限。请先删除一个提醒。",
    "remind_no_chat": "没有找到与你的私聊。请先在私聊中给我发消息，再设置提醒。",
    "remind_chat_gone": "没有找到聊天 {session}。请先在那个聊天里发消息，再设置提醒。",
    "remind_proactive": "提醒不能设置或更改提醒。请让对方自己提出。",
    "remind_empty": "提醒没有内容。请说明要提醒什么。",
    "remind_long": "内容有 {count} 个字符，提醒最多 {most} 个字符。请缩短内容。",
    "remind_when": ("“{text}”不是时间。可以写：20分钟、18:30、明天 09:00、下周一九点、2026-12-24 18:00、每天 08:00。"),
    "remind_words": "也可以不用 /remind，直接用自己的话告诉我。",
    "remind_day": "“{text}”没有写明几点。请加上时间，例如 {text} 09:00。",
    "remind_past": "{time} 已经过去，现在是 {now}。请选择以后的时间。",
    "remind_count": "次数必须在 1 到 {most} 之间。没有终点的提醒不用写次数。",
    "remind_once": "次数和截止时间只适用于重复的提醒，例如“每天”。请加上重复方式，或者去掉它们。",
    "remind_far": "这个时间在十年以后。请选择更早的时间。",
    "remind_zone": "没有找到时区“{name}”。请使用 Europe/Berlin 或 Asia/Shanghai 这样的名称。",
    "remind_rule": "“{rule}”不是重复规则。可以写：FREQ=WEEKLY;BYDAY=MO,WE、每天、工作日，或者 cron 0 8 * * 1-5。",
    "remind_cron": "“{rule}”不是 cron 表达式（{problem}）。可以写：0 8 * * 1-5。",
    "remind_often": "提醒最多每 {minutes} 分钟触发一次。请选择间隔更长的规则。",
    "remind_never": "这个规则在给定的时间内不会触发。请选择别的规则或更晚的结束时间。",
    "runtime_reminder": (
        "触发方式：由提醒 {id} 触发（原定时间 {time}），不是由消息触发。请完成下面的请求，并在聊天里回复。"
        "如果不需要给对方发消息，只回答 NO_REPLY，就不会发送任何内容。"
    ),
    "runtime_reminder_late": "这个提醒迟到了，请在回答中说明。",
    # Sentences of the bot during its setup; ``daemon.wording`` has them among all sentences.
    "owner_welcome": (
        "{name}，你好！你现在是我的管理员了。请用 `millpond run` 启动我。在启动之前发送的消息，我会在启动之后回答。"
        "/help 会列出我的命令。"
    ),
    "owner_welcome_slack": (
        "{name}，你好！你现在是我的管理员了。请用 `millpond run` 启动我，然后在这里给我发消息，或者在频道里提到我。"
        "`/millpond help` 会列出我的命令。"
    ),
}
