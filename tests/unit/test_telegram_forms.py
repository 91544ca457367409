from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it.token import Token

from channels.telegram.markdown import CODE, Utf16Text, entities_of, length, parser
from channels.telegram.text_forms import CAPTION_MAX, TEXT_MAX, captions_of, fits, forms_of, rich_of
from channels.text.formulas import formulas, readable
from tests.tables import each_row

NASTY = ["**", "*", "_", "__", "`", "```", "~~", "[", "](", ")", "\n", "\n\n", "> ", "- ", "1. ", "# ", "|", "|-|"]
ORDINARY = ["<b>", " ", "a", "word", "😀", "👨‍👩‍👧", "é", "$", "==", "http://e.x", "\t", "\\", "&amp;"]
markdown = st.lists(st.sampled_from([*NASTY, *ORDINARY]), max_size=30).map("".join)


def shown(text: str) -> tuple[str, list[dict[str, object]]]:
    return entities_of(parser().parse(text))


def rich(text: str) -> str:
    tokens: list[Token] = parser().parse(text)
    return rich_of(text, tokens)


@each_row("text", ["hello", "two\nlines", "a\n\nb", "2 * 3 = 6", "snake_case_name", "5 < 6 & 7"])
def test_what_is_no_markdown_is_sent_as_it_is(text):
    [form] = forms_of(text)

    assert (form.fields, form.rich) == ({"text": text}, False)


def test_markdown_has_three_forms_of_which_the_last_is_what_was_written():
    rich_form, entity_form, plain = forms_of("**a** `b`")

    assert rich_form.rich
    assert rich_form.fields == {"rich_message": {"markdown": "**a** `b`"}}
    assert entity_form.fields["text"] == "a b"
    assert plain.fields == {"text": "**a** `b`"}


@each_row(
    "text, rich, shown",
    [
        (r"so \(a_1^2\)!", "so $a_1^2$!", "so a₁²!"),
        ("$$\n\\frac{a+b}{2}\n$$", r"$$\frac{a+b}{2}$$", "(a+b)/2"),
        (r"**it** is \[x = \sqrt{2}\] then", r"**it** is $x = \sqrt{2}$ then", "it is x = √2 then"),
        (r"| f |" + "\n|---|\n" + r"| $|x| < 1$ |", r"| $\vert x\vert  \lt  1$ |", "|x| < 1"),
        ("$a*b*c = d_1$", "$a*b*c = d_1$", "a*b*c = d₁"),
        (r"\[\int_0^\infty e^{-x}\,dx = \pi\]", r"$$\int_0^\infty e^{-x}\,dx = \pi$$", "∫₀^∞ e^(-x) dx = π"),
    ],
)
def test_formulas_are_typeset_in_rich_messages_and_read_as_text_elsewhere(text: str, rich: str, shown: str):
    rich_form, entity_form, plain = forms_of(text)
    [caption, *_] = captions_of(text)

    assert rich in rich_form.fields["rich_message"]["markdown"]
    assert shown in entity_form.fields["text"]
    assert shown in caption.fields["caption"]
    assert plain.fields["text"] == text


@each_row(
    "text",
    [
        "from $5 to $10 = $15", "A=$B; C=$D", r"- \[x\] done, see \[1\]", "`$a=b$`", "```\n$a=b$\n```", "$HOME_DIR$",
        "\\(" * 500, "$$a=\n\n$$",
    ],
)  # fmt: skip
def test_prices_code_and_escapes_are_no_formulas(text: str):
    assert formulas(text) == []


@given(st.lists(st.sampled_from(["\\frac", "{", "}", "^", "_", "[", "]", "x", "\\sqrt", "\\", " ", "\\begin"])))
@settings(max_examples=60)
def test_every_formula_reads_as_a_line(signs):
    assert "\n" not in readable("".join(signs))


def test_every_kind_of_markup_has_its_entity():
    text, entities = shown("**b** *i* ~~s~~ `c` [l](https://e.x/)\n\n> q\n\n```py\np\n```\n\n# h")

    assert text == "b i s c l\n\nq\n\np\n\nh"
    units = Utf16Text(text)
    assert [(each["type"], units.cut(each["offset"], each["offset"] + each["length"])) for each in entities] == [
        ("bold", "b"), ("italic", "i"), ("strikethrough", "s"), ("code", "c"), ("text_link", "l"), ("blockquote", "q"),
        ("pre", "p"), ("bold", "h"),
    ]  # fmt: skip
    assert entities[6]["language"] == "py"


