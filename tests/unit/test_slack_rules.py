"""What must hold of channels of type ``slack``, and how that is said."""

import pytest

from daemon.config import load
from daemon.errors import ConfigError
from tests.tables import each_row

BOT, APP, SECRET = "xoxb-1-2-AbC", "xapp-1-A01-2-beef", "8f742231b10e8888abcd99yyyzzz85a5"
SLACK = f'type = "slack"\nbot_token = "{BOT}"\n'
SOCKET = f'app_token = "{APP}"\n'
HTTP = f'signing_secret = "{SECRET}"\nevents = {{ url = "https://host/x" }}\n'


def loaded(tmp_path, text):
    file = tmp_path / "millpond.toml"
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")
    return load(file, environ={"HOME": str(tmp_path)})


def problems(tmp_path, text):
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text)
    assert not any(secret in str(caught.value) for secret in (BOT, APP, SECRET))
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


@each_row("more", [SOCKET, HTTP, SOCKET + HTTP, SOCKET + 'reaction = "eyes"', SOCKET + 'reaction = "👀"'])
def test_a_socket_or_an_address_to_be_called_at_will_do(tmp_path, more):
    assert loaded(tmp_path, f"[channels.acme]\n{SLACK}{more}\n").warnings == ()


@each_row(
    ("more", "path", "says"),
    [
        ("", "app_token", "connections:write"),
        ('app_token = "xoxb-1"', "app_token", "(xapp-…)"),
        ('events = { url = "https://host/x" }', "signing_secret", "App Credentials"),
        (
            'signing_secret = "xapp-1-2"\nevents = { url = "https://host/x" }',
            "signing_secret",
            "is a token or part of a token",
        ),
        (f'signing_secret = "{SECRET}"\nevents = {{ url = "http://host/x" }}', "events.url", "https://"),
        (SOCKET + 'base_url = "slack.com/api"', "base_url", "http://"),
        (SOCKET + 'base_url = "https://u:p@slack.com"', "base_url", "without a user"),
        (SOCKET + 'reaction = "thumbs up, please"', "reaction", "one emoji"),
    ],
)
def test_what_cannot_work_is_said(tmp_path, more, path, says):
    [problem] = problems(tmp_path, f"[channels.acme]\n{SLACK}{more}\n")

    assert problem.startswith(f"channels.acme.{path}:")
    assert says in problem


@each_row(
    ("token", "says"),
    [
        ("", "Install App"),
        ("hunter2", "(xoxb-…)"),
        (APP, "(xoxb-…)"),
        ("xoxp-1-2", "a user token"),
        ("xoxe.xoxb-1-2", "create a new app"),
    ],
)
def test_a_bot_s_token_is_needed_and_another_one_is_told_by_its_kind(tmp_path, token, says):
    [problem] = problems(tmp_path, f'[channels.acme]\ntype = "slack"\nbot_token = "{token}"\n{SOCKET}')

    assert problem.startswith("channels.acme.bot_token:")
    assert says in problem
    assert not token or token not in problem


def test_one_app_in_two_workspaces_shares_its_socket_or_its_listener(tmp_path):
    second = 'type = "slack"\nbot_token = "xoxb-3"\n'
    heard = f'signing_secret = "{SECRET}"\n'

    assert loaded(tmp_path, f"[channels.a]\n{SLACK}{SOCKET}\n[channels.b]\n{second}{SOCKET}").warnings == ()
    assert loaded(tmp_path, f"[channels.a]\n{SLACK}{HTTP}\n[channels.b]\n{second}{heard}").warnings == ()
    assert loaded(tmp_path, f"[channels.a]\n{SLACK}{HTTP}\n[channels.b]\n{second}{HTTP}").warnings == ()
    [alone] = problems(tmp_path, f"[channels.a]\n{SLACK}{SOCKET}\n[channels.b]\n{second}{heard}")
    assert alone.startswith("channels.b.app_token:")


def test_a_workspace_has_one_section_and_a_port_one_listener(tmp_path):
    telegram = '[channels.tg]\ntype = "telegram"\ntoken = "1:a"\nwebhook = { url = "https://host/tg", port = 8789 }\n'
    other = 'type = "slack"\nbot_token = "xoxb-3"\nsigning_secret = "00000000"\nevents = { url = "https://host/y" }\n'
    elsewhere = f'type = "slack"\nbot_token = "xoxb-4"\nsigning_secret = "{SECRET}"\nevents = {{ url = "https://h/z" }}'

    twice = problems(tmp_path, f"[channels.a]\n{SLACK}{SOCKET}\n[channels.b]\n{SLACK}{SOCKET}")
    apart = problems(tmp_path, f"[channels.a]\n{SLACK}{HTTP}\n[channels.b]\n{elsewhere}\n")
    ports = problems(tmp_path, f"[channels.a]\n{SLACK}{HTTP}\n[channels.b]\n{other}")
    taken = problems(tmp_path, f"{telegram}[channels.a]\n{SLACK}{HTTP}")

    assert [line.split(":")[0] for line in (*twice, *apart, *ports, *taken)] == [
        "channels.b.bot_token",
        "channels.b.events",
        "channels.b.events.port",
        "channels.a.events.port",
    ]


def test_a_channel_that_is_off_may_be_unfinished(tmp_path):
    config = loaded(tmp_path, '[channels.acme]\ntype = "slack"\nenabled = false\n').config

    assert config.channels["acme"].enabled is False
