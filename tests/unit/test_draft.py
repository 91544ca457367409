"""What is to be done about a text that is shown while it is written: pure, so by properties."""

from hypothesis import given
from hypothesis import strategies as st

from channels.live_display.draft_message import (
    BEGIN_CHARS,
    BEGIN_S,
    IDLE_S,
    ORPHAN_S,
    DraftAction,
    DraftMessage,
    next_act,
)
from daemon.events import Live

times = st.floats(0, 1_000, allow_nan=False)


@st.composite
def drafts(draw: st.DrawFn) -> DraftMessage:
    draft = DraftMessage(session="support:ann", turn=4, heard_at=draw(times), every_s=1.0)
    draft.text = draw(st.text(max_size=80))
    draft.since = draw(times)
    draft.platform_id = draw(st.sampled_from(["", "m1"]))
    draft.shown = draw(st.sampled_from(["", draft.text, "old"])) if draft.platform_id else ""
    draft.not_before = draw(times)
    draft.ended_at = draw(st.none() | times)
    draft.yielding_to = draw(st.sampled_from(["", "support:ann#aside-1"]))
    draft.hidden = draw(st.booleans())
    draft.closed = draw(st.booleans())
    return draft


@given(drafts(), times)
def test_what_is_closed_hidden_or_makes_way_is_neither_begun_nor_edited(draft, now):
    act, _ = next_act(draft, draft.text, now)

    if draft.closed or draft.hidden or draft.yielding_to or draft.ended_at is not None:
        assert act not in (DraftAction.BEGIN, DraftAction.EDIT)


@given(drafts(), times)
def test_a_message_is_begun_only_while_there_is_none_and_edited_or_removed_only_while_there_is_one(draft, now):
    act, _ = next_act(draft, draft.text, now)

    assert act is not DraftAction.BEGIN or not draft.platform_id
    assert act not in (DraftAction.EDIT, DraftAction.REMOVE) or draft.platform_id


@given(drafts(), times)
def test_nothing_is_asked_of_the_platform_before_it_may_be(draft, now):
    act, at = next_act(draft, draft.text, now)

    assert act in (DraftAction.WAIT, DraftAction.FORGET) or at >= draft.not_before


@given(drafts(), times)
def test_an_edit_changes_the_text_and_blank_texts_are_not_shown(draft, now):
    act, _ = next_act(draft, draft.text, now)

    if act in (DraftAction.BEGIN, DraftAction.EDIT):
        assert draft.text != draft.shown
        assert draft.text.strip()


@given(drafts(), times)
def test_few_words_wait_and_many_do_not(draft, now):
    act, at = next_act(draft, draft.text, now)

    if act is DraftAction.BEGIN:
        earliest = draft.since if len(draft.text) >= BEGIN_CHARS else draft.since + BEGIN_S
        assert at == max(earliest, draft.not_before)


@given(drafts(), times)
def test_every_draft_comes_to_an_end(draft, now):
    act, at = next_act(draft, draft.text, now)

    assert at <= max(
        draft.heard_at + IDLE_S, now, draft.not_before, draft.since + BEGIN_S, (draft.ended_at or 0) + ORPHAN_S
    )
    if now >= draft.heard_at + IDLE_S and draft.ended_at is None:
        assert act is DraftAction.FORGET


pieces = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 5), st.integers(0, 12), st.text(st.sampled_from("ab"), max_size=4)),
    max_size=30,
)


@given(pieces)
def test_the_text_is_always_what_the_newest_writer_has_said(said):
    """Each piece comes with the offset at which its writer is, or with another one: then there is a gap."""
    draft = DraftMessage(session="support:ann", turn=4, heard_at=0.0, every_s=1.0)
    text, writer, last = "", 0, -1
    for fence, sequence, offset, more in said:
        piece = Live(session="support:ann", turn=4, fence=fence, sequence=sequence, offset=offset, text=more)
        judgement = draft.hear(piece, 1.0)
        fits = offset == 0 or (fence == writer and offset == len(text))
        if fence < writer or (fence == writer and sequence <= last):
            assert judgement == "old"
        elif not fits:
            assert judgement == "gap"
        else:
            assert judgement == "show"
            text, writer, last = text[:offset] + more, fence, sequence
        assert draft.text == text
