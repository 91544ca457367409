import pytest

from daemon.config import load
from daemon.errors import ConfigError
from tests.tables import each_row

TOKEN = "1234:abc_DEF-1"
BOT = f'type = "telegram"\ntoken = "{TOKEN}"\n'


def problems(tmp_path, text):
    file = tmp_path / "millpond.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load(file, environ={"HOME": str(tmp_path)})
    assert TOKEN not in str(caught.value)
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


@each_row(
    ("more", "path", "says"),
    [
        ('base_url = "api.telegram.org"', "base_url", "http://"),
        ('base_url = "https://u:p@host"', "base_url", "without a user"),
        ('webhook = { url = "http://host/x" }', "webhook.url", "https://"),
        ('webhook = { url = "https://host/x", secret = "no blanks" }', "webhook.secret", "letters"),
        ('reaction = "thumbs up please"', "reaction", "one emoji"),
    ],
)
def test_what_cannot_work_is_said(tmp_path, more, path, says):
    [problem] = problems(tmp_path, f"[channels.tg]\n{BOT}{more}\n")

    assert problem.startswith(f"channels.tg.{path}:")
    assert says in problem


def test_a_token_is_needed_and_one_of_another_form_is_refused(tmp_path):
    [missing] = problems(tmp_path, '[channels.tg]\ntype = "telegram"\n')
    [wrong] = problems(tmp_path, '[channels.tg]\ntype = "telegram"\ntoken = "hunter2"\n')

    assert "token_file" in missing
    assert "hunter2" not in wrong


def test_two_channels_cannot_be_the_same_bot_or_listen_at_one_place(tmp_path):
    hook = 'webhook = { url = "https://host/x" }'
    found = problems(tmp_path, f"[channels.a]\n{BOT}{hook}\n[channels.b]\n{BOT}{hook}\n")

    assert [line.split(":")[0] for line in found] == ["channels.b.token", "channels.b.webhook.port"]


def test_a_channel_that_is_off_may_be_unfinished(tmp_path):
    file = tmp_path / "millpond.toml"
    file.write_text('[channels.tg]\ntype = "telegram"\nenabled = false\n', encoding="utf-8")

    assert load(file, environ={"HOME": str(tmp_path)}).config.channels["tg"].enabled is False
