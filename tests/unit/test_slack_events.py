import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.arrival import Arrival
from channels.slack.api_types import Body, Command, lenient
from channels.slack.slack_events import Me, me_of, people_of, read
from channels.slack.slash_commands import read_command
from tests.tables import each_row

ME = Me(team="T1", user="U0", bot="B0", name="pond")
NAMES = {"U7": "Ann Lee", "U8": "Bo"}
TS = "1700000000.000100"
THREAD = "1690000000.000200"


def event(kind="message", **fields):
    """What one person says in a channel, as the Events API brings it; None leaves a field out."""
    said = {"type": kind, "channel": "C1", "channel_type": "channel", "user": "U7", "ts": TS, "event_ts": TS}
    said |= {"text": "hello", "team": "T1", "client_msg_id": "x", **fields}
    return {key: value for key, value in said.items() if value is not None}


def body(found, **fields):
    return {
        "type": "event_callback",
        "team_id": "T1",
        "api_app_id": "A0",
        "event_id": "Ev1",
        "event_time": 1_700_000_000,
        "authorizations": [{"team_id": "T1", "user_id": "U0", "is_bot": True}],
        "is_ext_shared_channel": False,
        "event": found,
        **fields,
    }


def heard(found, *, everything=False, **fields) -> Arrival | None:
    return read(lenient(Body, body(found, **fields)), ME, NAMES, everything=everything)


def arrived(found, *, everything=False, **fields) -> Arrival:
    arrival = heard(found, everything=everything, **fields)
    assert arrival is not None
    return arrival


def direct(**fields):
    return event(channel="D1", channel_type="im", **fields)


def changed(now, before=None, **fields):
    found = {"type": "message", "subtype": "message_changed", "channel": "C1", "channel_type": "channel"}
    found |= {"hidden": True, "ts": "1700000009.000100", "event_ts": "1700000009.000100", "message": now, **fields}
    return found | ({} if before is None else {"previous_message": before})


def deleted(before=None, **fields):
    found = {"type": "message", "subtype": "message_deleted", "channel": "C1", "channel_type": "channel"}
    found |= {"hidden": True, "ts": "1700000009.000100", "event_ts": "1700000009.000100", "deleted_ts": TS, **fields}
    return found | ({} if before is None else {"previous_message": before})


def test_a_text_in_a_direct_conversation_is_a_message_to_the_bot():
    arrival = arrived(direct())

    assert (arrival.seen_as, arrival.id, arrival.order) == (f"T1:D1:{TS}", TS, 1_700_000_000.0001)
    assert (arrival.chat, arrival.thread, arrival.chat_kind, arrival.mentioned) == ("D1", "", "direct", True)
    assert (arrival.sender.id, arrival.sender.name, arrival.sender.is_bot) == ("U7", "Ann Lee", False)
    assert (arrival.text, arrival.edited, arrival.deleted) == ("hello", False, False)


def test_a_thread_of_the_assistant_is_a_conversation_of_its_own():
    assert arrived(direct(thread_ts=THREAD)).thread == THREAD


def test_what_a_thread_began_with_stays_where_it_was_said():
    assert arrived(direct(thread_ts=TS)).thread == ""
    assert arrived(event(thread_ts=TS)).thread == TS


def test_a_message_at_the_top_level_of_a_channel_begins_a_thread():
    arrival = arrived(event())

    assert (arrival.thread, arrival.chat_kind, arrival.mentioned) == (TS, "group", False)


@each_row("kind", ["channel", "group", "mpim", "", "something_new"])
def test_all_but_direct_conversations_are_groups(kind):
    assert arrived(event(channel_type=kind, channel="G1")).chat_kind == "group"


def test_a_mention_that_comes_as_two_events_is_one_message():
    text = "<@U0> how deep?"
    said = arrived(event(text=text, thread_ts=THREAD))
    mention = arrived(event("app_mention", text=text, thread_ts=THREAD, channel_type=None), event_id="Ev2")

    assert said == mention
    assert (said.text, said.mentioned, said.thread) == ("how deep?", True, THREAD)


def test_a_mention_by_somebody_of_another_workspace_is_one_message_too():
    text = "<@U0> how deep?"
    said = arrived(event(text=text, user_team="T9", source_team="T9"), team_id="T9", is_ext_shared_channel=True)

    assert said.seen_as == arrived(event("app_mention", text=text, channel_type=None)).seen_as


