"""Extracts every sentence that a person reads, with its file and line, from pages, Python and the page's files."""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeGuard

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("readme", "docs", "bot", "page", "errors")
PACKAGES = ("daemon", "channels", "workers")
WORDINGS = (
    "daemon/wording/*wording.py",
    "daemon/*words.py",
    "channels/command_menu.py",
)  # modules with the bot's own sentences

NOT_READ = (
    "channels/web/page/page-language.js",
    "daemon/bus/permissions.py",
    "daemon/model/offline_consolidation.py",
    "daemon/recall/index/index_files.py",
    "daemon/recall/other_dates.py",
    "daemon/recall/search_terms.py",
    "daemon/recall/word_classes.py",
    "daemon/recall/word_forms.py",
    "daemon/reminders/time_words.py",
    "daemon/session/artificial_session.py",
    "workers/consolidation/audit/fact_extraction.py",
)
"""Modules with lists of words, names of languages, commands, SQL or made-up messages, which are no text of Millpond."""

MATCHED = {
    ("channels/slack/slack_events.py", "NO_TEXT"),
    ("channels/telegram/api_types.py", "HOPELESS"),
    ("daemon/model/setup_faults.py", "_CREDIT"),
    ("daemon/model/setup_faults.py", "_TLS"),
    ("daemon/server/launch.py", "CUT_OFF"),
}
"""Constants with phrases that Millpond searches for in messages of other programs."""

COMMANDS = re.compile(r"\b(command|group)\b")  # decorators that turn a docstring into help

END = re.compile(r"""(?<=[.!?])["')*_]*\s+(?=[A-Z0-9`*"'(\[{<])|\n\n+|\n(?=[/-] ?)""")
LINE_END = re.compile(END.pattern + r"|\n| {2,}")  # in a string of a program, where each line is a text of its own
CHINESE = re.compile(r"[\u3000-\u9fff\uff00-\uffef]")
CODE = re.compile(
    r"\\[sdwb(\[.]|\(\?|^(SELECT|FROM|INSERT|UPDATE|DELETE|CREATE|PRAGMA|DROP|ALTER|BEGIN)\b|\w\[\w|\w\(\)|\w ?\| ?\w"
)

CELL_END = r"(?<!\\)\|"  # in a row of a table
ITEM = re.compile(r" *([-*+]|\d{1,2}\.) ")

COUNTED = re.compile(r"\{(\w+):[^{}|]*\|([^{}|]*)\}")  # a number with its noun, in singular and plural
FORMAT = re.compile(r"\{(\w+)[:!][^{}]*\}")  # a placeholder with the format of its value


class Sentence(NamedTuple):
    kind: str  # one of ``KINDS``
    path: str  # relative to the repository
    line: int
    text: str
    context: str = ""  # the heading, command, key or whole message that a person sees around the sentence


def sentences() -> list[Sentence]:
    """All sentences, in the order of kinds, files and lines."""
    found = [*_pages(), *_python(), *_browser(), *_alerts()]
    return sorted(found, key=lambda each: (KINDS.index(each.kind), each.path, each.line))


def _pages() -> Iterator[Sentence]:
    pages = {"README.md": "readme", "CHANGELOG.md": "docs", "deploy/README.md": "docs"}
    pages |= {path.relative_to(ROOT).as_posix(): "docs" for path in (ROOT / "docs").rglob("*.md")}
    for name, kind in pages.items():
        yield from of_markdown(kind, name, (ROOT / name).read_text(encoding="utf-8"))


def _python() -> Iterator[Sentence]:
    bot = {path for pattern in WORDINGS for path in ROOT.glob(pattern)}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if name not in NOT_READ:
                yield from of_python("bot" if path in bot else "errors", name, path.read_text(encoding="utf-8"))


