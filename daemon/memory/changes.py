"""What changed between two versions of a text. Pure."""

import difflib


def characters(old: str, new: str) -> tuple[int, int]:
    """How many characters stand in lines that came, and in lines that went."""
    before, after = old.splitlines(), new.splitlines()
    came = went = 0
    # The heuristic that takes frequent lines for junk would find changes where there are none.
    for kind, i, j, k, m in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind != "equal":
            went += sum(map(len, before[i:j]))
            came += sum(map(len, after[k:m]))
    return came, went


def unified(old: str, new: str, *, old_name: str, new_name: str) -> str:
    """The changes as ``diff -u`` writes them; empty when there are none."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), old_name, new_name, lineterm="")
    return "\n".join(lines)