@each_row(
    ("text", "said", "mentioned"),
    [
        ("<@U0> /status", "/status", True), ("<@U0|pond>: /model fast", "/model fast", True),
        ("hey <@U0> there", "hey @pond there", True), ("<@U8> <@U0> who?", "@Bo @pond who?", True), ("<@U0>", "", True),
        ("<@U00> hi", "@U00 hi", False), ("&lt;@U0&gt; hi", "<@U0> hi", False), ("<!here> hi", "@here hi", False),
    ],
)  # fmt: skip
def test_the_bots_name_is_a_mention_and_is_taken_away_where_a_text_begins_with_it(text, said, mentioned):
    arrival = arrived(event(text=text))

    assert (arrival.text, arrival.mentioned) == (said, mentioned)


def test_a_mention_in_the_card_of_an_app_is_one_though_the_text_does_not_show_it():
    card = {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "for <@U0>"}}]}
    found = event("app_mention", text="", user=None, bot_id="B9", attachments=[card], channel_type=None)

    assert (arrived(found).text, arrived(found).mentioned) == ("for @pond", True)


def test_a_direct_conversation_is_known_by_its_id_where_nothing_else_tells():
    assert arrived(event(channel="D1", channel_type=None)).chat_kind == "direct"
    assert arrived(event(channel="C1", channel_type=None)).chat_kind == "group"


def test_what_the_bot_says_itself_is_nothing_to_it():
    assert heard(event(user="U0", bot_id="B0", text="<@U0> hi")) is None
    assert heard(event(user=None, bot_id="B0", subtype="bot_message")) is None
    assert heard(direct(user="U0", subtype="assistant_app_thread", thread_ts=TS)) is None
    assert heard(changed(event(user="U0", bot_id="B0", edited={"ts": "1.1"}), event(user="U0", text="b"))) is None
    assert heard(deleted(event(user="U0", bot_id="B0"))) is None


def test_what_another_hook_of_the_same_app_posts_is_the_bots_own():
    assert heard(event(user=None, bot_id="B9", app_id="A0", subtype="bot_message")) is None
    assert heard(event(user="U9", bot_id="B9", bot_profile={"id": "B9", "app_id": "A0", "name": "x"})) is None
    assert heard(event(user="U9", bot_id="B9", app_id="A1")) is not None


def test_a_bot_is_called_as_it_calls_itself():
    hook = arrived(event(user=None, bot_id="B9", subtype="bot_message", username="Builds"))
    app = arrived(event(user="U9", bot_id="B9", bot_profile={"id": "B9", "app_id": "A9", "name": "Deploys"}))
    slackbot = arrived(event(user="USLACKBOT"))

    assert (hook.sender.id, hook.sender.name, hook.sender.is_bot) == ("B9", "Builds", True)
    assert (app.sender.id, app.sender.name, app.sender.is_bot) == ("U9", "Deploys", True)
    assert slackbot.sender.is_bot


@each_row("subtype", ["me_message", "file_share", "message_share", "thread_broadcast", "bot_message"])
def test_what_is_said_in_another_way_is_said(subtype):
    assert arrived(event(subtype=subtype)).text == "hello"


@each_row(
    "subtype",
    [
        *("channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name", "channel_archive"),
        *("channel_convert_to_private", "channel_posting_permissions", "group_join", "bot_add", "bot_remove"),
        *("pinned_item", "reminder_add", "message_replied", "huddle_thread", "ekm_access_denied", "tombstone"),
        *("assistant_app_thread", "document_comment_root", "sh_room_created", "something_new"),
    ],
)
def test_what_happens_in_a_channel_is_said_by_nobody(subtype):
    assert heard(event(subtype=subtype, text="<@U0> has joined", user="U7")) is None


@each_row(
    "found",
    [
        {"type": "assistant_thread_started", "assistant_thread": {"user_id": "U7", "channel_id": "D1"}},
        {"type": "assistant_thread_context_changed", "assistant_thread": {"user_id": "U7"}, "event_ts": TS},
        {"type": "app_home_opened", "user": "U7", "channel": "D1", "tab": "home", "event_ts": TS},
        {"type": "reaction_added", "user": "U7", "item": {"type": "message", "channel": "C1", "ts": TS}},
        {"type": "member_joined_channel", "user": "U0", "channel": "C1", "team": "T1"},
        {"type": "channel_created", "channel": {"id": "C1", "name": "x"}},
        {"type": "file_shared", "file_id": "F1", "user_id": "U7", "channel_id": "C1"},
        {"type": "tokens_revoked", "tokens": {"bot": ["U0"]}},
        {},
    ],
)
def test_other_events_are_nothing_that_anybody_said(found):
    assert heard(found) is None


