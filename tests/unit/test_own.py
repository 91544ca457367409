"""What a model alone understands is put together from a stream, and sent back to that model and to no other."""

from typing import Any

import msgspec

from daemon.config.secret import Secret
from daemon.model.adaptation import MessageForm, adapted, nine, with_own
from daemon.model.answer_parts import AnswerParts
from daemon.model.model_errors import Endpoint
from daemon.model.provider_fields import identity

HOST, MODEL = "api.example.com", "m"
MINE, ANOTHERS = identity(HOST, MODEL), identity(HOST, "n")

CALL = {"id": "call_0123456789abcdef", "type": "function", "function": {"name": "time", "arguments": "{}"}}
USER = {"role": "user", "content": "what time is it?"}
CALLS = {"role": "assistant", "tool_calls": [CALL]}
RESULT = {"role": "tool", "content": "nine", "tool_call_id": CALL["id"]}


def own_of(*deltas: dict[str, Any]) -> dict[str, Any]:
    parts = AnswerParts(Endpoint(model=MODEL, host=HOST, key=Secret("")))
    for delta in deltas:
        parts.feed(msgspec.json.encode({"choices": [{"delta": delta}]}))
    parts.feed(msgspec.json.encode({"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}))
    parts.text()
    own = parts.finished().own
    return msgspec.json.decode(own) if own else {}


def kept(message: dict[str, Any], *, of: str = MINE, calls: list[dict[str, Any]] | None = None) -> bytes:
    return msgspec.json.encode({"of": of, "message": message, "calls": calls or []})


def sent(
    *messages: dict[str, Any] | tuple[dict[str, Any], bytes], of: str = MINE, tools: bool = True, **form: Any
) -> Any:
    wires = [
        with_own(msgspec.json.encode(each[0]), each[1]) if isinstance(each, tuple) else msgspec.json.encode(each)
        for each in messages
    ]
    return [msgspec.json.decode(wire) for wire in adapted(wires, MessageForm(**form), of=of, tools=tools)]


def test_a_text_that_comes_in_pieces_is_one() -> None:
    own = own_of({"reasoning_content": "I "}, {"reasoning_content": "think"}, {"content": "so"})

    assert own == {"of": MINE, "message": {"reasoning_content": "I think"}}


def test_pieces_of_a_list_belong_together_by_their_index_and_type() -> None:
    def piece(index: int, **more: str) -> dict[str, Any]:
        return {"reasoning_details": [{"type": "reasoning.text", "index": index, **more}]}

    own = own_of(piece(0, text="a"), piece(0, text="b"), piece(1, text="c"), piece(0, signature="s"))

    assert own["message"]["reasoning_details"] == [
        {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"},
        {"type": "reasoning.text", "index": 1, "text": "c"},
    ]


def test_fields_of_each_call_are_kept_in_the_order_of_the_calls() -> None:
    signature = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    calls = [{"index": 0, **CALL}, {"index": 1, **CALL, "id": "other", **signature}]

    assert own_of({"tool_calls": calls[:1]}, {"tool_calls": calls[1:]})["calls"] == [{}, signature]


def test_what_everybody_knows_is_not_kept() -> None:
    plain = {"role": "assistant", "content": "so", "refusal": None, "annotations": [], "tool_calls": None}

    assert own_of(plain) == {}


def test_half_a_character_in_it_can_be_stored() -> None:
    assert own_of({"reasoning_content": "\\ud83d"}) != {}
    parts = AnswerParts(Endpoint(model=MODEL, host=HOST, key=Secret("")))
    parts.feed(b'{"choices":[{"delta":{"content":"hi","reasoning_content":"\\ud83d"},"finish_reason":"stop"}]}')
    parts.text()
    assert "\ufffd" in parts.finished().own.decode()


def test_the_model_that_gave_it_gets_it_back_and_no_other_does() -> None:
    answer = (CALLS, kept({"reasoning_content": "hm"}, calls=[{"extra": 1}]))

    mine, others = sent(USER, answer, RESULT), sent(USER, answer, RESULT, of=ANOTHERS)

    assert mine[1] == {**CALLS, "reasoning_content": "hm", "tool_calls": [{**CALL, "extra": 1}]}
    assert others == [USER, CALLS, RESULT]


def test_it_goes_back_with_the_turn_in_progress_or_with_all_or_with_none() -> None:
    answer = (CALLS, kept({"reasoning_content": "hm"}))
    messages = (USER, answer, RESULT, USER, answer, RESULT)

    given = {
        own: [("reasoning_content" in each) for each in sent(*messages, own=own)] for own in ("turn", "window", "none")
    }

    assert given == {
        "turn": [False] * 4 + [True, False],
        "window": [False, True, False, False, True, False],
        "none": [False] * 6,
    }


def test_calls_of_another_model_are_told_as_text_where_a_server_wants_its_own_fields_with_each_call() -> None:
    mine, others = (CALLS, kept({"reasoning_content": "hm"})), (CALLS | {"tool_calls": [CALL | {"id": "other"}]}, b"")
    result = RESULT | {"tool_call_id": "other"}
    as_text = [{"role": "assistant", "content": "[called time with {}]"}, {"role": "user", "content": "nine"}]

    whole = [USER, others, result, USER, mine, RESULT]

    assert sent(*whole, foreign="text", own="window")[1:3] == as_text
    assert [message["role"] for message in sent(*whole, foreign="text", own="turn")] == [
        message["role"] for message in sent(*whole)
    ]
    assert sent(USER, others, result, foreign="text", own="turn")[1:] == as_text
    assert sent(*whole, foreign="text", own="window")[4:] == sent(*whole)[4:]


def test_ids_of_calls_and_results_stay_together_in_nine_letters_and_digits() -> None:
    _, calls, result = sent(USER, CALLS, RESULT, ids="nine")

    assert calls["tool_calls"][0]["id"] == result["tool_call_id"] == nine(CALL["id"])
    assert len(nine(CALL["id"])) == 9
    assert nine(CALL["id"]).isalnum()
    assert nine("abcDEF123") == "abcDEF123"


def test_content_beside_calls_is_left_out_or_empty_or_null() -> None:
    said = {
        form: sent(USER, CALLS, RESULT, content=form)[1].get("content", "left out")
        for form in ("absent", "empty", "null")
    }

    assert said == {"absent": "left out", "empty": "", "null": None}


def test_instructions_and_neighbouring_messages_are_merged_where_a_chat_template_wants_it() -> None:
    system, picture = {"role": "system", "content": "be kind"}, [{"type": "image_url", "image_url": {"url": "x"}}]
    said, seen = {"role": "assistant", "content": "nine"}, {"role": "user", "content": picture}

    whole = [system, USER, said, said, CALLS, RESULT, seen, USER]

    assert [message["role"] for message in sent(*whole, alternate=True)] == [
        *("system", "user", "assistant", "assistant", "tool", "assistant", "user")
    ]
    assert sent(*whole, alternate=True)[6]["content"] == [*picture, {"type": "text", "text": USER["content"]}]
    assert sent(*whole, system="user")[:2] == [{"role": "user", "content": f"be kind\n\n{USER['content']}"}, said]
    assert sent(system, said, system="user") == [{"role": "user", "content": "be kind"}, said]


def test_pictures_become_a_word_where_none_are_taken() -> None:
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}

    assert sent(picture) == [picture]
    assert sent(picture, pictures=False)[0]["content"] == "[image]"


def test_a_server_without_tools_is_told_of_calls_and_results_in_words() -> None:
    told = sent(USER, {**CALLS, "content": "wait"}, RESULT, tools=False)

    assert told == [
        USER,
        {"role": "assistant", "content": "wait\n[called time with {}]"},
        {"role": "user", "content": "nine"},
    ]
