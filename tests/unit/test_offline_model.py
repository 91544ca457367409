import re

import anyio
import msgspec
from hypothesis import given
from hypothesis import strategies as st

from daemon.config.schema import ModelConfig
from daemon.config.secret import Secret
from daemon.model import RUNTIME_CONTEXT, Answer, Request, TextChunk, connect
from daemon.model import offline_model as offline_module
from daemon.model.offline_consolidation import best, consolidation, is_question, language_of, sentences, terms
from daemon.model.offline_model import OfflineModel
from daemon.wording import text
from tests.steps import calls_of, grows_evenly
from tests.tables import each_row


def wire(role: str, content: object, **fields: object) -> bytes:
    return msgspec.json.encode({"role": role, "content": content, **fields})


def tool(name: str) -> bytes:
    return msgspec.json.encode({"type": "function", "function": {"name": name, "parameters": {}}})


SYSTEM = wire("system", "You are pond.")
OKAY = wire("assistant", "Okay.")


async def ask(*messages: bytes, tools=(), force_tool="", model=None) -> tuple[Answer, list[str]]:
    request = Request(messages=messages, tools=tools, force_tool=force_tool, max_completion_tokens=100)
    chunks = [chunk async for chunk in (model or OfflineModel()).stream(request)]
    *pieces, answer = chunks
    assert isinstance(answer, Answer)
    assert all(isinstance(piece, TextChunk) for piece in pieces)
    assert "".join(piece.text for piece in pieces) == answer.text
    return answer, [piece.text for piece in pieces]


async def reply(*messages: bytes, **options) -> str:
    answer, _ = await ask(SYSTEM, *messages, **options)
    return answer.text


async def test_without_key_and_address_the_offline_model_answers():
    model = await connect(ModelConfig())

    assert isinstance(model, OfflineModel)
    assert model.name == "offline"
    await model.aclose()


async def test_with_a_key_a_real_model_answers():
    model = await connect(ModelConfig(api_key=Secret("k"), name="gpt-5"))

    assert (type(model).__name__, model.name) == ("OpenAIModel", "gpt-5")
    await model.aclose()


@each_row(("said", "language"), [("Hello!", "en"), ("你好", "zh"), ("good morning Millpond", "en")])
async def test_a_greeting_is_greeted_back_in_its_language(said, language):
    assert await reply(OKAY, wire("user", said)) == text("offline_greeting", language)


@each_row(("said", "language"), [("Hello!", "en"), ("你好", "zh"), ("123", "en")])
async def test_the_first_answer_of_a_session_says_what_is_answering_and_how_to_change_it(said, language):
    first = await reply(wire("user", said))
    second = await reply(wire("user", said), wire("assistant", first), wire("user", said))

    assert first.startswith(text("offline_label", language))
    assert "`millpond init`" in first
    assert "`millpond init`" not in second


async def test_a_message_without_letters_is_answered_in_the_bots_language():
    assert await reply(OKAY, wire("user", "42"), model=OfflineModel(language="zh")) == "你说：42"


@each_row(("said", "echo"), [("It rains.", "You said: It rains."), ("今天下雨", "你说：今天下雨")])
async def test_anything_else_is_repeated(said, echo):
    assert await reply(OKAY, wire("user", said)) == echo


@each_row(
    ("told", "asked", "answer"),
    [
        ("记住我的偏好：我喜欢用Python，不用JavaScript", "我刚才说喜欢什么语言？", "Python"),
        ("My daughter's name is Anna.", "What is my daughter's name?", "Anna"),
        ("We met. My daughter's name is Anna! It rained.", "what's the name of my daughter", "Anna"),
        ("我的女儿叫小雨。", "我的女儿叫什么名字？", "小雨"),
        ("I prefer porridge for breakfast.", "What did I say I prefer for breakfast?", "porridge"),
        ("The code of the garden gate is 4711", "What was the code of the gate?", "4711"),
    ],
)
async def test_what_was_said_before_is_recalled(told, asked, answer):
    small_talk = [wire("user", "Nice weather for a walk."), OKAY, wire("user", "今天天气很好"), OKAY]

    said = await reply(*small_talk, wire("user", told), OKAY, *small_talk, wire("user", asked))

    assert answer in said


async def test_the_memory_in_the_system_prompt_is_recalled_and_skills_are_not():
    sections = ["You are pond, a dog of a bot.", "# Memory\n\n- The dog is called Rex.", "# Skills\n\nA dog skill."]
    system = "\n\n---\n\n".join(sections)

    answer, _ = await ask(wire("system", system), OKAY, wire("user", "What is the dog called?"))

    assert answer.text == text("offline_memory", "en", text="The dog is called Rex.")