@each_row(
    "spoilt",
    [
        {"ts": None},
        {"ts": 1.5},
        {"ts": "soon"},
        {"ts": "1700000000"},
        {"ts": "nan.0"},
        {"ts": "١.٢"},
        {"channel": None},
        {"channel": {"id": "C1"}},
        {"channel": "C1:C2"},
        {"channel": "C" * 100},
        {"user": None},
        {"user": ["U7"]},
        {"user": "U\n7"},
        {"hidden": True},
    ],
)
def test_a_message_without_its_place_or_its_speaker_is_none(spoilt):
    assert heard(event(**spoilt)) is None


def test_what_has_another_shape_is_left_out_and_the_rest_is_read():
    files = [None, {"id": "F1", "name": 3, "mimetype": "image/png", "size": "big"}, {"id": 4}]
    odd = event(files=files, edited="yes", bot_profile=[], attachments={"a": 1}, thread_ts=7, blocks="no")
    arrival = arrived(odd, authorizations="none", event_id=None)

    assert (arrival.text, arrival.thread) == ("hello", TS)
    assert [(each.name, each.source) for each in arrival.attachments] == [("file-F1", "F1")]


def test_an_edited_message_has_the_id_of_what_it_replaces():
    now = event(text="<@U0> better", edited={"user": "U7", "ts": "1700000005.000000"}, channel=None, thread_ts=THREAD)
    arrival = arrived(changed(now, event(text="<@U0> good", channel=None)))

    assert (arrival.edited, arrival.id, arrival.thread, arrival.text) == (True, TS, THREAD, "better")
    assert arrival.seen_as == f"T1:C1:{TS}:1700000005.000000"
    assert arrival.mentioned


def test_an_edited_mention_is_one_edit_in_two_events():
    edited = {"user": "U7", "ts": "1700000005.000000"}
    now = event(text="<@U0> better", edited=edited)

    assert arrived(changed(now, event(text="<@U0> good"))) == arrived(
        event("app_mention", text="<@U0> better", edited=edited, channel_type=None)
    )


def test_who_names_the_bot_only_with_an_edit_asks_only_then():
    now, before = event(text="<@U0> how deep?", edited={"user": "U7", "ts": "5.1"}), event(text="how deep?")
    asked = arrived(changed(now, before))

    assert asked == arrived(now)
    assert (asked.edited, asked.text, asked.mentioned) == (False, "how deep?", True)
    # Where it was said to the bot from the beginning, it is an edit of what waits.
    assert arrived(changed(now, before), everything=True).edited
    assert arrived(changed(now, before, channel="D1", channel_type="im")).edited
    assert arrived(changed(now)).edited


def test_a_message_that_was_edited_before_it_was_heard_of_is_no_edit_in_itself():
    assert not arrived(event(edited={"user": "U7", "ts": "1700000005.000000"})).edited


@each_row("before", [{"text": "hello"}, {"text": "hello", "edited": {"user": "U7", "ts": "1700000005.000000"}}])
def test_a_link_that_is_shown_or_a_reply_that_is_counted_is_no_edit(before):
    now = event(attachments=[{"title": "Frogs"}], reply_count=2, edited=before.get("edited"))

    assert heard(changed(now, event(**before))) is None


def test_a_change_of_which_the_earlier_text_is_not_told_is_an_edit_if_a_person_made_it():
    assert heard(changed(event(text="better"))) is None
    assert arrived(changed(event(text="better", edited={"user": "U7", "ts": "5.1"}))).edited


def test_a_file_that_was_taken_back_is_an_edit():
    now = event(files=[{"id": "F1", "mode": "tombstone"}], subtype="file_share")
    before = event(files=[{"id": "F1", "mode": "hosted", "name": "a.txt"}], subtype="file_share")
    arrival = arrived(changed(now, before))

    assert (arrival.edited, arrival.attachments) == (True, ())
    assert arrival.text == "hello\n[a file that was deleted]"


def test_a_deleted_message_is_known_by_its_id_its_place_and_its_speaker():
    arrival = arrived(deleted(event(text="<@U0> no", thread_ts=THREAD, channel=None)))

    assert (arrival.deleted, arrival.id, arrival.chat, arrival.thread) == (True, TS, "C1", THREAD)
    assert arrival.original == arrived(event(text="<@U0> no", thread_ts=THREAD)).seen_as
    assert (arrival.sender.id, arrival.order, arrival.mentioned) == ("U7", 1_700_000_000.0001, True)


