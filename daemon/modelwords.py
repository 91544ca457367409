"""Sentences about answers that a model did not finish; ``daemon.wording`` has them among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "only_thought": (
        "The model thought about this twice but gave no answer. Please ask again, or put your question differently."
    ),
    "filtered": "The content filter of the model's provider stopped this answer.",
    "prompt_filtered": (
        "The content filter of the model's provider refused this request. Rephrase your message, or start a new "
        "conversation with /new."
    ),
    "cut_short": "[This answer was cut off at the length limit. Ask me to continue if you want the rest.]",
    "call_too_long": (
        "I wanted to use a tool, but the text for it exceeded the length limit of one answer. Please split "
        "your request into smaller steps."
    ),
    "too_many_steps": "I stopped after {count} steps without finishing. Ask me to continue if you want me to.",
}

CHINESE: Mapping[str, str] = {
    "only_thought": "模型思考了两次，但都没有给出回答。请再问一次，或换一种说法。",
    "filtered": "模型服务商的内容过滤器中止了这个回答。",
    "prompt_filtered": "模型服务商的内容过滤器拒绝了这次请求。请换个说法，或用 /new 开始新对话。",
    "cut_short": "[回答达到长度上限，被截断了。需要其余内容时，请让我继续。]",
    "call_too_long": "我想使用一个工具，但要写给它的内容超过了一次回答的长度上限。请把任务分成较小的步骤。",
    "too_many_steps": "经过 {count} 步仍未完成，我先停在这里。需要的话，请让我继续。",
}
