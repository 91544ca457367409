"""The definition of a word, for comparing and searching texts."""

_OWN = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Characters of languages without blanks between words (Unicode blocks of CJK and Hangul)."""

WORD = rf"[{_OWN}]|[^\W{_OWN}]+"
"""Regular expression of one word: such a character, or letters, digits and ``_`` that follow on each other."""