async def test_relevant_memory_is_recalled():
    system = (
        "You are pond.\n\n---\n\n## Relevant Memory\n\n- **[d1]** (MEMORY.md) [0.87]\n  The server lives in Zurich."
    )

    answer, _ = await ask(wire("system", system), OKAY, wire("user", "Where does the server live?"))

    assert "Zurich" in answer.text


async def test_memory_beside_the_runtime_context_is_recalled():
    context = (
        f"{RUNTIME_CONTEXT}\nTime: Friday\n## Memory Changes\nMEMORY.md changed.\n+ - The dog is called Rex.\n"
        "## Relevant Memory\nFound by a search.\n- **[d1]** (MEMORY.md) [0.87]\n  The server lives in Zurich.\n\n"
    )

    dog, _ = await ask(OKAY, wire("user", f"{context}What is the dog called?"))
    server, _ = await ask(OKAY, wire("user", f"{context}Where does the server live?"))

    assert "Rex" in dog.text
    assert "Zurich" in server.text


async def test_runtime_context_and_speaker_are_not_taken_for_the_persons_words():
    context = f"{RUNTIME_CONTEXT}\nTime: Friday\nChat: x\n\n"

    merged = await reply(OKAY, wire("user", context + "[Ann] hello"))
    listed = await reply(
        OKAY,
        wire("user", [{"type": "text", "text": context}, {"type": "text", "text": "It rains."}, {"type": "image_url"}]),
    )

    assert merged == text("offline_greeting", "en")
    assert listed == "You said: It rains."


async def test_a_message_without_words_is_answered():
    assert await reply(OKAY, wire("user", [{"type": "image_url", "image_url": {"url": "x"}}]))
    assert (await ask())[0].text


@each_row(
    ("said", "name", "arguments"),
    [
        ("What time is it?", "time", "{}"),
        ("现在几点？", "time", "{}"),
        ("Please use the time tool.", "time", "{}"),
        ("使用 read_file 工具", "read_file", "{}"),
        ('call read_file with {"path": "a {b}.txt"}', "read_file", '{"path": "a {b}.txt"}'),
        ("call read_file with {broken}", "read_file", "{broken}"),
    ],
)
async def test_a_tool_is_called_when_asked_for(said, name, arguments):
    answer, _ = await ask(SYSTEM, wire("user", said), tools=(tool("read_file"), tool("time")))

    (call,) = answer.tool_calls
    assert (call.name, call.arguments) == (name, arguments)


@each_row("said", ["What time is it?", "call read_file", "I use the time well"])
async def test_a_tool_that_is_not_there_is_not_called(said):
    answer, _ = await ask(SYSTEM, wire("user", said), tools=(tool("other"),))

    assert answer.tool_calls == ()
    assert answer.text


async def test_a_call_has_the_same_id_for_the_same_request_and_another_one_later():
    said = wire("user", "What time is it?")

    first, again, later = [
        (await ask(SYSTEM, *messages, tools=(tool("time"),)))[0].tool_calls[0].id
        for messages in ([said], [said], [said, OKAY, said])
    ]

    assert first == again != later


async def test_results_of_tools_are_told():
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": name}} for n, name in enumerate(["time", "dice"])]
    steps = [wire("assistant", None, tool_calls=calls), wire("tool", "12:00", tool_call_id="c0")]

    said = await reply(wire("user", "go"), *steps, wire("tool", "6", tool_call_id="c1"))

    assert said.endswith("The tool time returned: 12:00\nThe tool dice returned: 6")
    assert said.startswith(text("offline_label", "en"))


REQUEST = """Process this conversation and call the save_memory tool with your consolidation.

## Current Long-term Memory
# Memory

- I am Bob.

## Conversation to Process
[2026-03-01 10:00] USER: 记住我的偏好：我喜欢用Python，不用JavaScript
[2026-03-01 10:01] ASSISTANT [tools: a, b]: I have done so.
[2026-03-01 10:02] USER: My name is Ann. What is this?
It rains.
[?] USER: [Carl] I have a dog"""


async def test_consolidation_keeps_the_memory_and_adds_what_people_said_of_themselves():
    answer, _ = await ask(wire("system", "Consolidate."), wire("user", REQUEST), force_tool="save_memory")

    (call,) = answer.tool_calls
    saved = msgspec.json.decode(call.arguments)
    assert answer.text == ""
    assert saved["memory_update"].splitlines() == [
        "# Memory",
        "",
        "- I am Bob.",
        "- 记住我的偏好：我喜欢用Python，不用JavaScript",
        "- My name is Ann.",
        "- Carl: I have a dog",
    ]
    assert re.match(r"\[2026-03-01 10:00\] .*Python.*Ann.*It rains", saved["history_entry"])
    assert "I have done so" not in call.arguments


