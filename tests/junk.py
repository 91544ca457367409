"""What nobody should be sent: bytes of any kind, JSON of any shape, and good examples with something wrong in them."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import strategies as st

DEEP = 12_000  # levels of nesting, beyond what any reader of JSON goes down

ODD: tuple[bytes, ...] = (
    *(b"", b"null", b"true", b"3", b'"x"', b"[]", b"{}", b"{", b'{"a":', b"\xff\xfe", b"\0", b'"\xff"', b'"\\ud800"'),
    *(b"1e999", b"-0", b"9" * 5_000, b'{"a":' + b"9" * 5_000 + b"}", b'{"\xff":1}', b'{"a":"\xff"}', b"\xef\xbb\xbf{}"),
    *(b"[" * DEEP, b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP),
)

NUMBERS = st.one_of(st.integers(), st.sampled_from([2**31, 2**53, 2**63, 2**64, -(2**63), 10**30]))
TEXTS = st.one_of(
    st.text(max_size=12), st.sampled_from(["\0", "\u202e", "\ufeff", "../..", "9" * 400, "1e5", "NaN", "-1"])
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.floats(allow_nan=False, allow_infinity=False), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=4,
)
"""What JSON can hold."""


def names_of(kind: type[msgspec.Struct]) -> Sequence[str]:
    """The fields of a struct, as they stand on the wire, and those of the structs in it."""
    found = dict.fromkeys(kind.__struct_encode_fields__)
    for each in msgspec.inspect.type_info(kind).fields:  # type: ignore[attr-defined]
        inner = getattr(each.type, "cls", None)
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct) and inner is not kind:
            found |= dict.fromkeys(names_of(inner))
    return list(found)


def shaped(names: Sequence[str]) -> st.SearchStrategy[dict[str, Any]]:
    """An object with some of these fields, each holding anything, or another such object."""
    fields = st.sampled_from(names)
    flat = st.dictionaries(fields, VALUES, max_size=5)
    return st.one_of(flat, st.dictionaries(fields, st.one_of(VALUES, flat, st.lists(flat, max_size=2)), max_size=5))


@st.composite
def spoilt(draw: st.DrawFn, *examples: bytes) -> bytes:
    """One of ``examples`` with bytes cut out, put in, changed or doubled."""
    found = bytearray(draw(st.sampled_from(examples)))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(found)))
        upto = min(len(found), at + draw(st.integers(0, 6)))
        found[at:upto] = draw(
            st.one_of(st.binary(max_size=4), st.just(bytes(found[at:upto]) * 2), st.sampled_from(ODD[:16]))
        )
    return bytes(found)


def junk(
    *examples: bytes, kind: type[msgspec.Struct] | None = None, names: Sequence[str] = ()
) -> st.SearchStrategy[bytes]:
    """Any bytes; among them such as nearly are one of ``examples``, or a ``kind``, or an object with these fields."""
    made = [st.binary(max_size=200), st.sampled_from(ODD), VALUES.map(_encoded)]
    if examples:
        made += [spoilt(*examples)] * 2
    if fields := [*(names_of(kind) if kind else ()), *names]:
        made += [shaped(fields).map(_encoded)] * 2
    return st.one_of(made)


def _encoded(value: Any) -> bytes:
    return json.dumps(value).encode()
