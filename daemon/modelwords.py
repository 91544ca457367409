"""What the bot says of answers that a model did not finish; ``daemon.wording`` has it among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "only_thought": "The model thought about this and gave no answer, twice. Please ask again, or in other words.",
    "filtered": "The content filter of the model's provider stopped this answer.",
    "prompt_filtered": (
        "The content filter of the model's provider refused this request. Rephrase your message, or start a new "
        "conversation with /new."
    ),
    "cut_short": "[This answer is cut off: it reached the length limit. Ask me to go on if you want the rest.]",
    "call_too_long": (
        "I wanted to use a tool, but what I wrote for it was longer than one answer may be. Please ask for it in "
        "smaller steps."
    ),
    "too_many_steps": "I have not finished after {count} steps, so I stop here. Ask me to go on if I should.",
}

CHINESE: Mapping[str, str] = {
    "only_thought": "模型思考了两次，但都没有给出回答。请再问一次，或换一种说法。",
    "filtered": "模型服务商的内容过滤器中止了这个回答。",
    "prompt_filtered": "模型服务商的内容过滤器拒绝了这次请求。请换个说法，或用 /new 开始新对话。",
    "cut_short": "[回答达到长度上限，被截断了。需要其余内容时，请让我继续。]",
    "call_too_long": "我想使用一个工具，但要写给它的内容超过了一次回答的长度上限。请把任务分成较小的步骤。",
    "too_many_steps": "经过 {count} 步仍未完成，我先停在这里。如果需要，请让我继续。",
}