def test_lists_stand_below_each_other():
    text, _ = shown("- a\n- b\n  1. c\n  2. d\n- e\n\nend")

    assert text == "• a\n• b\n  1. c\n  2. d\n• e\n\nend"


def test_a_table_is_set_in_columns():
    text, [entity] = shown("| a | b |\n|---|---|\n| 你好 | x |")

    assert text == "a    | b\n-----+--\n你好 | x"
    assert entity["type"] == "pre"


def test_an_address_that_nobody_can_open_is_no_link():
    assert shown("[a](javascript:x) [b](file:///etc)")[1] == []


@given(markdown)
@settings(max_examples=40)
def test_entities_lie_in_the_text_nest_and_stay_out_of_code(text):
    said, entities = shown(text)
    units = length(said)
    assert said == said.strip()
    spans = [(each["offset"], each["offset"] + each["length"], each["type"]) for each in entities]
    for begin, end, _ in spans:
        assert 0 <= begin < end <= units
    for at, (begin, end, kind) in enumerate(spans):
        for other_begin, other_end, other in spans[at + 1 :]:
            apart = other_begin >= end
            assert apart or other_end <= end, "entities overlap"
            assert apart or not CODE & {kind, other}, "an entity inside of code"
            assert apart or begin <= other_begin


@given(markdown)
@settings(max_examples=40)
def test_every_text_has_a_last_form_that_shows_it_whole(text):
    forms = forms_of(text)

    assert not forms[-1].rich
    assert "entities" not in forms[-1].fields
    if text.strip():
        # A link whose target is to be seen gets a blank (``channels.link_spoofing``).
        assert forms[-1].fields["text"].replace(" ", "") == text.replace(" ", "")
    assert all(form.rich or length(form.fields["text"]) <= TEXT_MAX for form in forms)


@each_row(
    ("text", "expected"),
    [
        ("it costs $5 or $6", r"it costs \$5 or \$6"), ("`$HOME` and **$x**", r"`$HOME` and **\$x**"),
        ("a\nb", "a  \nb"), ("a  \nb\\\nc", "a  \nb  \nc"), ("> a\n> b", "> a  \n> b"), ("- a\n  b", "- a  \n  b"),
        ("<b>x</b> <https://e.x> 1 < 2", r"\<b>x\</b> <https://e.x> 1 \< 2"),
        ("![p](https://e.x/p.png) ![](u)", "[p](https://e.x/p.png) [image](u)"),
        ("==m== ||s||", r"\=\=m\=\= \|\|s\|\|"), ("```\n$a\n<b>\nc\n```", "```\n$a\n<b>\nc\n```"),
        ("    $indented", "    $indented"),
        ("| a | $b |\n|---|---|\n| $1 | `$2` |", "| a | \\$b |\n|---|---|\n| \\$1 | `$2` |"),
        ("<details>\nx\n</details>", "\\<details>  \nx  \n\\</details>"),
    ],
)  # fmt: skip
def test_signs_of_the_platforms_own_mean_nothing(text, expected):
    assert rich(text) == expected


@given(markdown)
@settings(max_examples=40)
def test_rich_markdown_has_as_many_lines_as_the_text(text):
    assert rich(text).count("\n") == text.count("\n")


def test_what_is_too_much_for_a_rich_message_is_not_tried():
    wide = "|" + "a|" * 21 + "\n|" + "-|" * 21
    many = "\n\n".join("**a**" for _ in range(600))

    assert not fits(parser().parse(wide))
    assert not fits(parser().parse(many))
    assert not any(form.rich for form in (*forms_of(wide), *forms_of(many)))


def test_an_empty_text_is_not_sent_empty():
    assert forms_of(" \n")[-1].fields["text"].strip()


def test_a_lone_surrogate_can_be_encoded():
    [form] = forms_of("a\ud83d")

    assert form.fields["text"].encode()


def test_a_caption_that_is_too_long_is_none():
    assert captions_of("x" * (CAPTION_MAX + 1)) == []
    assert [form.fields for form in captions_of("**x**")] == [
        {"caption": "x", "caption_entities": [{"type": "bold", "offset": 0, "length": 1}]},
        {"caption": "**x**"},
    ]
    assert [form.fields for form in captions_of("")] == [{}]
