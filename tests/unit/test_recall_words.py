"""The words of texts and questions, as FTS5 finds one by the other."""

import datetime as dt
import sqlite3
import unicodedata
from typing import Literal

from hypothesis import example, given, settings
from hypothesis import strategies as st

from daemon.recall.chunks import history_chunks, memory_chunks, message_chunks
from daemon.recall.search_terms import TERMS_MAX, TOKENIZER, folded, indexed, match_expression, query_terms, terms
from daemon.recall.word_classes import CLASSES_MAX, LAST_CLASS, classes_of, is_class
from daemon.recall.word_forms import MAIN_FORM, WHOLE_MAX_CHARS, said_otherwise, stem
from tests.tables import each_row

PIECES = st.sampled_from(
    (
        *("Ann", "ann's", "museum", "went", "don't", "café", "ＣＡＦＥ", "3rd", "3,000", "C++", "10:30", "用Python，"),
        *("user_id", "v2.3.1", "/home/ann/notes.txt", "https://example.com/a?b=1", "ann@example.com", "getUserName"),
        *(
            "我的女儿", "叫什么名字", "图书馆", "コーヒー", "강아지", "𰻝𰻝面", "हिन्दी", "สวัสดี", "привет", "שלום",
            "مرحبا", "🎉",
        ),
        *("the", "what", "的", "AND", "NEAR(", '"', "*", "^", "-", ":", "(", ")", "\0", "\u200b", "\u202e", "\ud800"),
        *(" ", " ", " ", "\n", "\t", "。", "，", ".", "?", "__", "--", "..."),
    )
)  # fmt: skip
TEXTS = st.one_of(st.lists(PIECES, max_size=20).map("".join), st.text(max_size=60))


class Table:
    """One text in a real index."""

    def __init__(self, text: str) -> None:
        self._base = sqlite3.connect(":memory:")
        self._base.execute(f"create virtual table texts using fts5(text, tokenize='{TOKENIZER}')")
        self._base.execute("create virtual table kept using fts5vocab(texts, instance)")
        self._base.execute("insert into texts values (?)", [indexed(text)])

    def finds(self, *wanted: str) -> bool:
        return bool(
            self._base.execute("select 1 from texts where texts match ?", [match_expression(wanted)]).fetchall()
        )

    def holds(self) -> list[str]:
        return [term for (term,) in self._base.execute("select term from kept order by offset")]


@settings(deadline=None)  # SQLite makes an index each time
@given(TEXTS)
@example("\ud800")
@example('NEAR("a" b) AND NOT c*')
def test_the_index_holds_exactly_the_terms(text: str) -> None:
    assert Table(text).holds() == terms(text)


@settings(deadline=None)  # SQLite makes an index each time
@given(TEXTS)
def test_whatever_is_asked_is_answered(text: str) -> None:
    query = query_terms(text)

    for wanted in (query.terms, query.rest):
        if wanted:
            Table("museum").finds(*wanted)
            assert all(Table(text).finds(term) for term in {*wanted} - {*said_otherwise(folded(text))})


@given(TEXTS)
def test_a_question_finds_the_text_that_it_is(text: str) -> None:
    query = query_terms(text)

    assert set(query.terms) | set(query.rest) <= {*terms(text), *said_otherwise(folded(text))}
    assert bool(query.terms) == bool(terms(text))
    assert not set(query.terms) & set(query.rest)
    assert len(set(query.terms)) == len(query.terms) <= TERMS_MAX
    assert len(set(query.rest)) == len(query.rest) <= TERMS_MAX


