"""Sentences about answers that a model did not finish; ``daemon.wording`` has them among all sentences."""

from collections.abc import Mapping

ENGLISH: Mapping[str, str] = {
    "only_thought": (
        "The model reasoned about your message twice but did not write an answer. Please ask again, or rephrase your "
        "question."
    ),
    "filtered": "The content filter of the model's provider stopped this answer.",
    "prompt_filtered": (
        "The content filter of the model's provider refused this request. Rephrase your message, or start a new "
        "conversation with /new."
    ),
    "cut_short": (
        "[This answer was cut off at the length limit. If you want the rest of the answer, ask me to continue.]"
    ),
    "call_too_long": (
        "I tried to use a tool, but the tool call exceeded the length limit of an answer. Please split your request "
        "into smaller steps."
    ),
    "too_many_steps": (
        "I stopped after {count} steps, before the task was complete. Ask me to continue if you want me to finish the "
        "task."
    ),
}

CHINESE: Mapping[str, str] = {
    "only_thought": "模型对你的消息思考了两次，但都没有给出回答。请再问一次，或换一种说法。",
    "filtered": "模型服务商的内容过滤器中止了这个回答。",
    "prompt_filtered": "模型服务商的内容过滤器拒绝了这次请求。请换个说法，或用 /new 开始新对话。",
    "cut_short": "[回答达到长度上限，被截断了。需要其余内容时，请让我继续。]",
    "call_too_long": "我想调用一个工具，但调用的参数超过了一次回答的长度上限。请把任务分成较小的步骤。",
    "too_many_steps": "我在 {count} 步之后停了下来，任务还没有完成。需要的话，请让我继续。",
}
