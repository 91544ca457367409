"""Mutants of what a look at the data finds, rule by rule, and of being sure of a backup."""

from tests.mutants.mutant import mutants_of

_SESSION = "test_each_rule_of_a_session_is_looked_at"
_SCOPE = "test_each_rule_of_a_memory_is_looked_at"
_ORDER = "self._begins <= self._base <= self._cursor <= self._head"


def _of_session(rule: str, old: str, new: str) -> tuple[str, str, str, str]:
    return rule, old, new, _SESSION


def _of_scope(rule: str, old: str, new: str) -> tuple[str, str, str, str]:
    return rule, old, new, _SCOPE


MUTANTS = (
    *mutants_of(
        "daemon/data/session_rules.py",
        "unit/test_data_rules.py",
        _of_session("Messages without a hash are told.", "if taken.log or taken.segments:", "if taken.segments:"),
        _of_session("Segments without a hash are told.", "if taken.log or taken.segments:", "if taken.log:"),
        _of_session(
            "Waiting messages without a hash are told.",
            "    if taken.waiting:\n        text",
            "    if False:\n        text",
        ),
        _of_session("A deadline of no session is told.", "elif taken.scores:", "elif False:"),
        _of_session("A field that is no number is told.", "    if unreadable:\n", "    if False:\n"),
        _of_session("A number has fewer than 16 digits.", "len(value) < 16", "len(value) < 17"),
        _of_session("A session without a scope is told.", 'if not self._taken.fields.get("scope"):', "if False:"),
        _of_session("A lease without an end is told.", 'if bool(self._taken.fields.get("nonce")) and', "if False and"),
        _of_session("A session begins no later than its base.", _ORDER, "self._base <= self._cursor <= self._head"),
        _of_session(
            "The base is no later than the cursor.",
            _ORDER,
            _ORDER.replace("base <= self._cursor", "base and self._cursor"),
        ),
        _of_session("The cursor is no later than the head.", _ORDER, "self._begins <= self._base <= self._cursor"),
        _of_session("The start is no later than the head.", "if self._start > self._head:", "if False:"),
        _of_session("The start is no earlier than the cursor.", "elif self._start < self._cursor:", "elif False:"),
        _of_session(
            "A log reaches the head.", "< self._head:\n            first", "< self._head - 1:\n            first"
        ),
        _of_session("A message is of no later turn.", "entry.turn > index or ", ""),
        _of_session("Turns rise in a log.", " or entry.turn < last_turn", ""),
        _of_session("The journal is in no sum.", "            if index < self._head:\n", "            if True:\n"),
        _of_session("The sum begins at the cursor.", "index >= self._cursor", "index > self._cursor"),
        _of_session("The sum of what is seen begins at the start.", "index >= self._start", "index > self._start"),
        _of_session(
            "The sum from the cursor on is looked at.",
            "(tokens, tokens_start) != (self._tokens, self",
            "(self._tokens, tokens_start) != (self._tokens, self",
        ),
        _of_session("A message waits once.", "            if stream_id in seen:\n", "            if False:\n"),
        _of_session(
            "A waiting message is in the stream.",
            "self._inbox.get(stream_id)) is None",
            "self._inbox.get(stream_id, {'session': self._taken.name.encode()})) is None",
        ),
        _of_session(
            "A waiting message is of its session.", '.decode("utf-8", "replace") != self._taken.name:', " is None:"
        ),
        _of_session("A stop is a message that waits.", "if stop and stop not in seen:", "if False:"),
        _of_session(
            "A session in which something waits is due.",
            'if self._taken.waiting and "due" not in',
            'if False and "due" not in',
        ),
        _of_session(
            "A session in which nothing waits is not due.", "elif not self._taken.waiting and", "elif False and"
        ),
        _of_session("What waits for an answer aside may be due.", " and not self._is_woken_by_asides():", ":"),
        _of_session("What is to be answered aside is in the stream.", " or stream_id not in self._inbox:", ":"),
        _of_session("What is to be answered aside has an id.", "if not _STREAM_ID.fullmatch(stream_id) or", "if"),
        _of_session("An accepted text that is none is told.", 'yield self._flaw("in.message", text)', "pass"),
        _of_session("The end of a conversation is consolidated.", "if self._start > self._cursor and", "if False and"),
        _of_session("What is being consolidated is left alone.", ' and not self._taken.lock.get("nonce"):', ":"),
    ),
    *mutants_of(
        "daemon/data/scope_rules.py",
        "unit/test_data_rules.py",
        _of_scope("A version has the number of its place.", "if version.version != at:", "if False:"),
        _of_scope("MEMORY.md reads as its version.", "if at == current and version.text != text:", "if False:"),
        _of_scope(
            "There are as many versions as are counted.", "if current > base + len(taken.versions):", "if False:"
        ),
        _of_scope(
            "The checksum is that of MEMORY.md.", '.hexdigest() != taken.fields.get("checksum")', ".hexdigest() is None"
        ),
        _of_scope("The history ends where the memory does.", "if 0 <= ends != upto:", "if False:"),
        _of_scope("Lost entries end no history.", "if entry.session and not entry.lost:", "if entry.session:"),
        _of_scope(
            "The end of a history is its furthest.", "max(newest.get(entry.session, 0), entry.upto)", "entry.upto"
        ),
        _of_scope(
            "A memory that is being joined is left alone.",
            '("joined", "joining", "receiving", "leaving")',
            '("joined",)',
        ),
        _of_scope("A memory that others are linked with is left alone.", ' or field.startswith("links:")', ""),
        _of_scope("An undigested entry is behind the base.", "base <= int(index) < ends", "int(index) < ends"),
        _of_scope("An undigested entry is before the end.", "base <= int(index) < ends", "base <= int(index) <= ends"),
        _of_scope("An entry is digested once.", "        elif index in seen:", "        elif False:"),
        _of_scope("Notes are read.", "*_notes(taken), ", ""),
    ),
    *mutants_of(
        "daemon/data/scope_rules.py",
        "unit/test_data_spread.py",
        (
            "A gap at the end is one.",
            "    if at < upto:\n",
            "    if False:\n",
            "test_what_no_range_covers_is_told_exactly",
        ),
        ("Ranges may lie in each other.", "at = max(at, end)", "at = end", "test_what_no_range_covers_is_told_exactly"),
    ),
)