def test_consolidating_the_same_twice_adds_nothing():
    once = consolidation(REQUEST)
    twice = consolidation(REQUEST.replace("# Memory\n\n- I am Bob.", once["memory_update"]))

    assert twice["memory_update"] == once["memory_update"]


def test_a_fact_that_is_the_beginning_of_another_is_kept():
    conversation = "## Conversation to Process\n[2026-01-01 00:00] USER: I like tea"
    request = f"## Current Long-term Memory\n- I like teapots\n\n{conversation}"

    assert consolidation(request)["memory_update"] == "- I like teapots\n- I like tea"


def test_an_empty_memory_with_nothing_new_stays_empty():
    request = "## Current Long-term Memory\n(empty)\n\n## Conversation to Process\n[2026-01-01 00:00] USER: It rains"

    saved = consolidation(request)

    assert saved["memory_update"] == ""
    assert saved["history_entry"].startswith("[2026-01-01 00:00] ")


@given(st.text(max_size=300), st.text(max_size=300))
def test_consolidation_never_drops_a_line_of_the_memory(memory, conversation):
    memory = memory.replace("##", "").strip()
    request = f"## Current Long-term Memory\n{memory}\n\n## Conversation to Process\n{conversation}"

    assert consolidation(request)["memory_update"].startswith(memory if memory != "(empty)" else "")


async def test_a_memory_flush_stores_nothing():
    flush = wire("user", "Review the recent conversation.\nReply with NO_REPLY if there is nothing to store")

    assert await reply(flush) == "NO_REPLY"


@each_row("said", ["count to 12", "Please count up to 12.", "数到12"])
async def test_counting_streams_one_number_a_piece(said, monkeypatch):
    monkeypatch.setattr(offline_module, "COUNT_PAUSE_S", 0)

    answer, pieces = await ask(SYSTEM, OKAY, wire("user", said))

    assert answer.text == " ".join(map(str, range(1, 13)))
    assert len(pieces) == 12


async def test_counting_pauses_ends_somewhere_and_can_be_cancelled():
    stream = OfflineModel().stream(
        Request(messages=[OKAY, wire("user", "count to 999999999")], max_completion_tokens=1)
    )
    heard = []

    began = anyio.current_time()
    with anyio.CancelScope() as scope:
        async for chunk in stream:
            heard.append(chunk)
            if len(heard) == 3:
                scope.cancel()

    assert scope.cancelled_caught
    assert len(heard) == 3
    assert anyio.current_time() - began >= 2 * offline_module.COUNT_PAUSE_S


async def test_chinese_is_streamed_by_a_few_characters():
    _, pieces = await ask(SYSTEM, OKAY, wire("user", "今天下雨我们在家里看书"))

    assert len(pieces) >= 4


def test_an_answer_on_many_messages_costs_few_steps_a_message():
    async def answer(request):
        assert [chunk async for chunk in OfflineModel().stream(request)]

    def answer_on(count):
        history = [wire("user" if n % 2 else "assistant", f"message {n}: I like horses") for n in range(count)]
        anyio.run(answer, Request(messages=[*history, wire("user", "What do I like?")], max_completion_tokens=100))

    assert grows_evenly(answer_on, 200)
    assert calls_of(lambda: answer_on(200)) < 200 * 15


async def test_a_long_history_is_read_in_a_thread():
    history = [wire("user", "I like horses and gardens. " * 40) for _ in range(100)]

    assert "horses" in await reply(*history, OKAY, wire("user", "Do I like horses?"))


def test_sentences_end_at_marks_and_lines_but_not_inside_numbers():
    assert list(sentences("- Pi is 3.14. Good！好。\n> yes")) == ["Pi is 3.14.", "Good！", "好。", "yes"]


def test_terms_are_stems_and_pairs_without_function_words():
    assert terms("What are my daughter's names?") == terms("name of the daughters")
    assert terms("我刚才说喜欢什么语言？") == {"喜欢", "语言"}


def test_the_newest_of_equal_sentences_is_the_best_and_a_question_never():
    assert (
        best("Where is the key?", ["The key is here.", "The key is there.", "Where is the key now?"])
        == "The key is there."
    )


@given(st.text(max_size=200))
def test_every_term_stands_in_its_text(said):
    assert all(term in said.lower() for term in terms(said))


@given(st.text(max_size=500))
async def test_any_text_is_answered(said):
    assert (await ask(SYSTEM, OKAY, wire("user", said), tools=(tool("time"),)))[0]


@each_row(("said", "expected"), [("Is it?", True), ("你是谁", True), ("It is.", False), ("第三个", False)])
def test_questions_are_recognised(said, expected):
    assert is_question(said) is expected


def test_the_language_is_that_of_the_letters():
    assert (language_of("我用Python", "en"), language_of("hm", "zh"), language_of("1", "zh")) == ("zh", "en", "zh")
