"""Sentences about reminders; ``daemon.wording`` has them among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "reminders_none": "This chat has no reminders. Ask me to remind you, or see /remind.",
    "reminders": "Reminders of this chat, the next one first:\n{lines}",
    "reminders_more": "… and {count} more reminders",
    "remind_set": "Reminder {id} is set. It fires on {time}{rule}.",
    "remind_repeats": ", repeated by {rule}",
    "remind_until": ", until {time}",
    "remind_left": ", {count} more times",
    "remind_missing": (
        "The time {local} does not exist, because clocks are set forward for summer time. The reminder fires later, "
        "on {time}."
    ),
    "remind_twice": (
        "The time {local} occurs twice, because clocks are set back at the end of summer time. The reminder fires at "
        "the earlier time, {time}."
    ),
    "remind_months": (
        "In months without this day, the reminder does not fire. To be reminded on the last day of each month, use "
        "FREQ=MONTHLY;BYMONTHDAY=-1."
    ),
    "remind_quiet": "{time} is within the quiet hours of this bot ({hours}), so the reminder fires when the quiet "
    "hours end.",
    "remind_prompt": "answered by the bot",
    "remind_paused": "paused",
    "remind_held_quiet": "delayed until the end of the quiet hours",
    "remind_held_person": "delayed until tomorrow, because you have reached today's reminder limit",
    "remind_held_bot": "delayed until tomorrow, because this bot has reached today's reminder limit",
    "remind_held_silent": "delayed until you write in this chat again",
    "remind_held_access": "delayed until this bot accepts messages from you or this group again",
    "remind_held_stopped": "stopped with /remind stop",
    "remind_late": "(This reminder is late. It was due on {time}.)\n\n{text}",
    "remind_usage": (
        "/remind WHEN TEXT sets a reminder. WHEN is, for example, 20m, 2h, 18:30, tomorrow 09:00, 2026-12-24 18:00, "
        "daily 08:00, weekdays 08:00, weekly 2026-11-30 09:00, monthly 2026-12-01 09:00, or cron 0 8 * * 1-5. You can "
        "also ask me in your own words.\n"
        "/remind ask WHEN REQUEST sends REQUEST to me at the time WHEN, and I answer it then, for example /remind ask "
        "daily 08:00 What is new?\n"
        "/reminders lists the reminders of this chat\n"
        "/remind pause ID, /remind resume ID and /remind delete ID pause, resume and delete the reminder with this "
        "ID\n"
        "/remind zone Europe/Berlin sets your time zone to Europe/Berlin; your current time zone is {zone}\n"
        "/remind stop turns off all your reminders with this bot, and /remind start turns the reminders on again"
    ),
    "remind_zone_set": "Your time zone is now {zone}. Reminders that are already set keep their times.",
    "remind_off": "You will get no more reminders from this bot. To turn reminders on again, send /remind start.",
    "remind_on": (
        "Reminders from this bot are turned on again. Reminders of this chat that were stopped are active again."
    ),
    "remind_done_pause": "Reminder {id} is paused. To activate the reminder again, send /remind resume {id}.",
    "remind_done_resume": "Reminder {id} is active. It fires on {time}.",
    "remind_done_delete": "Reminder {id} is deleted.",
    "remind_over": "The time of reminder {id} has passed, so the reminder was deleted. Set a new reminder.",
    "remind_no_id": "Reminder {id} was not found in this chat. To list the reminders of this chat, send /reminders.",
    "remind_moved": "Reminder {id} changed before your command was carried out. List the reminders and try again.",
    "remind_group": (
        "In a group, only administrators of this bot can set or change reminders. Write to me in a direct chat, or ask "
        "an administrator."
    ),
    "remind_stopped": "You have turned off all reminders from this bot. Send /remind start to turn them on again.",
    "remind_full": "This chat already has {most} reminders, which is the maximum. Delete a reminder first.",
    "remind_no_chat": "No direct chat with you was found. Write to me in a direct chat first, and then set the "
    "reminder.",
    "remind_chat_gone": "The chat {session} was not found. Write to me in that chat first, and then set the reminder.",
    "remind_proactive": "A reminder cannot set or change reminders. Tell the person to ask for the reminder in a "
    "message.",
    "remind_empty": "The reminder has no text. Add a text to the reminder.",
    "remind_long": "The text has {count} characters, but a reminder can have at most {most}. Shorten the text.",
    "remind_when": (
        "“{text}” is not a time. Write, for example, 20m, 18:30, tomorrow 09:00, 2026-12-24 18:00, or daily 08:00."
    ),
    "remind_words": "You can also ask me in your own words, without /remind.",
    "remind_day": "“{text}” is a day without a time. Add a time, for example {text} 09:00.",
    "remind_past": "{time} has already passed. It is now {now}. Choose a later time.",
    "remind_far": "This time is more than ten years in the future. Choose an earlier time.",
    "remind_zone": "The time zone “{name}” was not found. Use a name such as Europe/Berlin or Asia/Shanghai.",
    "remind_rule": (
        "“{rule}” is not a recurrence rule. Write, for example, FREQ=WEEKLY;BYDAY=MO,WE, daily, weekdays, or "
        "cron 0 8 * * 1-5."
    ),
    "remind_cron": "“{rule}” is not a cron expression ({problem}). Write, for example, 0 8 * * 1-5.",
    "remind_often": "A reminder can fire at most once every {minutes} minutes. Choose a longer interval.",
    "remind_never": "This recurrence rule matches no date in the given period. Choose another rule or a later end "
    "date.",
    "runtime_reminder": (
        "Started by: reminder {id}, due on {time}. No person sent a message for this turn. Carry out the request "
        "below and write to the chat. If the person does not need a message, reply with only NO_REPLY, and nothing is "
        "sent."
    ),
    "runtime_reminder_late": "This reminder is late. Tell the person that the reminder is late.",
}

CHINESE: Mapping[str, str] = {
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
        "/remind 时间 内容 设置提醒。时间可以是：20分钟、2小时、18:30、明天 09:00、2026-12-24 18:00、每天 08:00、"
        "工作日 08:00、每周 2026-11-30 09:00、每月 2026-12-01 09:00，或者 cron 0 8 * * 1-5。"
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
    "remind_when": ("“{text}”不是时间。可以写：20分钟、18:30、明天 09:00、2026-12-24 18:00、每天 08:00。"),
    "remind_words": "也可以不用 /remind，直接用自己的话告诉我。",
    "remind_day": "“{text}”没有写明几点。请加上时间，例如 {text} 09:00。",
    "remind_past": "{time} 已经过去，现在是 {now}。请选择以后的时间。",
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
}
