"""Mutants of what answers of platforms come to."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "channels/telegram/api_types.py",
        "unit/test_outcomes.py",
        (
            "Telegram's wish for a rest is kept.",
            "retry_after_s=answer.parameters.retry_after, brief",
            "brief",
            "test_what_the_bot_api_refuses",
        ),
        (
            "A failure of Telegram's server is a refusal.",
            "    if code >= 500:\n        raise SendRefused(text, brief=brief)\n",
            "",
            "test_what_the_bot_api_refuses",
        ),
        (
            "A wrong token of Telegram's makes a long rest.",
            'Unauthorized(f"{text}. Check the token.", retry_after_s=LONG_REST_S, brief=brief)',
            'Unauthorized(f"{text}. Check the token.", brief=brief)',
            "test_what_the_bot_api_refuses",
        ),
        (
            "A gateway that got no answer leaves a send unknown.",
            "if status == 504 or 200 <= status < 300:",
            "if 200 <= status < 300:",
            "test_what_is_no_answer_of_the_bot_api",
        ),
        (
            "A page that says it went well leaves a send unknown.",
            "if status == 504 or 200 <= status < 300:",
            "if status == 504:",
            "test_what_is_no_answer_of_the_bot_api",
        ),
        (
            "A proxy that wants less is a refusal.",
            "if status == 429 or status >= 500:",
            "if status >= 500:",
            "test_what_is_no_answer_of_the_bot_api",
        ),
        (
            "A proxy that takes nothing so large rejects it.",
            '    if status == TOO_LARGE:\n        return Rejected(text, description="")\n',
            "",
            "test_what_is_no_answer_of_the_bot_api",
        ),
    ),
    *mutants_of(
        "channels/slack/api_types.py",
        "unit/test_outcomes.py",
        (
            "Slack's code for too many is one.",
            ' or answer.error in ("ratelimited", "rate_limited"):',
            ":",
            "test_what_the_web_api_refuses",
        ),
        (
            "Slack's wish for a rest is kept.",
            "retry_after_s=answer.retry_after_s)\n    if not isinstance",
            "retry_after_s=None)\n    if not isinstance",
            "test_what_the_web_api_refuses",
        ),
        (
            "A rest without end is none.",
            'told_s if 0 <= told_s < float("inf") else None',
            "told_s",
            "test_what_the_web_api_refuses",
        ),
        (
            "What Slack is in doubt about is unknown.",
            "if error in DOUBTFUL and not reads:",
            "if False:",
            "test_what_the_web_api_refuses",
        ),
        (
            "A question is never in doubt.",
            "if error in DOUBTFUL and not reads:",
            "if error in DOUBTFUL:",
            "test_what_the_web_api_refuses",
        ),
        (
            "A gateway that got no answer leaves a message unknown.",
            "if not reads and (status == 504 or 200 <= status < 300):",
            "if not reads and (200 <= status < 300):",
            "test_what_the_web_api_refuses",
        ),
        (
            "A question to a gateway is never in doubt.",
            "if not reads and (status == 504 or 200 <= status < 300):",
            "if status == 504 or 200 <= status < 300:",
            "test_what_the_web_api_refuses",
        ),
        (
            "An answer with the status of a failure is one.",
            'if answer.found["ok"] and 200 <= answer.status < 300:',
            'if answer.found["ok"]:',
            "test_what_the_web_api_refuses",
        ),
    ),
    *mutants_of(
        "channels/outbox/retry_schedule.py",
        "unit/test_outcomes.py",
        (
            "A rest that is no number does not stop the rests behind it.",
            "if told_s is not None and not math.isnan(told_s):",
            "if told_s is not None:",
            "test_a_rest_that_is_no_number_is_none_that_was_told",
        ),
        (
            "A reply rests an hour at most.",
            "return min(max(told_s, 0.0), REST_MAX_S)",
            "return max(told_s, 0.0)",
            "test_a_reply_rests_as_long_as_told_and_an_hour_at_most",
        ),
        (
            "A reply rests no shorter than not at all.",
            "return min(max(told_s, 0.0), REST_MAX_S)",
            "return min(told_s, REST_MAX_S)",
            "test_a_reply_rests_as_long_as_told_and_an_hour_at_most",
        ),
        (
            "A reply rests no longer than the longest.",
            "random.uniform(0.5, 1.0) * min(queue.backoff_max_s, doubled)",
            "random.uniform(0.5, 1.0) * doubled",
            "test_a_reply_that_is_told_nothing_rests_twice_as_long_each_time_up_to_the_longest",
        ),
        (
            "A rest stays a number however often it was doubled.",
            "2 ** min(failures, DOUBLINGS_MAX)",
            "2 ** failures",
            "test_a_reply_that_is_told_nothing_rests_twice_as_long_each_time_up_to_the_longest",
        ),
    ),
)