@each_row("before", [None, [], {"text": "gone"}])
def test_of_a_deleted_message_no_more_may_be_told_than_its_id(before):
    arrival = arrived(deleted(before))

    assert (arrival.deleted, arrival.id, arrival.thread, arrival.sender.id) == (True, TS, TS, "")


def test_what_a_thread_began_with_is_deleted_though_a_sign_of_it_stays():
    sign = {"type": "message", "subtype": "tombstone", "user": "USLACKBOT", "text": "This message was deleted."}
    sign |= {"hidden": True, "ts": TS, "thread_ts": TS, "reply_count": 2}
    arrival = arrived(changed(sign, event(thread_ts=TS, channel=None)))

    assert (arrival.deleted, arrival.id, arrival.thread, arrival.sender.id) == (True, TS, TS, "U7")
    assert heard(deleted(sign)) is None


def test_a_deleted_message_of_a_direct_conversation_is_found_where_it_was_said():
    assert arrived(deleted(direct(), channel="D1", channel_type="im")).thread == ""
    assert arrived(deleted(direct(thread_ts=THREAD), channel="D1", channel_type="im")).thread == THREAD


def test_files_come_with_what_they_are_fetched_by():
    files = [
        {"id": "F1", "name": "a.png", "mimetype": "image/png", "size": 9, "url_private": "https://f/1"},
        {"id": "F2", "name": "b.m4a", "mimetype": "audio/mp4", "subtype": "slack_audio", "url_private": "https://f/2"},
        {"id": "F3", "name": "c.mp3", "mimetype": "audio/mpeg", "url_private_download": "https://f/3d"},
        {"id": "F4", "title": "d.mov", "mimetype": "video/quicktime", "subtype": "slack_video"},
        {"id": "F5", "name": "e.heic", "mimetype": "image/heic", "size": -1},
        {"id": "F6", "file_access": "check_file_info"},
        {"id": "F7", "title": "Plans", "mode": "quip", "mimetype": "application/vnd.slack-docs", "size": 5},
    ]
    found = arrived(event(subtype="file_share", text="", files=files)).attachments

    assert [(each.kind, each.name, each.size_bytes, each.source) for each in found] == [
        ("image", "a.png", 9, "F1 https://f/1"),
        ("voice", "b.m4a", 0, "F2 https://f/2"),
        ("audio", "c.mp3", 0, "F3 https://f/3d"),
        ("video", "d.mov", 0, "F4"),
        ("document", "e.heic", 0, "F5"),
        ("document", "file-F6", 0, "F6"),
        ("document", "Plans.html", 5, "F7"),
    ]


@each_row(
    ("mimetype", "size", "kind", "name"),
    [
        ("image/jpeg", 3_000_000, "image", "a b.jpg"),
        ("image/jpeg", 9_000_000, "image", "a b_1024.png"),
        ("image/heic", 1_000_000, "image", "a b_1024.png"),
        ("image/svg+xml", 9_000, "document", "a b.jpg"),
        ("video/mp4", 9_000_000, "video", "a b.jpg"),
    ],
)
def test_of_a_picture_that_no_model_can_be_shown_a_smaller_one_is_fetched(mimetype, size, kind, name):
    file = {"id": "F1", "name": "a b.jpg", "mimetype": mimetype, "size": size, "url_private": "https://f/1"}
    file |= {"thumb_1024": "https://f/tmb/a%20b_1024.png", "thumb_720": "https://f/tmb/a%20b_720.png"}
    (found,) = arrived(event(files=[file])).attachments

    assert (found.kind, found.name) == (kind, name)
    small = name.endswith("1024.png")
    assert found.source == ("F1 https://f/tmb/a%20b_1024.png" if small else "F1 https://f/1")
    assert found.size_bytes == (0 if small else size)


def test_a_file_that_cannot_be_fetched_is_a_line_of_the_text():
    files = [
        {"id": "F1", "mode": "tombstone"},
        {"id": "F2", "mode": "hidden_by_limit"},
        {"id": "F3", "mode": "external", "is_external": True, "name": "plan", "external_url": "https://docs/plan"},
        {"id": "F4", "file_access": "file_not_found"},
        {"id": "F5", "is_external": True, "name": "sums", "url_private": "https://docs/sums"},
    ]
    arrival = arrived(direct(text="", files=files))

    assert arrival.attachments == ()
    assert arrival.text.splitlines() == [
        "[a file that was deleted]",
        "[a file that Slack hides because of limits in the workspace's plan]",
        "[file elsewhere: plan (https://docs/plan)]",
        "[a file that cannot be opened]",
        "[file elsewhere: sums (https://docs/sums)]",
    ]


