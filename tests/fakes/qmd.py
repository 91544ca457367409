"""A fake of the program ``qmd`` 2.8.3, for tests: what Millpond uses of it, and every way in which it may go wrong.

``install`` makes a program of it. It finds words as QMD does: a line of words where all of them stand, each as the
beginning of a word, a run of Chinese as it stands; what several lines find is joined by the places in their lists.
How it misbehaves is told in the file ``how.json`` beside the program: by command, one of ``HOWS``. What it was told is
noted in ``calls.jsonl``.
"""

import contextlib
import json
import os
import re
import signal
import stat
import sys
import time
import zlib
from pathlib import Path
from typing import Any

HOWS: dict[str, str] = {
    "garbage": "prints bytes that are no text",
    "talk": "prints a sentence",
    "nothing": "prints nothing",
    "cut": "prints the first half of its answer",
    "object": "prints an object in place of a list",
    "numbers": "prints a list of numbers",
    "no_file": "leaves the file of each result out",
    "text_score": "gives the score as a text",
    "null": "prints null",
    "deep": "prints a hundred thousand brackets",
    "flood": "prints without end",
    "complain": "prints complaints without end, and never answers",
    "grumble": "prints 10 MB of complaints, then answers",
    "log": "prints log lines before and behind its answer",
    "status": "ends with status 1, and repeats what it was asked",
    "crash": "dies by SIGSEGV, as under Node.js 20",
    "stubborn": "never ends, and ignores SIGTERM",
    "silent": "closes its output and never ends",
    "child": "never ends, nor does what it has started",
    "left": "answers and ends, while what it has started holds its output open",
    "held": "answers once there is a file ``go`` in its folder",
    "strangers": "finds documents that nobody gave it",
    "wild": "gives scores that are none",
}

JOINED_AT = 60  # the constant of what joins lists (QMD: reciprocalRankFusion)
LIST_MAX = 20

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"


# For tests


class Installed:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = str(folder / "qmd")

    def misbehaves(self, **how: str) -> None:
        """From now on, by command; none: it works."""
        draft = self.folder / "how.draft"
        draft.write_text(json.dumps(how))
        draft.replace(self.folder / "how.json")

    @property
    def calls(self) -> list[dict[str, Any]]:
        """What it was told so far: ``words``, ``environment``, ``pid``."""
        path = self.folder / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def told(self, command: str) -> list[dict[str, Any]]:
        return [call for call in self.calls if call["words"][0] == command]

    def left(self) -> list[int]:
        notes = (self.folder / "children").read_text().split() if (self.folder / "children").exists() else []
        return [pid for pid in (*(call["pid"] for call in self.calls), *map(int, notes)) if _runs(pid)]


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        with contextlib.suppress(OSError):
            os.kill(pid, 0)
            return not Path("/proc/self").exists()
        return False
    return state != "Z"