@given(TEXTS)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]), TEXTS)
@example(form="NFKC", text="ＣＡＦＥ\x00Ann")
def test_how_letters_are_made_does_not_count(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> None:
    assert terms(unicodedata.normalize(form, text)) == terms(text)


@each_row(
    ("text", "asked"),
    [
        ("I went to the museums.", "go to a museum"),
        ("She bought three mice", "buying 3 mouse"),
        ("Ann’s mother", "Ann mum"),
        ("the color", "the colour"),
        ("café", "CAFE"),
        ("ｃａｆｅ", "café"),
        ("set user_id first", "user id"),
        ("set user_id first", "USER_ID"),
        ("call getUserName()", "user name"),
        ("since v2.3.1", "2.3.1"),
        ("since v2.3.1", "version 2.3"),
        ("see https://docs.example.com/guide/setup.html?x=1#top", "docs.example.com"),
        ("see https://docs.example.com/guide/setup.html?x=1#top", "setup.html"),
        ("see https://docs.example.com/guide/setup.html?x=1#top", "guide"),
        ("write to ann.b@example.com", "ann.b"),
        ("write to ann.b@example.com", "example.com"),
        (r"in C:\Users\ann\notes.txt", "notes.txt"),
        ("it is in /var/log/app.log", "/var/log/app.log"),
        ("my e-mail", "email"),
        ("my email", "e-mail"),
        ("I write C++", "c++"),
        ("it costs 3,000", "3000"),
        ("on June 3rd", "3 June"),
        ("my iPhone15", "iphone 15"),
        ("我喜欢用Python，不用JavaScript", "python"),
        ("我的女儿叫小雨", "女儿叫什么名字"),
        ("我买了一只猫", "我的猫呢"),
        ("我妈妈是医生", "母亲的名字"),
        ("我媽媽在臺灣開計程車", "妈妈开什么车"),
        ("我妈妈在台湾开出租车", "媽媽的計程車"),
        ("他的頭髮", "头发"),
        ("I bought a gift", "purchases"),
        ("Her holidays were long", "vacation"),
        ("𰻝𰻝面很好吃", "𰻝𰻝面"),
        ("コーヒーが好きです", "コーヒー"),
        ("ｺｰﾋｰが好きです", "コーヒー"),
        ("강아지를 키워요", "강아지"),
        ("हिन्दी में", "हिन्दी"),
        ("ฉันชอบกาแฟ", "กาแฟ"),
        ("мой кот", "КОТ"),
        ("كِتَاب", "كتاب"),
        ("I love 🍕!", "🍕?"),
        ("mu\u200bseum", "museum"),
    ],
)
def test_what_is_asked_is_found(text: str, asked: str) -> None:
    query = query_terms(asked)

    assert query.terms
    assert Table(text).finds(*query.terms)


@each_row(
    ("asked", "wanted"),
    [
        ("Do you remember what I told you about the museum?", ["museum"]),
        ("What's the name of Ann's dog?", ["name", "ann", "dog"]), ("What is it?", ["what", "is", "it"]),
        ("我的女儿叫什么名字", ["女", "女儿", "儿", "名", "名字", "字"]),
        ("怎么配置代理", ["配", "配置", "置", "置代", "代", "代理", "理"]),
        ("我的目的地是哪里？", ["目", "的目", "目的"]), ("你还记得我说过什么吗", ["你", "你还", "还"]), ("?!。，", []),
        ("", []), ("\0", []),
    ],
)  # fmt: skip
def test_a_question_is_asked_by_what_it_is_about(asked: str, wanted: list[str]) -> None:
    assert list(query_terms(asked).terms)[: len(wanted) or 1] == wanted


@each_row(
    ("asked", "told", "are_related"),
    [
        ("Which instrument does she play?", "Mia practises her violin.", True),
        ("Which instruments do you own?", "Two guitars and a drum", True),
        ("她会什么乐器", "她每晚练小提琴", True),
        ("Do you have pets?", "我养了一只猫", True),
        ("What is her phone number?", "她的微信是 mia88", True),
        ("Which instrument does she play?", "Mia swims.", False),
        ("她会什么乐器", "爸爸提着小桶", False),
        ("我会马上到", "我喜欢马匹", False),
    ],
)
def test_words_of_one_class_are_related(asked: str, told: str, are_related: bool) -> None:
    of_query = query_terms(asked).classes

    assert bool(of_query.keys() & classes_of(terms(told)).keys()) == are_related
    assert all(is_class(term) and term <= LAST_CLASS and its <= {*terms(asked)} for term, its in of_query.items())


def test_a_query_has_few_classes() -> None:
    query = query_terms("violin song cat apple carrot pizza cake tea oven tennis medal yoga tent beach hotel canvas")

    assert len(query.classes) == CLASSES_MAX
    assert not query_terms("the").classes


@each_row("form", sorted(MAIN_FORM))
def test_all_forms_of_a_word_are_one_term(form: str) -> None:
    assert stem(form) == stem(MAIN_FORM[form]), "the main form of one line is another form in a second line"


def test_a_word_within_a_name_is_not_the_name() -> None:
    assert not Table("JavaScript").finds(*query_terms("Java").terms)
    assert not Table("user id").finds(terms("user_id")[0])
    assert not Table("C").finds(terms("C++")[0])


def test_of_a_long_question_its_ends_are_asked() -> None:
    paste = " ".join(f"word{number}" for number in range(15_000))
    query = query_terms(f"museum? {paste} Lisbon")

    assert len(query.terms) == TERMS_MAX
    assert query.terms[0] == "museum"
    assert query.terms[-1] == "lisbon"


@each_row("sign", [*'"*^:(){}+-\0 ', "AND", "OR", "NOT", "NEAR"])
def test_no_sign_of_fts5_means_anything_in_a_question(sign: str) -> None:
    assert match_expression([sign]) in ("", f'"{sign.replace(chr(0), "")}"', '""""')
    assert not Table("museum").finds("lisbon", f"x{sign}x")


def test_a_chinese_sign_is_looked_for_with_the_grammar_beside_it_too() -> None:
    asked = set(query_terms("我们看了哪部电影").terms)

    assert {"看", "看了", "电影"} <= asked
    assert not {"了", "我们", "我"} & asked
    # What is nothing but "now" is grammar.
    assert set(query_terms("现在谁领导团队").terms).isdisjoint({"现在", "现", "在"})


@each_row(
    "text",
    [
        *(
            sign * 20_000
            for sign in (" ", ".", "a", "/", "#", "[", "\n", "!", "1", "_", "上", "十", "汉", "的", "🎉", "カ", "한")
        ),
        *(
            pair * 10_000
            for pair in ("1.", "1,", "a-", "a'", "aA", "A1", "a_", "v1", "in ", "3 ", "--", ".a", "[?", "# ", "。 ")
        ),
        *("a" + "\u0301" * 20_000, "v" + "1.1" * 8_000 + "x", "http://" + "a/" * 10_000, "# " + " " * 20_000 + "x"),
    ],
)
def test_a_long_text_gives_few_short_terms(text: str) -> None:
    """A text on which a pattern goes back and forth would hang for minutes."""
    now = dt.datetime(2026, 11, 22, tzinfo=dt.UTC)

    assert len(query_terms(text, now).terms) <= TERMS_MAX
    assert all(len(term) <= WHOLE_MAX_CHARS for term in terms(text))
    message_chunks(text, session="s", index=0)
    history_chunks(text, line=1)
    memory_chunks(text)
