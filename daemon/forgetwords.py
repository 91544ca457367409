"""Sentences of ``/forget`` and the names of its tiers; ``daemon.wording`` has them among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "forget_how": (
        "/forget WORDS lists all texts stored for this chat that contain these words. Then send /forget 1 3 to delete "
        "entries 1 and 3 of the list, or /forget all to delete every entry."
    ),
    "forget_slow": (
        "The stored data is too large to be searched from this chat. Ask an administrator to run `millpond memory "
        "forget {scope} WORDS`."
    ),
    "forget_none": "I found no stored text that contains these words.",
    "forget_match": "{number}. {tier}, {date}{places}: {text}",
    "forget_places": ", in {count} places",
    "forget_more": "… and {count} more. Use more words to get a shorter list.",
    "forget_choose": (
        "Send /forget 1 3 to delete entries 1 and 3 everywhere they are stored. Send /forget all to delete every entry "
        "of the list. Deleted text cannot be restored."
    ),
    "forget_stale": "Send /forget WORDS first. The search results expire after 10 minutes.",
    "forget_number": "The list has no entry {number}. Choose numbers from 1 to {count}.",
    "forget_length": "Write 2 to {most} characters after /forget.",
    "forget_began": "I am deleting the text now, and will notify you here when the deletion is complete.",
    "forget_done": "The text was forgotten. Deleted:",
    "forget_nothing_left": "The text was already deleted earlier, so there was no more text to delete.",
    "forget_removed": "- {tier}: {count}",
    "forget_failed": "These steps failed:",
    "forget_incomplete": (
        "{count} steps of the deletion failed, so some of the text may still be stored. To see the reasons, an "
        "administrator can run `millpond queue jobs --json`."
    ),
    "forget_waits": (
        "The text was deleted everywhere except in the archive of old messages, which is unavailable right now. When "
        "the archive is available again, I will delete the text there too, and notify you here."
    ),
    "forget_unsearched": (
        "The archive of old messages is unavailable right now, so this list does not contain archived messages."
    ),
    "forget_untouched": (
        "Copies of the text in backups, on the chat platform, at the model's provider and in external services were "
        "not deleted."
    ),
    "tier_memory": "memory",
    "tier_history": "history",
    "tier_notes": "daily notes",
    "tier_messages": "messages",
    "tier_archive": "archived messages",
    "tier_versions": "older versions of the memory",
    "tier_continuity": "summary of the conversation",
    "tier_titles": "title of the conversation",
    "tier_waiting": "unanswered messages",
    "tier_replies": "undelivered replies",
    "tier_dead": "dead letters",
    "tier_notices": "notices",
    "tier_live": "text being written",
    "tier_files": "files",
    "tier_terminal": "terminal input",
    "tier_usage": "usage records",
    "tier_overheard": "group messages kept as context",
    "tier_reminders": "reminders",
}

CHINESE: Mapping[str, str] = {
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
}
