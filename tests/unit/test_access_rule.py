"""Who is heard: a ban has the first word, an administrator the second, and a group never learns of codes."""

from hypothesis import given
from hypothesis import strategies as st

from channels.intake.group_messages import place_of
from daemon.access import AccessEntry, Speaker, verdict
from daemon.config import AccessConfig
from tests.intakelab import an_arrival

IDS = ["ann", "bob", "-1", "-2"]
policies = st.sampled_from([None, "closed", "allow", "pairing", "open"])
configs = st.builds(AccessConfig, policy=policies, allow=st.lists(st.sampled_from(IDS), max_size=2).map(tuple))
entries = st.dictionaries(
    st.sampled_from(IDS), st.builds(AccessEntry, state=st.sampled_from(["paired", "banned", "free"])), max_size=4
)
speakers = st.one_of(
    st.builds(
        lambda who, is_admin: Speaker(sender=who, chat=who, in_group=False, is_admin=is_admin),
        st.sampled_from(IDS[:2]),
        st.booleans(),
    ),
    st.builds(
        Speaker,
        sender=st.sampled_from(IDS[:2]),
        chat=st.sampled_from(IDS[2:]),
        in_group=st.just(True),
        is_admin=st.booleans(),
    ),
)


@given(configs, entries, speakers)
def test_who_was_banned_is_never_heard_and_nobody_else_is_called_banned(config, decided, who) -> None:
    names = {who.sender, who.chat} if who.in_group else {who.sender}
    is_banned = any(decided[name].state == "banned" for name in names & decided.keys())

    assert (verdict(config, decided, who) == "banned") == is_banned


@given(configs, entries, speakers)
def test_an_administrator_is_heard_unless_banned(config, decided, who) -> None:
    if who.is_admin:
        assert verdict(config, decided, who) in ("heard", "banned")


@given(configs, entries, speakers)
def test_a_code_is_given_in_direct_chats_of_pairing_channels_alone(config, decided, who) -> None:
    if verdict(config, decided, who) == "code":
        assert config.policy == "pairing" and not who.in_group


@given(configs, entries, speakers)
def test_who_is_neither_listed_nor_let_in_is_heard_on_open_channels_alone(config, decided, who) -> None:
    names = {who.sender, who.chat}
    is_known = bool(names & set(config.allow)) or any(
        entry.state == "paired" for name, entry in decided.items() if name in names
    )

    if verdict(config, decided, who) == "heard" and not who.is_admin and config.policy != "open":
        assert is_known and config.policy != "closed"


@given(entries, speakers)
def test_a_channel_that_says_nothing_of_access_is_closed_to_strangers(decided, who) -> None:
    names = {who.sender, who.chat}
    if not who.is_admin and not names & decided.keys():
        assert verdict(AccessConfig(), decided, who) == "silent"


def test_a_group_that_was_let_in_opens_no_direct_chat() -> None:
    decided = {"-1": AccessEntry(state="paired")}
    direct = Speaker(sender="ann", chat="ann", in_group=False, is_admin=False)
    there = Speaker(sender="ann", chat="-1", in_group=True, is_admin=False)
    elsewhere = Speaker(sender="ann", chat="-2", in_group=True, is_admin=False)

    assert [verdict(AccessConfig(), decided, who) for who in (direct, there, elsewhere)] == [
        "silent",
        "heard",
        "silent",
    ]


def test_in_a_group_the_bot_is_asked_by_a_mention_or_a_command() -> None:
    said = [an_arrival("hi", chat="-1", mentioned=mentioned) for mentioned in (True, False)]
    mention, every, off = (AccessConfig(groups=groups) for groups in ("mention", "all", "off"))

    assert [place_of(mention, each, "") for each in said] == ["asked", "overheard"]
    assert place_of(mention, said[1], "status") == "asked"
    assert [place_of(every, each, "") for each in said] == ["asked", "asked"]
    assert [place_of(off, each, "status") for each in said] == ["nothing", "nothing"]
    assert place_of(off, an_arrival("hi"), "") == "asked"
