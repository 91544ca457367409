"""Mutants of the terminal: rendered answers, harmless text, and reasons why a message waits."""

from tests.mutants.mutant import mutants_of

_LAYOUT = "test_an_answer_is_laid_out_for_the_width_of_the_window"
_DRAFT = "test_finished_blocks_of_a_draft_are_rendered_and_the_last_one_is_plain"
_INVISIBLE = "test_nothing_invisible_reaches_a_terminal"
_REASON = "test_a_message_without_an_answer_has_a_reason"
_ONCE = "test_a_message_without_an_answer_is_followed_by_its_reason_once"

MUTANTS = (
    *mutants_of(
        "channels/terminal/markdown.py",
        "unit/test_terminal_markdown.py",
        (
            "Characters that Markdown makes of entities are made harmless.",
            "        token.content = printable(token.content)\n",
            "",
            _LAYOUT,
        ),
        (
            "A link shows its target.",
            'if address in {"", label,',
            'if address.startswith(("http:", "https:")) or address in {"", label,',
            _LAYOUT,
        ),
        (
            "A link to a mailbox shows another one's.",
            'f"mailto:{label}"}:',
            'f"mailto:{label}"} or address[:7] == "mailto:":',
            _LAYOUT,
        ),
        (
            "HTML in an answer is shown as text.",
            'MarkdownIt("commonmark", {"html": False, "maxNesting": NESTING_MAX}).enable(["table", "strikethrough"])',
            'MarkdownIt("commonmark", {"maxNesting": NESTING_MAX}).enable(["table", "strikethrough"])',
            _LAYOUT,
        ),
        ("A link is followed by its address.", 'if address in {"", label', 'if True or address in {"", label', _LAYOUT),
        ("A line may end between ideographs.", "_BREAKABLE.sub(BREAK, content)", "content", _LAYOUT),
        ("A line end of an answer stays one.", '"hardbreak" if token.type', '"softbreak" if token.type', _LAYOUT),
        ("Columns that are too narrow become a list.", "* (CELL_MIN + 2) > options.max_width", "< 0", _LAYOUT),
        ("What is nested too deep is shown as written.", "* LEVEL_COLUMNS > columns", "< 0", _LAYOUT),
        (
            "A cell that does not fit is wrapped.",
            'overflow="fold"',
            'overflow="ellipsis"',
            "test_a_cell_that_does_not_fit_is_wrapped_and_nothing_of_it_is_lost",
        ),
        (
            "NO_COLOR keeps colours away.",
            'style if look == "coloured" else style.without_color',
            "style",
            "test_colours_are_used_where_the_terminal_has_them",
        ),
    ),
    *mutants_of(
        "channels/terminal/screen.py",
        "unit/test_terminal_markdown.py",
        ("The last block of a draft is plain.", "starts[-1]], rest[starts[-1] :]", 'len(rest)], ""', _DRAFT),
        ("A draft of a successor begins anew.", "or not text.startswith(self._done)", "", _DRAFT),
    ),
    *mutants_of(
        "channels/terminal/terminal_style.py",
        "unit/test_terminal_markdown.py",
        (
            "A pipe gets an answer as it was written.",
            "if not sys.stdout.isatty():",
            "if False:",
            "test_a_pipe_gets_an_answer_as_it_was_written",
        ),
    ),
    *mutants_of(
        "daemon/printable.py",
        "unit/test_terminal_markdown.py",
        ("Signs without a width are replaced.", r"\u200b-\u200d\u2060", r"\u2060", _INVISIBLE),
        ("Joiners in names of ASCII are seen.", r"(?<=[^\x00-\x7f])[\u200c", r"[\u200c", _INVISIBLE),
    ),
    *mutants_of(
        "channels/conversation.py",
        "unit/test_terminal_markdown.py",
        ("A message that a worker answers does not wait.", " or state.lease_ms > now_ms", "", _REASON),
        (
            "A missing worker is the first reason.",
            "    if not running:",
            "    if not running and not state.parked_why:",
            _REASON,
        ),
    ),
    *mutants_of(
        "channels/conversation.py",
        "integration/test_terminal.py",
        ("The reason of a delay is told once.", "            self._told.append(shown.text)", "            pass", _ONCE),
    ),
)
