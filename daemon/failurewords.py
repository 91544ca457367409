"""What the bot says when its model fails; ``daemon.wording`` has it among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "parked": (
        "The model is unavailable right now. Your message is saved and will be answered when the model is available "
        "again."
    ),
    "still_parked": "{count} messages are queued. The model has not responded for {time}.",
    "damaged": (
        "The data of this conversation is damaged, so the bot cannot answer. Your messages are saved and will be "
        "answered after an administrator has repaired the data with `millpond data check --repair`."
    ),
    "setup_fault": (
        "The bot cannot use its model: {reason}\nYour message is saved and will be answered as soon as the model is "
        "available. If you change the configuration, restart Millpond."
    ),
    "setup_fault_others": (
        "The configuration of the bot has an error right now. The administrators of the bot have been notified. Your "
        "message is saved and will be answered after the configuration has been corrected."
    ),
    "still_setup_fault": "{count} messages are queued. The configuration of the bot has an error.",
    "setup_fault_told": (
        "The bot {bot} cannot use its model: {reason}\nMessages from users are saved and will be answered as soon as "
        "the model is available. If you change the configuration, restart Millpond."
    ),
    "refusals_told": (
        "The bot {bot} cannot answer some messages: {reason}\nThe unanswered messages were moved to the list of dead "
        "letters, and their senders were notified."
    ),
    "message_refused": (
        "The model server refused this message (reason: {status}), so I cannot answer it. Later messages are answered "
        "as usual. Administrators can find this message in the log by the ID {correlation}."
    ),
    "seconds": "{count} seconds",
    "minute": "1 minute",
    "minutes": "{count} minutes",
    "hour": "1 hour",
    "hours": "{count} hours",
}

CHINESE: Mapping[str, str] = {
    "parked": "模型暂时不可用。你的消息已保存，模型恢复后会回答。",
    "still_parked": "有 {count} 条消息在排队。模型已经 {time}没有响应。",
    "damaged": (
        "这个会话的数据已损坏，机器人无法回答。你的消息已保存，管理员用 `millpond data check --repair` "
        "修复数据后会回答。"
    ),
    "setup_fault": "机器人无法使用它的模型：{reason}\n你的消息已保存，模型可用后会回答。修改配置后请重启 Millpond。",
    "setup_fault_others": "机器人目前的配置不正确，已通知管理员。你的消息已保存，配置修正后会回答。",
    "still_setup_fault": "有 {count} 条消息在排队。机器人的配置不正确。",
    "setup_fault_told": (
        "机器人 {bot} 无法使用它的模型：{reason}\n用户的消息已保存，模型可用后会回答。修改配置后请重启 Millpond。"
    ),
    "refusals_told": "机器人 {bot} 无法回答一些消息：{reason}\n这些消息已移到死信列表，用户已收到通知。",
    "message_refused": (
        "模型服务器拒绝了这条消息（原因：{status}），所以我无法回答。之后的消息会照常回答。管理员可以用编号 "
        "{correlation} 查到这条消息。"
    ),
    "seconds": "{count} 秒",
    "minute": "1 分钟",
    "minutes": "{count} 分钟",
    "hour": "1 小时",
    "hours": "{count} 小时",
}