def test_a_message_that_is_passed_on_is_said_by_somebody_else():
    share = {"is_share": True, "author_name": "Cy", "text": "/stop <@U0>", "files": [{"id": "F1", "name": "a.txt"}]}
    arrival = arrived(direct(text="", attachments=[share]))

    assert arrival.text == "[forwarded from Cy]\n/stop @pond"
    assert [each.name for each in arrival.attachments] == ["a.txt"]
    assert arrived(event(text="<@U0> look", attachments=[share])).text == "look\n[forwarded from Cy]\n/stop @pond"
    assert not arrived(event(text="", attachments=[share])).mentioned


def test_a_message_that_is_linked_to_is_shown_as_one_that_is_passed_on():
    link = {
        "is_msg_unfurl": True,
        "author_name": "Cy",
        "message_blocks": [
            {"message": {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "it is *deep*"}}]}}
        ],
    }

    assert (
        arrived(direct(text="<https://x>", attachments=[link])).text == "https://x\n[forwarded from Cy]\nit is *deep*"
    )


def test_what_a_link_shows_is_not_said():
    assert arrived(direct(text="<https://x>", attachments=[{"title": "Frogs", "text": "x"}])).text == "https://x"


@each_row(
    "fields",
    [
        {"blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "build &lt;4&gt; by <@U8>"}}]},
        {"attachments": [{"fallback": "x", "text": "build &lt;4&gt; by <@U8>"}]},
        {"attachments": [{"fallback": "build &lt;4&gt; by <@U8>"}]},
        {
            "attachments": [
                {"blocks": [{"type": "context", "elements": [{"type": "plain_text", "text": "build <4> by @Bo"}]}]}
            ]
        },
        {
            "blocks": [
                {
                    "type": "rich_text",
                    "elements": [
                        {
                            "type": "rich_text_section",
                            "elements": [
                                {"type": "text", "text": "build <4> by "},
                                {"type": "user", "user_id": "U8"},
                                {"type": "something_new"},
                            ],
                        }
                    ],
                }
            ]
        },
    ],
)
@each_row("text", ["", "This content can't be displayed."])
def test_a_message_without_a_text_says_what_its_blocks_or_cards_say(fields, text):
    assert arrived(event(text=text, **fields)).text == "build <4> by @Bo"


def test_rich_text_is_read_element_by_element():
    elements = [
        {"type": "link", "url": "https://x", "text": "site"},
        {"type": "text", "text": " "},
        {"type": "emoji", "name": "tada"},
        {"type": "channel", "channel_id": "C2"},
        {"type": "broadcast", "range": "here"},
        {"type": "usergroup", "usergroup_id": "S1"},
        {"type": "date", "timestamp": 1, "fallback": "today"},
        7,
    ]
    blocks = [
        {"type": "header", "text": {"type": "plain_text", "text": "Top"}},
        {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_list",
                    "elements": [
                        {"type": "rich_text_section", "elements": elements},
                        {"type": "rich_text_section", "elements": []},
                    ],
                }
            ],
        },
    ]
    assert arrived(event(text="", blocks=blocks)).text == "Top\n[site](https://x) :tada:#C2@here@S1today"


def test_what_cannot_be_read_is_named_to_a_person_who_waits_for_an_answer():
    assert arrived(direct(text="", blocks=[{"type": "video"}])).text == "[unsupported: video]"
    assert arrived(direct(text="")).text == "[unsupported: message]"
    assert arrived(direct(text="<@U0>")).text == ""
    assert heard(event(text="")) is None


def test_blocks_within_blocks_have_an_end():
    nested: object = {"type": "mrkdwn", "text": "deep"}
    for _ in range(200):
        nested = {"type": "section", "elements": [nested]}

    assert arrived(direct(text="", blocks=[nested])).text == "[unsupported: section]"


