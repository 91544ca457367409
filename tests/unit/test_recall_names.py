"""Names of people, found in Chinese characters by pinyin and in pinyin by Chinese characters."""

from hypothesis import given
from hypothesis import strategies as st

from daemon.recall.chinese_characters import SIMPLIFIED, simplified
from daemon.recall.chunks import message_chunks
from daemon.recall.index.index_store import NOWHERE, FeedPosition, Index
from daemon.recall.index.ranking import ranked
from daemon.recall.search_terms import query_terms
from tests.tables import each_row

TOLD = (
    "我和张伟去了海边。",
    "张晓明送了我一本书。",
    "歐陽修寫了一首詩。",
    "今天张开了一把伞，章鱼很好吃。",
    "I met Zhang Min at the harbor.",
    "Li Xiaolong can cook.",
    "She is quite a wei of tea.",
)


@each_row(
    ("asked", "found"),
    [
        ("Where was Zhang Wei?", [0]),
        ("zhangwei在哪里", [0]),
        ("Wei Zhang", [0]),
        ("What did Zhang Xiaoming give me?", [1]),
        ("Xiaoming Zhang", [1]),
        ("ouyang xiu", [2]),
        ("张敏在哪里", [4]),
        ("張敏", [4]),
        ("李小龙", [5]),
        ("Wang Hong", []),
    ],
)
def test_a_name_finds_the_same_name_in_the_other_script(asked: str, found: list[int]) -> None:
    index = Index.in_memory(forgets=0)
    chunks = [chunk for at, text in enumerate(TOLD) for chunk in message_chunks(text, session="web:ann", index=at)]
    index.feed("log", NOWHERE, FeedPosition(1, "last"), lambda _, write: write.chunks.extend(chunks))

    best = index.ask(lambda connection: ranked(connection, query_terms(asked), limit=5))[:1]

    assert [row - 1 for row, _ in best] == found
    index.close()


@given(st.text(st.sampled_from([*map(chr, SIMPLIFIED), *SIMPLIFIED.values(), "a"])))
def test_a_simplified_text_has_the_length_of_the_text_and_stays_as_it_is(text: str) -> None:
    assert len(simplified(text)) == len(text)
    assert simplified(simplified(text)) == simplified(text)