def _browser() -> Iterator[Sentence]:
    folder = ROOT / "channels" / "web" / "page"
    own = [path for path in folder.glob("*.js") if not path.name.endswith(".min.js")]  # without libraries
    for path in sorted([*own, *folder.glob("*.html")]):
        of = of_script if path.suffix == ".js" else of_html
        if (name := path.relative_to(ROOT).as_posix()) not in NOT_READ:
            yield from of("page", name, path.read_text(encoding="utf-8"))


def _alerts() -> Iterator[Sentence]:
    name = "deploy/prometheus/alerts.yaml"
    for line, text in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
        if found := re.match(r' *(?:summary|description): "?(.*?)"?$', text):
            yield from split("docs", name, line, re.sub(r"\{\{.*?\}\}", "{value}", found[1]))


def split(
    kind: str, path: str, line: int, text: str, ends: re.Pattern[str] = END, context: str = ""
) -> Iterator[Sentence]:
    at = 0
    for end in [*ends.finditer(text), None]:
        part = text[at : end.start() if end else len(text)]
        start = at + len(part) - len(part.lstrip())
        plain = _flat(part).strip("*_ ")
        if (
            re.search(r"[A-Za-z]{2}", plain)
            and not CHINESE.search(plain)
            and not plain.startswith(("curl ", "millpond "))
        ):
            around = "" if context.strip(" ./") == plain.strip(" ./") else context
            yield Sentence(kind, path, line + text.count("\n", 0, start), plain, around)
        at = end.end() if end else at


def _flat(text: str) -> str:
    return " ".join(text.split())


# Pages


def of_markdown(kind: str, path: str, text: str) -> Iterator[Sentence]:
    """Sentences of a page: paragraphs, headings, list items and table cells, without code and addresses of links."""
    source = text.splitlines()
    headings: list[str] = []
    for line, block in _blocks(text):
        plain = re.sub(r"(`[^`]*`)|</?[a-z][^>`]*>|\*\*", lambda found: found[1] or "", block)
        shown = re.sub(r"!?\[((?:`[^`]*`|[^]`])*)\]\([^)]*\)", r"\1", plain)
        level = len(source[line - 1]) - len(source[line - 1].lstrip("#"))
        if level:
            headings = headings[: level - 1]
        around = [*headings, *(each for each in _labels(source, line, block) if each != shown.strip()), _flat(shown)]
        yield from split(kind, path, line, shown, context=" › ".join(around))
        if level:
            headings.append(shown)


def _labels(source: list[str], line: int, block: str) -> list[str]:
    """What a reader sees beside a cell or an item: the row, the column, or the sentence that begins the list."""
    at = top = line - 1
    if not source[at].lstrip().startswith("|"):
        return _list_intro(source, at)
    while top and source[top - 1].lstrip().startswith("|"):
        top -= 1
    cells, heads = _cells(source[at]), _cells(source[top])
    column = cells.index(block.strip())
    return [each for each in (cells[0], heads[column] if column < len(heads) and at > top else "") if each]


def _list_intro(source: list[str], at: int) -> list[str]:
    """The end of the paragraph before a list, if ``at`` is a line of an item and the paragraph ends in a colon."""
    if not ITEM.match(source[at]):
        return []
    while at and (not source[at].strip() or source[at].startswith(" ") or ITEM.match(source[at])):
        at -= 1
    first = next((line for line in range(at, 0, -1) if not source[line - 1].strip()), 0)
    return [_flat(re.split(END, "\n".join(source[first : at + 1]))[-1])] if source[at].endswith(":") else []