def install(folder: Path) -> Installed:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "qmd"
    # -S and -E: it starts in 15 ms; imported it is not compiled each time.
    path.write_text(
        f"#!{sys.executable} -SE\nimport sys\nfrom pathlib import Path\nsys.path[0] = {str(Path(__file__).parent)!r}\n"
        f"import qmd\n\nqmd.main(Path({str(folder.resolve())!r}), sys.argv[1:])\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return Installed(folder)


# The program


def main(folder: Path, words: list[str]) -> None:
    with (folder / "calls.jsonl").open("a") as calls:
        calls.write(json.dumps({"words": words, "environment": dict(os.environ), "pid": os.getpid()}) + "\n")
    how_file = folder / "how.json"
    how = json.loads(how_file.read_text()) if how_file.exists() else {}
    wrong = how.get(words[0] if words else "", "")
    assert not wrong or wrong in HOWS, wrong
    before(folder, wrong, words)
    positionals, options = parsed(words)
    run(positionals, options, wrong)


def before(folder: Path, wrong: str, words: list[str]) -> None:  # noqa: PLR0912 - a list of what can go wrong
    match wrong:
        case "flood":
            while True:
                sys.stdout.write("[" * 65_536)
        case "complain":
            while True:
                sys.stderr.write("e" * 65_536)
        case "grumble":
            for _ in range(100):
                sys.stderr.write("e" * 100_000)
        case "status":
            fail(f"Error: {words}")
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
        case "silent":
            os.close(1)
            os.close(2)
            time.sleep(600)
        case "child" | "left":
            child = os.spawnvp(os.P_NOWAIT, "sleep", ["sleep", "600"])
            with (folder / "children").open("a") as notes:
                notes.write(f"{child}\n")
            if wrong == "child":
                time.sleep(600)
        case "held":
            while not (folder / "go").exists():
                time.sleep(0.01)
        case _:
            pass


def parsed(words: list[str]) -> tuple[list[str], dict[str, Any]]:
    """As ``parseArgs`` of Node.js does it with what QMD tells it."""
    valued = {"index", "name", "mask", "format", "n", "c", "timeout"}
    positionals, options, rest = list[str](), dict[str, Any](), iter(words)
    for word in rest:
        if not word.startswith("-"):
            positionals.append(word)
            continue
        name, has, value = word.lstrip("-").partition("=")
        options[name] = value if has else next(rest) if name in valued else True
    return positionals, options


def run(positionals: list[str], options: dict[str, Any], wrong: str) -> None:
    if "version" in options:
        say("qmd 2.8.3 (fa4e000)\n", wrong)
        return
    index = Index(str(options.get("index", "index")))
    match positionals:
        case ["collection", "add", folder]:
            index.add(Path(folder), str(options.get("name")), str(options.get("mask", "**/*.md")))
            say(f"Creating collection '{options.get('name')}'...\n", wrong)
        case ["update"]:
            say(index.update(), wrong)
        case ["embed"]:
            say(index.embed(), wrong)
        case ["query", query]:
            rows = index.query(query, options)
            say(json.dumps(misshapen(rows, wrong), indent=2) + "\n", wrong)
        case _:
            fail(f"Unknown command: {positionals}")


def say(text: str, wrong: str) -> None:
    match wrong:
        case "garbage":
            sys.stdout.buffer.write(bytes(range(255, 0, -1)) * 20)
            return
        case "talk":
            text = "Something went well.\n"
        case "nothing":
            text = ""
        case "cut":
            text = text[: len(text) // 2]
        case "deep":
            text = "[" * 100_000
        case "log":
            text = f"[node-llama-cpp] a line of a log\n{text}[node-llama-cpp] bye\n"
        case _:
            pass
    sys.stdout.write(text)


def misshapen(rows: list[dict[str, Any]], wrong: str) -> Any:  # noqa: PLR0911 - as above
    match wrong:
        case "object":
            return {"results": rows}
        case "numbers":
            return [row["score"] for row in rows]
        case "no_file":
            return [{name: value for name, value in row.items() if name != "file"} for row in rows]
        case "text_score":
            return [{**row, "score": "high"} for row in rows]
        case "null":
            return None
        case "strangers":
            return [{**row, "file": f"qmd://zqm/../../etc/passwd{at}"} for at, row in enumerate(rows)]
        case "wild":
            far = {"contributions": [{"rrfContribution": -1e300, "weight": 0}, {"rrfContribution": 1e300}]}
            return [{**row, "score": 1e308, "explain": {"vectorScores": [-7, 1e9], "rrf": far}} for row in rows]
        case _:
            return rows


def fail(why: str) -> None:
    sys.stderr.write(f"{why}\n")
    sys.stdout.flush()
    sys.exit(1)


class Index:
    """A named index: its collection, its documents."""

    def __init__(self, name: str) -> None:
        cache, config = Path(os.environ["XDG_CACHE_HOME"]) / "qmd", Path(os.environ["QMD_CONFIG_DIR"])
        cache.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.config = config / f"{name}.yml"
        self.path = cache / f"{name}.sqlite"
        try:
            self.held: dict[str, Any] = json.loads(self.path.read_text()) if self.path.exists() else {}
        except ValueError:
            fail("SqliteError: file is not a database")
        self.collections: dict[str, Any] = json.loads(self.config.read_text()) if self.config.exists() else {}

    def add(self, folder: Path, name: str, mask: str) -> None:
        if name in self.collections:
            fail(f"Collection '{name}' already exists.")
        if not folder.is_dir():
            fail("Collection path does not exist.")
        self.collections[name] = {"path": str(folder), "pattern": mask}
        self.config.parent.mkdir(parents=True, exist_ok=True)
        self.config.write_text(json.dumps(self.collections))
        self.update()

    def update(self) -> str:
        if not self.collections:
            return "No collections found. Run 'qmd collection add .' to index markdown files.\n"
        vectors = self.held.get("vectors", [])
        documents = {
            f"{name}/{path.relative_to(collection['path'])}": path.read_text()
            for name, collection in self.collections.items()
            for path in sorted(Path(collection["path"]).glob(collection["pattern"]))
            if not path.name.startswith(".")
        }
        self._keep({"documents": documents, "vectors": [name for name in vectors if name in documents]})
        return "All collections updated.\n"

    def embed(self) -> str:
        bare = [name for name in self.held["documents"] if name not in self.held["vectors"]]
        if not bare:
            return "✓ All content hashes already have embeddings.\n"
        some = bare[:2]
        self._keep({**self.held, "vectors": [*self.held["vectors"], *some]})
        return f"✓ Done! Embedded {len(some)} chunks from {len(some)} documents in 1s\n"

    def _keep(self, held: dict[str, Any]) -> None:
        draft = self.path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(held))
        draft.replace(self.path)
        self.held = held

    def query(self, query: str, options: dict[str, Any]) -> list[dict[str, Any]]:
        if options.get("c") not in self.collections:
            fail(f"Collection not found: {options.get('c')}")
        if options.get("format") != "json":
            fail("only JSON is made here")
        lists = [(line, found) for line in lines_of(query) if (found := self._line(*line)[:LIST_MAX])]
        rows = joined(lists)[: int(options.get("n", 20))]
        for at, row in enumerate(rows, 1):
            row["docid"] = f"#{zlib.crc32(row['file'].encode()):08x}"[:7]
            row["score"] = round(1 / at, 2)
            row["file"] = f"qmd://{row['file']}?index={self.name}"
            row |= {"line": 1, "title": "", "snippet": "@@ -1,1 @@ (0 before, 0 after)\n"}
            if "explain" not in options:
                del row["explain"]
        return rows

    def _line(self, kind: str, text: str) -> list[tuple[str, float]]:
        found: list[tuple[str, float]] = []
        for name, document in self.held.get("documents", {}).items():
            if kind == "lex" and (count := matches(text, document)):
                found.append((name, count / (20 + len(document))))
            if kind == "vec" and name in self.held["vectors"]:
                found.append((name, likeness(text, document)))
        return sorted(found, key=lambda each: -each[1])


def lines_of(query: str) -> list[tuple[str, str]]:
    lines = [line.strip() for line in query.split("\n") if line.strip()]
    typed = [re.match(r"(lex|vec|hyde):\s*(.*)", line, re.I) for line in lines]
    if not lines or not all(typed):
        time.sleep(600)  # it fetches models to reword a plain question
    found = [(each[1].lower(), each[2]) for each in typed if each]
    for number, (kind, text) in enumerate(found, 1):
        if not text:
            fail(f"Line {number} ({kind}:) must include text.")
        if kind == "lex" and text.count('"') % 2:
            fail(f"Line {number} (lex): Lex query has an unmatched double quote")
        if kind != "lex" and re.search(r'(^|\s)-[\w"]', text):
            fail(f"Line {number} ({kind}): Negation (-term) is not supported in vec/hyde queries.")
    return found


def matches(line: str, document: str) -> int:
    """How often the words of a line stand in a document; 0 unless all of them do."""
    low, counts = document.lower(), list[int]()
    for word in line.lower().split():
        if re.search(f"[{_CJK}]", word):
            counts.append(low.count(re.sub(rf"[^\w{_CJK}]", "", word)))
            continue
        kept = re.sub(r"[^\w'.-]", "", word)
        parts = [part for part in re.split(r"[._-]+", kept) if part]
        pattern = r"[\W_]+".join(re.escape(stem(part)) for part in parts)
        counts.append(len(re.findall(rf"(?<![a-z0-9]){pattern}", low)) if parts else 0)
    return sum(counts) if counts and all(counts) else 0


def stem(word: str) -> str:
    return re.sub(r"(ing|ed|es|s)$", "", word) if len(word) > 4 else word


def likeness(text: str, document: str) -> float:
    mine, theirs = set(re.findall(r"\w", text.lower())), set(re.findall(r"\w", document.lower()))
    return len(mine & theirs) / max(1, len(mine | theirs))


def joined(lists: list[tuple[tuple[str, str], list[tuple[str, float]]]]) -> list[dict[str, Any]]:
    """What several lines have found, the first of which counts double."""
    rows: dict[str, dict[str, Any]] = {}
    for at, ((kind, text), found) in enumerate(lists):
        weight = 2.0 if at == 0 else 1.0
        for rank, (name, score) in enumerate(found, 1):
            empty = {"ftsScores": [], "vectorScores": [], "rrf": {"baseScore": 0.0, "contributions": []}}
            explain = rows.setdefault(name, {"file": name, "explain": empty})["explain"]
            explain["vectorScores" if kind == "vec" else "ftsScores"].append(score)
            share = weight / (JOINED_AT + rank)
            explain["rrf"]["baseScore"] += share
            explain["rrf"]["contributions"].append(
                {"listIndex": at, "queryType": kind, "query": text, "weight": weight, "rrfContribution": share}
            )
    return sorted(rows.values(), key=lambda row: -row["explain"]["rrf"]["baseScore"])
