"""What the bot says of usage and limits; ``daemon.wording`` has it among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "usage": "Today:\n{lines}",
    "usage_person": "You: {messages} messages, {tokens}{more}",
    "usage_chat": "This conversation: {messages} messages, {tokens}{more}",
    "usage_total": "All users of this bot: {messages} messages, {tokens}{more}",
    "usage_bot": "This bot: {left}",
    "usage_tokens": "{count} tokens",
    "usage_cached": " ({share} of the input cached)",
    "usage_cost": ", {cost}",
    "usage_cached_cost": " ({cost} for cached input)",
    "usage_more": "; {left}",
    "usage_left": "{left} of {limit} left",
    "usage_lasts": ", enough for about {time} at the current rate",
    "usage_lasts_day": ", enough for the rest of the day at the current rate",
    "usage_room": "Limits per minute: {rooms}",
    "usage_room_person": "you have {left} of {limit} messages left",
    "usage_room_chat": "this conversation has {left} of {limit} messages left",
    "usage_room_bot": "all users of this bot together have {left} of {limit} messages left",
    "limit_near_bot": "The bot {bot} has used {percent} of its daily limit ({setting}). {left}.",
    "limit_near_person": (
        "Bot {bot}: {name} has used {percent} of the daily limit for one person ({setting}). {left}. I will not "
        "notify you again today if other people come close to this limit. To see all people, open System > Usage on "
        "the web page."
    ),
    "limit_near_chat": (
        "Bot {bot}: The conversation {name} has used {percent} of the daily limit for one conversation ({setting}). "
        "{left}. I will not notify you again today if other conversations come close to this limit. To see all "
        "conversations, open System > Usage on the web page."
    ),
}

CHINESE: Mapping[str, str] = {
    "usage": "今天：\n{lines}",
    "usage_person": "你：{messages} 条消息，{tokens}{more}",
    "usage_chat": "这个对话：{messages} 条消息，{tokens}{more}",
    "usage_total": "这个机器人的所有用户：{messages} 条消息，{tokens}{more}",
    "usage_bot": "这个机器人：{left}",
    "usage_tokens": "{count} 个 token",
    "usage_cached": "（输入的 {share} 来自缓存）",
    "usage_cost": "，{cost}",
    "usage_cached_cost": "（其中缓存输入 {cost}）",
    "usage_more": "；{left}",
    "usage_left": "还剩 {left} / {limit}",
    "usage_lasts": "，按目前的速度大约还能用 {time}",
    "usage_lasts_day": "，按目前的速度今天够用",
    "usage_room": "每分钟的消息额度：{rooms}",
    "usage_room_person": "你还剩 {left} / {limit} 条",
    "usage_room_chat": "这个对话还剩 {left} / {limit} 条",
    "usage_room_bot": "这个机器人的所有用户还剩 {left} / {limit} 条",
    "limit_near_bot": "机器人 {bot}：今天的限额已用 {percent}（{setting}）。{left}。",
    "limit_near_person": (
        "机器人 {bot}：{name} 今天已用掉个人限额的 {percent}（{setting}）。{left}。今天不再通知其他接近这个限额的人，"
        "网页上“系统”里的“用量”会列出他们。"
    ),
    "limit_near_chat": (
        "机器人 {bot}：对话 {name} 今天已用掉单个对话限额的 {percent}（{setting}）。{left}。今天不再通知其他接近这个"
        "限额的对话，网页上“系统”里的“用量”会列出它们。"
    ),
}