def _cells(row: str) -> list[str]:
    return [each.strip() for each in re.split(CELL_END, row.strip().strip("|"))]


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    lines: list[str] = []
    first, fence, code, blank = 1, "", False, True
    for number, line in enumerate([*text.splitlines(), ""], 1):
        mark = re.match(r" *(```|~~~)", line)
        if mark and (not fence or mark[1] == fence):
            fence = "" if fence else mark[1]
        code = not fence and line.startswith("    ") and (code or blank) and not re.match(r" +([-*+]|\d+\.) ", line)
        item = re.match(r" *(?:[-*+]|\d{1,2}\.) +|#+ +|> ?", line)
        is_row = line.lstrip().startswith("|")
        if lines and (item or is_row or fence or mark or code or not line.strip()):
            yield first, "\n".join(lines)
            lines = []
        blank = not line.strip()
        if is_row and not fence and not re.fullmatch(r"[ |:-]+", line):
            yield from ((number, cell) for cell in _cells(line) if cell)
        elif not (fence or mark or code or blank or is_row):
            first = first if lines else number
            lines.append(line[item.end() :] if item else line)
            if line.startswith("#"):
                yield first, lines.pop()


# Python


def of_python(kind: str, path: str, text: str) -> Iterator[Sentence]:
    """Sentences in the strings of a module, and in the help of its commands, without other docstrings."""
    tree = ast.parse(text)
    helping = {
        node.body[0].value for node in ast.walk(tree) if _is_command(node) and isinstance(node.body[0], ast.Expr)
    }
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            skipped.update({node.value} - helping)
        if isinstance(node, ast.JoinedStr):
            skipped.update(child for value in node.values for child in ast.walk(value))
        if isinstance(node, ast.Dict):
            skipped.update(key for key in node.keys if key)
        if isinstance(node, ast.Assign) and (path, ast.unparse(node.targets[0])) in MATCHED:
            skipped.update(ast.walk(node.value))
        if isinstance(node, ast.Compare):
            skipped.update([node.left, *node.comparators])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
            skipped.update(node.args)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        said = FORMAT.sub(r"{\1}", COUNTED.sub(r"{\1} \2", _said(node))) if node not in skipped else ""
        if len(re.findall(r"[A-Za-z']{2,}", said)) >= 3 and re.search(r"[a-z] [a-z]", said) and not CODE.search(said):
            ends = END if node in helping else LINE_END
            context = said if kind == "bot" else _around(node, said, parents)
            yield from split(kind, path, getattr(node, "lineno", 1), said, ends, _flat(context))


NO_LABELS = frozenset({"description", "properties", "items", "help", "text", "type", "state"})
"""Keys of dictionaries and parameters that say nothing to a reader about the text that they hold."""

LABEL_MAX_CHARS, WHOLE_MAX_CHARS = 40, 400
"""Length of a string that names a thing, and of a string that belongs to the same message."""


def _around(node: ast.AST, said: str, parents: dict[ast.AST, ast.AST]) -> str:
    """The command, option, key or parameter that a string belongs to, and the message of which the string is a part."""
    labels: list[str] = []
    while (parent := parents.get(node)) and not isinstance(parent, ast.Module):
        match parent:
            case ast.Call(args=args, keywords=keywords):
                found = [_said(value) for value in [*args, *(each.value for each in keywords)]]
                near = LABEL_MAX_CHARS if labels else WHOLE_MAX_CHARS
                labels = [*(text for text in found if 0 < len(text) <= near and text != said), *labels]
            case ast.Dict(keys=keys, values=values) if node in values:
                key = _said(keys[values.index(node)])
                labels = [key, *labels] if key and key not in NO_LABELS else labels
            case ast.FunctionDef(name=name) if _is_command(parent):
                labels = [f"command {name.strip('_')}", *labels]
            case _:
                pass
        node = parent
    return " › ".join(_flat(text) for text in [*labels, said])


def _is_command(node: ast.AST) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and any(
        COMMANDS.search(ast.unparse(decorator)) for decorator in node.decorator_list
    )


def _said(node: ast.AST) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        shown: dict[str, list[str]] = {}
        return "".join(_part(value, shown) for value in node.values)
    return ""


