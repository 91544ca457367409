"""Formulas in a text that a model wrote: where they stand, and how they read on a platform that shows none. Pure."""

import re
from collections.abc import Callable

import msgspec

FORMULA_MAX_CHARS = 1_000
"""A longer stretch is no formula."""

DEPTH_MAX = 20
"""Of braces; a formula that is nested deeper is shown as it was written."""

_BLOCK = r"^[ \t]{0,3}(?P<fence>`{3,}|~{3,}).*?(?:^[ \t]{0,3}(?P=fence)[`~]*[ \t]*$|\Z)"
_CODE = rf"{_BLOCK}|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
_INNER = rf"(?:(?!\n[ \t]*\n|\\[\[(]).){{1,{FORMULA_MAX_CHARS}}}?"
_found = re.compile(
    rf"{_CODE}|\\\[(?P<square>{_INNER})\\\]|\\\((?P<round>{_INNER})\\\)|\$\$(?P<double>{_INNER})\$\$"
    # A price is no formula: a dollar before a digit or a blank closes none.
    rf"|(?<![\w$\\])\$(?=\S)(?P<single>[^$\n]{{1,300}}?)(?<=[^\s\\])\$(?![\w$])",
    re.DOTALL | re.MULTILINE,
).finditer
_mathematical = re.compile(r"\\[A-Za-z]{2,}|[\^=+<>]|(?<![A-Za-z]{2})_|[0-9A-Za-z]\s*[*/]\s*[0-9A-Za-z]").search
_letter = re.compile(r"[A-Za-z]'?").fullmatch


class Formula(msgspec.Struct, frozen=True, kw_only=True):
    """A formula, with its marks, from ``begin`` to ``end`` of a text."""

    begin: int
    end: int
    latex: str
    """In one line, without the marks."""
    display: bool
    """It was marked as one that stands in lines of its own."""


def formulas(text: str) -> list[Formula]:
    """The formulas of a Markdown text, in order; nothing in code is one."""
    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return []
    return [formula for found in _found(text) if (formula := _formula(found)) is not None]


def _formula(found: re.Match[str]) -> Formula | None:
    kind = next((kind for kind in ("square", "round", "double", "single") if found[kind] is not None), None)
    if kind is None:
        return None
    latex = " ".join(found[kind].split())
    # ``\[x\]`` is a box that is ticked.
    if not _mathematical(latex) and not (kind != "square" and _letter(latex)):
        return None
    return Formula(begin=found.start(), end=found.end(), latex=latex, display=kind in ("square", "double"))


def replaced(text: str, found: list[Formula], show: Callable[[int, Formula], str]) -> str:
    """``text`` with what ``show`` makes of each formula and its number."""
    pieces: list[str] = []
    at = 0
    for number, formula in enumerate(found):
        pieces += (text[at : formula.begin], show(number, formula))
        at = formula.end
    return "".join((*pieces, text[at:]))


# How a formula reads without typesetting.

_SIGNS = """
alpha:α beta:β gamma:γ delta:δ epsilon:ε varepsilon:ε zeta:ζ eta:η theta:θ iota:ι kappa:κ lambda:λ mu:μ nu:ν
xi:ξ pi:π rho:ρ sigma:σ tau:τ upsilon:υ phi:φ varphi:φ chi:χ psi:ψ omega:ω Gamma:Γ Delta:Δ Theta:Θ Lambda:Λ
Xi:Ξ Pi:Π Sigma:Σ Phi:Φ Psi:Ψ Omega:Ω times:× cdot:· div:÷ pm:± mp:∓ leq:≤ le:≤ geq:≥ ge:≥ neq:≠ ne:≠ approx:≈
equiv:≡ sim:∼ propto:∝ infty:∞ sum:∑ prod:∏ int:∫ oint:∮ partial:∂ nabla:∇ to:→ rightarrow:→ leftarrow:←
Rightarrow:⇒ Leftarrow:⇐ Leftrightarrow:⇔ leftrightarrow:↔ implies:⇒ iff:⇔ mapsto:↦ in:∈ notin:∉ subset:⊂
subseteq:⊆ supset:⊃ cup:∪ cap:∩ setminus:∖ forall:∀ exists:∃ emptyset:∅ neg:¬ land:∧ lor:∨ ldots:… dots:…
cdots:⋯ angle:∠ circ:° degree:° perp:⊥ parallel:∥ mid:| vert:| lt:< gt:> langle:⟨ rangle:⟩ lfloor:⌊ rfloor:⌋
lceil:⌈ rceil:⌉ hbar:ℏ ell:ℓ prime:′ therefore:∴ because:∵
"""
_NAMES = {name: sign for name, _, sign in (pair.partition(":") for pair in _SIGNS.split())}
"""Commands of LaTeX and the signs that they stand for."""

_DROPPED = frozenset(("left", "right", "big", "Big", "bigg", "Bigg", "displaystyle", "limits", "!"))
_SPACES = frozenset(("quad", "qquad", "begin", "end", ",", ";", ":", " ", "\\"))
_FRACTIONS = frozenset(("frac", "dfrac", "tfrac"))
_RAISED = str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-=()aeoxijkmnprstuv", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₒₓᵢⱼₖₘₙₚᵣₛₜᵤᵥ")
_tokens = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL).findall


def readable(latex: str) -> str:
    """A formula as a line of text: ``\\frac{a+b}{2}`` is ``(a+b)/2``, ``x^2`` is ``x²``."""
    depth = deepest = 0
    for sign in latex:
        depth += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
    if deepest > DEPTH_MAX:
        return latex
    return " ".join(_Reader(_tokens(latex)).read().split())


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens[::-1]

    def read(self, closing: str = "") -> str:
        """What comes up to ``closing``, or the end."""
        shown: list[str] = []
        while self._tokens:
            token = self._tokens.pop()
            if token == closing:
                break
            shown.append(self._shown(token))
        return "".join(shown)

    def _shown(self, sign: str) -> str:
        match sign:
            case "^" | "_":
                return _shifted(self._argument(), sign)
            case "{":
                return self.read("}")
            case "&" | "~":
                return " "
            case _ if len(sign) == 1:
                return "" if sign == "}" else sign
            case _:
                return self._command(sign[1:])

    def _command(self, name: str) -> str:
        if name in _FRACTIONS:
            return f"{_grouped(self._argument())}/{_grouped(self._argument())}"
        if name == "sqrt":
            root = self._root()
            return f"{root}√{_grouped(self._argument())}"
        if name in ("begin", "end"):
            self._argument()  # the name of what begins
        if name in _DROPPED:
            return ""
        if name in _SPACES:
            return " "
        # A command that changes only the face of its argument, or the name of a function.
        return _NAMES.get(name, "" if self._next() == "{" else name)

    def _argument(self) -> str:
        while self._next() == " ":
            self._tokens.pop()
        return self._shown(self._tokens.pop()) if self._tokens else ""

    def _root(self) -> str:
        if self._next() != "[":
            return ""
        self._tokens.pop()
        return _shifted(self.read("]"), "^")

    def _next(self) -> str:
        return self._tokens[-1] if self._tokens else ""


def _shifted(text: str, mark: str) -> str:
    moved = text.translate(_RAISED if mark == "^" else _LOWERED)
    if text and all(one != other for one, other in zip(text, moved, strict=True)):
        return moved
    return text if text in ("°", "′") else f"{mark}{_grouped(text)}"


def _grouped(text: str) -> str:
    return text if len(text) <= 1 or text.isalnum() else f"({text})"
