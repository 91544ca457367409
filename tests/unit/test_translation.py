"""The command line in Chinese: each answer and error has a translation, and each translation has its values."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from daemon.translation import chinese, templates
from tests.tables import each_row

ROOT = Path(__file__).resolve().parents[2] / "daemon"
CHANNELS = ROOT.parent / "channels"
BOT_CHECKS = ROOT.parent / "workers/agent/bot_checks.py"

SAID = frozenset(["say", "tell", "echo", "_say", "UsageError", "BadParameter", "confirm"])
"""Functions whose first argument a person reads."""
FINDINGS = frozenset(["ok", "warning", "error"])
"""Functions of the doctor whose second argument a person reads."""
RAISING = (
    *(
        "archive",
        "bus",
        "cli",
        "config",
        "data",
        "jobs",
        "operators",
        "people",
        "server",
        "session",
        "setup",
        "transcripts",
    ),
    "sessionkey.py",
)
"""Rooms whose errors the command line prints."""

SENTENCE = re.compile(r"[A-Za-z]{3,} [a-z{(]")
ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}")
"""A part of a sentence that is not translated."""
COMMAND = re.compile(r"`[^`]*`")

CODE = re.compile(
    r"(?:millpond|Valkey|Redis) \{\}.*|bots\.\{\}.*|the script \{\}|messages \{\} to \{\} of session .*|"
    r"values of type \{\} cannot be encoded|\{\} is not a type of the configuration|"
    r"only \{\} of these \{\} messages can be oversized.*|\{\}\. Choose fewer oversized messages.*|"
    r"millpond: \{\}|channels\.\{\}.*|module \{\} has no attribute \{\}"
)
"""Names, versions and errors of programmers stay English."""

UNSPOKEN = frozenset(["generate_command.py"])
"""A command of developers."""

ASKING = frozenset(["text", "secret", "choice"])
"""Functions of the setup that ask a person."""

ASSEMBLED = re.compile(
    r"No such |Missing |Got unexpected|Invalid value|Option \{\}|\{\} is not (?:a valid|one of)|\{\} \(in |"
    r"\{\}, such as|unknown key; \{\}|expected \{\}, got|New in |Imported into |"
    r"Not imported, because|a number \(in "
)
"""Texts of the library click, and texts that are assembled from parts."""


def template(node: ast.expr) -> str:
    """The text of an expression, with ``{}`` for each value in it; empty for other expressions."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values)
    if isinstance(node, ast.BinOp) and (template(node.left) or template(node.right)):
        return (template(node.left) or "{}") + (template(node.right) or "{}")
    return ""


def read_by_people(path: Path) -> Iterator[str]:
    """Texts that the command line prints."""
    for node in ast.walk(parsed(path)):
        found: list[ast.expr] = []
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            found = node.exc.args[:1]
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            asks = name in ASKING and ("setup" in path.parts or path.name == "init_command.py")
            found = node.args[:1] if name in SAID or asks else node.args[1:2] if name in FINDINGS else []
        for each in found:
            parts = [each.body, each.orelse] if isinstance(each, ast.IfExp) else [each]
            yield from (text for part in parts if SENTENCE.search(text := template(part)))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def questions_and_findings() -> Iterator[tuple[Path, str]]:
    """Texts of the configuration, and of the setup of a platform and its examination: steps, questions, problems and
    findings."""
    paths = *ROOT.glob("setup/**/*interview.py"), *ROOT.glob("config/*.py"), *CHANNELS.glob("*/health_check.py")
    for path in sorted(set(paths) - {ROOT / "config/config_output.py"}):  # of which the output is TOML
        tree, known = parsed(path), set[int]()
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr | ast.JoinedStr):  # a docstring, and the pieces of a text
                known |= {id(each) for each in ast.iter_child_nodes(node)}
            text = template(node) if isinstance(node, ast.Constant | ast.JoinedStr) else ""
            if id(node) not in known and SENTENCE.search(text):
                yield path, text


def is_translated(text: str) -> bool:
    """Whether all of a text is; a template for texts that are assembled may fit a part of another one."""
    return chinese(text) != text and not ENGLISH.search(COMMAND.sub("", chinese(text)))


def files(room: str) -> list[Path]:
    return [ROOT / room] if room.endswith(".py") else sorted((ROOT / room).rglob("*.py"))


def test_each_answer_and_each_error_of_the_command_line_is_translated() -> None:
    texts = {
        f"{path.name}: {text}"
        for room in RAISING
        for path in files(room)
        if path.name not in UNSPOKEN
        for text in read_by_people(path)
        if text not in templates() and not CODE.fullmatch(text)
    }
    texts |= {
        f"{path.name}: {text}"
        for path, text in questions_and_findings()
        if not is_translated(text) and not CODE.fullmatch(text)
    }
    texts |= {text for text in read_by_people(BOT_CHECKS) if not is_translated(text)}

    assert sorted(texts) == []


def test_each_translation_belongs_to_a_text_of_the_program() -> None:
    known = {
        template(node)
        for path in (
            *ROOT.rglob("*.py"),
            *CHANNELS.glob("*/health_check.py"),
            CHANNELS / "discord/gateway_session.py",
            BOT_CHECKS,
        )
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp)
    }
    headless = {text for text in templates() if " " in text or "{}" in text}

    assert [text for text in sorted(headless - known) if not ASSEMBLED.match(text)] == []


def test_a_translation_has_the_values_of_its_text() -> None:
    for text, said in templates().items():
        assert sorted(set(re.findall(r"\{(\d)\}", said))) == [str(at) for at in range(text.count("{}"))], text


@each_row(
    "text, said",
    [
        ("reminder k3f9ab is paused", "提醒 k3f9ab 已暂停"),
        (
            "session web:x already has 3 unanswered messages. Send the message again later.",
            "会话 web:x 已有3 条没有回答的消息。请稍后重新发送消息。",
        ),
        (
            "the configuration has errors:\n  bots.pond.time_zone: expected an IANA time zone, got 'X', such as Europe/"
            "Berlin (in a.toml)\n  a.b: set it",
            "配置有错误：\n  bots.pond.time_zone: 应为 IANA 时区，现在是 'X'，例如 Europe/Berlin（位于 a.toml）\n"
            "  a.b: set it",
        ),
        (
            # A template neither covers several lines nor divides the sentence after the name of a key.
            "the configuration has errors:\n  queue.lease_s: expected a number of seconds above 0, got 0 (in a.toml)\n"
            "  bots.pond.web.search_url: this setting is missing. Set the address of your SearXNG server, such as "
            "http://127.0.0.1:8888\n  bots.pond.env: the list contains only one identity. List at least two identities "
            "to link (in a.toml)",
            "配置有错误：\n  queue.lease_s: 应为大于 0 的秒数，现在是 0（位于 a.toml）\n"
            "  bots.pond.web.search_url: 缺少这个设置。请填写你的 SearXNG 服务器的地址，例如 http://127.0.0.1:8888\n"
            "  bots.pond.env: 列表中只有一个身份。请至少列出两个要关联的身份（位于 a.toml）",
        ),
        ("a text of nobody", "a text of nobody"),
        (
            "  Slack rejected the token (token_revoked). Copy the whole token again.",
            "  Slack 拒绝了令牌（token_revoked）。请重新复制完整的令牌。",
        ),
    ],
)
def test_a_text_is_translated_with_its_values(text: str, said: str) -> None:
    assert chinese(text) == said