def test_the_people_of_a_message_are_those_whose_names_it_does_not_tell():
    found = event(text="<@U8> and <@U0>", attachments=[{"is_share": True, "text": "<@U9>"}])
    hook = event(user=None, bot_id="B9", text="", username="Builds")
    silent = event(user=None, bot_id="B9", text="")

    assert set(people_of(lenient(Body, body(found)).event)) == {"U7", "U8", "U0", "U9"}
    assert set(people_of(lenient(Body, body(changed(found))).event)) >= {"U7", "U8"}
    assert set(people_of(lenient(Body, body(hook)).event)) == {""}
    assert set(people_of(lenient(Body, body(silent)).event)) == {"B9"}


def test_a_long_message_is_read_whole():
    text = "ä" * 200_000

    assert arrived(direct(text=text)).text == text


def test_the_bot_knows_itself_by_what_the_platform_tells():
    told = {"ok": True, "team_id": "T1", "user_id": "U0", "bot_id": "B0", "user": "pond", "team": "Frogs"}

    assert me_of(told) == ME
    with pytest.raises(ValueError, match="does not contain the team"):
        me_of({"ok": True, "team_id": "T1"})


def command(**fields):
    said = {"command": "/millpond", "text": "", "team_id": "T1", "channel_id": "C1", "user_id": "U7"}
    said |= {"user_name": "ann", "trigger_id": "13.4.abc", "channel_name": "general", **fields}
    return read_command(lenient(Command, said), at=5.0, names=NAMES)


@each_row(
    ("name", "text", "said"),
    [
        ("/millpond", "status", "/status"), ("/millpond", " /status ", "/status"), ("/millpond", "", "/help"),
        ("/millpond", "model fast", "/model fast"),
        ("/millpond", "how deep is it &amp; <@U8>?", "how deep is it & @Bo?"),
        ("/millpond", "status of the pond?", "status of the pond?"), ("/status", "", "/status"),
        ("/model", "fast", "/model fast"), ("/ask", "who?", "who?"),
    ],
)  # fmt: skip
def test_a_slash_command_is_a_command_of_ours_or_words_to_the_bot(name, text, said):
    arrival = command(command=name, text=text)

    assert arrival is not None
    assert arrival.text == said


def test_a_slash_command_belongs_to_the_conversation_itself():
    arrival = command(text="status")

    assert arrival is not None
    assert (arrival.chat, arrival.thread, arrival.chat_kind, arrival.mentioned) == ("C1", "", "group", True)
    assert (arrival.id, arrival.seen_as, arrival.order) == ("13.4.abc", "13.4.abc", 5.0)
    assert (arrival.sender.id, arrival.sender.name) == ("U7", "Ann Lee")
    assert command(channel_id="D1").chat_kind == "direct"
    assert command(user_id="U6").sender.name == "ann"


@each_row("missing", ["channel_id", "user_id", "trigger_id"])
def test_a_slash_command_of_nobody_is_none(missing):
    assert command(**{missing: ""}) is None


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([TS, "U0", "C1", "im"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = sorted({field for kind in (Body, Command) for field in kind.__struct_fields__})
SAID = [
    "type", "subtype", "channel", "channel_type", "ts", "thread_ts", "deleted_ts", "user", "bot_id", "text", "blocks",
]  # fmt: skip
SAID += ["files", "attachments", "edited", "hidden", "message", "previous_message", "bot_profile", "app_id", "username"]


@st.composite
def spoilt(draw):
    """An event of which some fields, at any depth, are anything."""
    inner = event(**draw(st.dictionaries(st.sampled_from(SAID), JSON, max_size=3)))
    subtype = draw(st.sampled_from(["", "message_changed", "message_deleted", "bot_message", "file_share"]))
    outer = event(subtype=subtype, message=inner, previous_message=draw(st.sampled_from([None, inner, event()])))
    outer |= {"deleted_ts": TS} | draw(st.dictionaries(st.sampled_from(SAID), JSON, max_size=3))
    return body(outer) | draw(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=1))


@given(spoilt())
def test_whatever_an_event_holds_it_is_a_message_that_can_be_stored_or_none(found):
    arrival = read(lenient(Body, found), ME, NAMES)

    assert arrival is None or msgspec.json.encode(arrival)
    assert arrival is None or (arrival.id and arrival.seen_as.startswith(f"T1:{arrival.chat}:{arrival.id}"))


@given(st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), JSON))
def test_whatever_fields_a_slash_command_has_it_is_a_message_that_can_be_stored_or_none(fields):
    arrival = read_command(lenient(Command, fields), at=1.0)

    assert arrival is None or msgspec.json.encode(arrival)
