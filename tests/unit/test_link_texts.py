"""Links that name another address than their target; the tricks are those that readers fall for."""

from channels.link_spoofing import honest
from channels.slack.text_forms import clean
from channels.telegram.text_forms import forms_of
from tests.tables import each_row


@each_row(
    ("text", "shown"),
    [
        ("[https://bank.com](https://evil.com)", "[https://bank.com] (https://evil.com)"),
        ("[bank.com](<https://evil.com>)", "[bank.com] (<https://evil.com>)"),
        ("[Log in at BANK.com.](http://evil.com/bank.com)", "[Log in at BANK.com.] (http://evil.com/bank.com)"),
        ("[https://bank.com](http://bank.com)", "[https://bank.com] (http://bank.com)"),
        ("[bank.com/a](https://bank.com/b)", "[bank.com/a] (https://bank.com/b)"),
        ("[bank.capital/login](https://evil.com)", "[bank.capital/login] (https://evil.com)"),
        ("[10.0.0.1](https://10.0.0.2)", "[10.0.0.1] (https://10.0.0.2)"),
        # A part before the @, encoded signs, a host that only begins alike
        ("[bank.com](https://bank.com@evil.com)", "[bank.com] (https://bank.com@evil.com)"),
        ("[bank.com](https://bank.com%2Fa@evil.com)", "[bank.com] (https://bank.com%2Fa@evil.com)"),
        ("[bank.com](https://%62ank.com.evil.com)", "[bank.com] (https://%62ank.com.evil.com)"),
        (r"[bank.com](https://bank.com\.evil.com)", r"[bank.com] (https://bank.com\.evil.com)"),
        ("[bank.com](https://bank.com&#46;evil.com)", "[bank.com] (https://bank.com&#46;evil.com)"),
        # Other letters: the name that is looked up is shown
        ("[apple.com](https://аррӏе.com/x)", "[apple.com] (https://xn--80ak6aa92e.com/x)"),
        ("[аррӏе.com](https://xn--80ak6aa92e.com)", "[аррӏе.com] (https://xn--80ak6aa92e.com)"),
        ("[bank．com](https://evil.com)", "[bank．com] (https://evil.com)"),
        ("[bank。com](https://evil.com)", "[bank。com] (https://evil.com)"),
        ("[bank.\u200bcom](https://evil.com)", "[bank.\u200bcom] (https://evil.com)"),
        ("[bank.\ufe0fcom](https://evil.com)", "[bank.\ufe0fcom] (https://evil.com)"),
        # Markup, entities and code within the text
        ("[ba**nk**.com](https://evil.com)", "[ba**nk**.com] (https://evil.com)"),
        ("[bank&#46;com](https://evil.com)", "[bank&#46;com] (https://evil.com)"),
        ("[`]` bank.com](https://evil.com)", "[`]` bank.com] (https://evil.com)"),
        ("[bank.com `[` x](https://evil.com)", "[bank.com `[` x] (https://evil.com)"),
        ("![bank.com](https://evil.com/x.png)", "![bank.com] (https://evil.com/x.png)"),
        (f"[bank.com{'x ' * 200}](https://evil.com)", f"[bank.com{'x ' * 200}] (https://evil.com)"),
        ("[bank.com\n](https://evil.com 'x')", "[bank.com\n] (https://evil.com 'x')"),
        # Targets that stand elsewhere, and those that do something
        ("[bank.com]\n\n[bank.com]: https://evil.com", "[bank.com]\n\n[bank.com] : https://evil.com"),
        ("> [1]:\n> <https://evil.com> 'x'", "> [1]:\n> <https://evil.com> 'x'"),
        ("[a@bank.com](mailto:a@evil.com)", "[a@bank.com] (mailto:a@evil.com)"),
        ("[Pay](tg://resolve?domain=x)", "[Pay] (tg://resolve?domain=x)"),
        (r"[Pay](TG\:resolve)", r"[Pay] (TG\:resolve)"),
        ("[x](javascript:alert)", "[x] (javascript:alert)"),
    ],
)  # fmt: skip
def test_a_link_whose_text_names_another_address_shows_both(text, shown):
    assert honest(text) == shown


@each_row(
    "text",
    [
        "[the bank](https://bank.com/login) [bank.com](https://www.bank.com/login) [bank.com.](https://bank.com.)",
        "[https://bank.com/a](https://bank.com/a/) [a@bank.com](mailto:a@bank.com) [HTTPS://BANK.com](https://bank.com)",
        "[Node.js](https://nodejs.org) [`asyncio.run`](https://docs.python.org/3) [e.g. 1.5](https://e.x)",
        "[A (b)](https://e.x/A_(b)) https://bank.com <https://evil.com> [ ] [x]",
        "[bank.com](https://ba",
        "for each in found[1:]:\n    calls[0](each)\nif a[0]:\n    b",
    ],
)
def test_other_links_and_code_stay_as_they_are(text):
    assert honest(text) == text


def test_platforms_get_no_link_that_names_another_address():
    text = "**[https://bank.com](https://evil.com)**"
    rich, entities, plain = forms_of(text)

    for form in (rich.fields["rich_message"]["markdown"], entities.fields["text"], plain.fields["text"], clean(text)):
        assert "[https://bank.com] (https://evil.com)" in form
    assert [each["type"] for each in entities.fields["entities"]] == ["bold"]
    assert clean("see <https://evil.com|https://bank.com>") == "see <\u2060https://evil.com|https://bank.com>"
    assert clean("<https://e.x> <slack://open>") == "<https://e.x> <\u2060slack://open>"


@each_row("text", ["**Pay** {}", "`{}` **a**", r"\`{}\`", "`\n\n{}\n\n`", "x{}"])
def test_an_address_that_acts_within_telegram_is_text(text):
    for form in forms_of(text.format("TG://resolve?domain=x")):
        said = form.fields.get("text") or form.fields["rich_message"]["markdown"]
        assert "TG:\u2060//resolve" in said


def test_a_name_in_punycode_is_shown_as_it_was_written():
    _, entities, _ = forms_of("<https://xn--80ak6aa92e.com>")

    assert entities.fields["text"] == "https://xn--80ak6aa92e.com"