def _part(value: ast.expr, shown: dict[str, list[str]]) -> str:
    """Text, or a name in braces with a number if ``shown`` has the name for another value."""
    if isinstance(value, ast.FormattedValue):
        chosen = value.value.body if isinstance(value.value, ast.IfExp) else value.value
        if said := _said(chosen):
            return said
        name = _name(chosen).strip("_") or "value"
        same = shown.setdefault(name, [])
        if ast.unparse(chosen) not in same:
            same.append(ast.unparse(chosen))
        at = same.index(ast.unparse(chosen))
        return "{" + name + (f"_{at + 1}" if at else "") + "}"
    return str(value.value) if isinstance(value, ast.Constant) else ""


def _name(value: ast.AST) -> str:
    """The name of the thing that an expression shows: ``names`` of ``', '.join(sorted(names))``."""
    match value:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))) if not name.startswith("__"):
            return name
        case ast.Call(args=[first, *_]) if _name(first):
            return _name(first)
        case ast.Call(func=ast.Attribute(value=owner)) if _name(owner) not in ("", "self"):
            return _name(owner)
        case ast.Constant():
            return ""
        case _:
            return next((name for part in ast.iter_child_nodes(value) if (name := _name(part))), "")


# The page

STRING = r"""'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*\""""
INNER = r"`(?:\\.|\$\{[^{}`]*\}|[^`\\])*`"
TEMPLATE = rf"`(?:\\.|\$\{{(?:[^{{}}`]|\{{[^{{}}]*\}}|{INNER})*\}}|[^`\\])*`"
PATTERN = r"(?<=[(,=:\[!&|?{};])\s*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+/[a-z]*"
TOKEN = re.compile(rf"(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>{STRING}|{TEMPLATE})|{PATTERN}", re.DOTALL)
NO_TEXT = re.compile(
    r"^[\w-]*[.#][\w.#${}?:-]|^[/?&#.]|^\[|^[a-z ]{40,}$|^[a-z0-9_+#./\s-]{200,}$|^\s*1c abnf |^mp-|^input, |^table, |"
    r"^\((pointer|max-width|min-width)|^noopener|^(journalctl|docker) |\| grep "
)
"""Selectors, paths, commands and lists of words."""


def of_script(kind: str, path: str, text: str, line: int = 1) -> Iterator[Sentence]:
    """Sentences in the strings of a script, and words that stand alone and begin with a capital letter."""
    for token in TOKEN.finditer(text):
        if not (quoted := token["text"]):
            continue
        here = line + text.count("\n", 0, token.start())
        said = re.sub(r"\$\{(?:[^{}`]|\{[^{}]*\}|" + INNER + r")*\}", "{value}", quoted[1:-1])
        if quoted[0] == "`":
            for inner in re.findall(r"\$\{((?:[^{}`]|\{[^{}]*\}|" + INNER + r")*)\}", quoted):
                yield from of_script(kind, path, inner, here)
        is_label = re.fullmatch(r"[A-Z][a-z]+", said)
        words = re.findall(r"[A-Za-z']{2,}", said)
        is_text = len(words) > 1 and {*words} != {"value"} and " " in said and not NO_TEXT.search(said)
        if is_label or is_text:
            start, end = text.rfind("\n", 0, token.start()) + 1, text.find("\n", token.end())
            beside = re.findall(r'\bt\("((?:\\.|[^"\\])+)"', text[start:end]) if quoted[0] != "`" else []
            around = [Path(path).stem, *(beside if said in beside else [said])]
            yield from split(kind, path, here, said, context=" › ".join(around))


def of_html(kind: str, path: str, text: str) -> Iterator[Sentence]:
    for found in re.finditer(r'aria-label="([^"]+)"|>([^<>]*[A-Za-z][^<>]*)<', text):
        yield from split(kind, path, 1 + text.count("\n", 0, found.start()), found[1] or found[2])


def unique(found: Iterable[Sentence]) -> list[Sentence]:
    return list({each.text: each for each in reversed(list(found))}.values())[::-1]
