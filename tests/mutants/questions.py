"""Mutants of questions and their buttons, of split messages, and of what an answer looks like on a platform."""

from tests.mutants.mutant import mutants_of

_ODD = "TestDiscord::test_a_question_with_odd_choices_has_the_buttons_that_the_platform_takes"
_SILENT = "test_a_press_where_the_bot_answers_nothing_or_that_fails_is_explained"
_PRESS = "test_a_pressed_button_is_its_command_once_and_nothing_for_whoever_may_not_press_it"
_BUTTONS = "TestTelegram::test_choices_are_buttons_that_go_once_a_press_was_accepted_and_stay_when_it_was_refused"
_PIECES = "test_pieces_of_a_long_message_collect_although_the_channel_has_no_window"
_FORMULAS = "test_formulas_are_typeset_in_rich_messages_and_read_as_text_elsewhere"
_PRICES = "test_prices_code_and_escapes_are_no_formulas"
_TABLE = "test_a_table_that_has_to_be_cut_repeats_its_head"
_LONG = "test_a_long_text_is_one_rich_message_and_a_file_where_that_is_refused"
_OLD = "test_a_button_works_once_and_that_of_an_older_list_not_at_all"

MUTANTS = (
    *mutants_of(
        "channels/intake/intake.py",
        "integration/test_intake.py",
        ("A question is answered once.", 'seen_as=f"press {arrival.id}"', "seen_as=arrival.seen_as", _PRESS),
        ("A button for one person is nobody else's.", ' or only not in ("", arrival.sender.id)', "", _PRESS),
        ("Where a bot is silent, its buttons are too.", 'heard != "heard" or is_silent', 'heard != "heard"', _SILENT),
        ("A button gives no rights.", "not may(self._bot, inbound, inbound.command)", "False", _PRESS),
        ("A button can only send a command.", "if session is None or not command:", "if session is None:", _PRESS),
        ("A full message waits for its other pieces.", "window_s = max(window_s, PASTE_S)", "pass", _PIECES),
        (
            "A piece that names nobody belongs to the first one.",
            "not case.arrival.mentioned and self._pastes.follows(case.arrival)",
            "False",
            _PIECES,
        ),
    ),
    *mutants_of(
        "channels/intake/group_messages.py",
        "integration/test_intake.py",
        (
            "An album brings the files of what it answers once.",
            "        if first == arrival.id:\n",
            "        if True:\n",
            "test_the_files_of_a_message_that_an_album_answers_are_brought_once",
        ),
    ),
    *mutants_of(
        "channels/telegram/updates.py",
        "unit/test_telegram_updates.py",
        (
            "A button that its message does not have is nobody's choice.",
            "return not known or data in known",
            "return True",
            "test_a_press_of_a_button_that_its_message_does_not_have_is_passed_over",
        ),
        (
            "A name alone is a question about the photo that it answers.",
            "if not (text or attachments or words.mentions_me):",
            "if not (text or attachments):",
            "test_a_name_alone_is_a_question_about_the_photo_that_it_answers",
        ),
    ),
    *mutants_of(
        "channels/arrival.py",
        "contract/test_discord.py",
        ("A question has no more buttons than a platform takes.", "][:BUTTONS_MAX]", "]", _ODD),
    ),
    *mutants_of(
        "channels/telegram/buttons.py",
        "contract/test_telegram.py",
        ("Buttons stay after a refused press.", "        if not refusal:\n", "        if True:\n", _BUTTONS),
        ("Buttons go after an accepted press.", "        if not refusal:\n", "        if False:\n", _BUTTONS),
    ),
    *mutants_of(
        "workers/agent/commands/slash_memory.py",
        "integration/test_telegram_walk.py",
        (
            "The button of an older list deletes nothing.",
            "if token and (pending is None or token != token_of(pending.question)):",
            "if False:",
            _OLD,
        ),
    ),
    *mutants_of(
        "daemon/session/lua/withdraw.lua",
        "integration/test_withdrawing.py",
        (
            "The turn of a deleted message stops.",
            "if not at and why == 'late' and",
            "if false and",
            "test_the_turn_of_a_message_stops_and_a_message_behind_it_goes",
        ),
        (
            "The turn of an earlier message goes on.",
            " and redis.call('LINDEX', KEYS[3], 0) == ARGV[2] then",
            " then",
            "test_a_burst_that_is_being_answered_is_left_alone",
        ),
    ),
    *mutants_of(
        "workers/lease_upkeep.py",
        "integration/test_withdrawing.py",
        (
            "A deleted message is its own stop.",
            "not after(waiting[0].stream_id, upto)",
            "after(upto, waiting[0].stream_id)",
            "test_the_turn_of_a_message_stops_and_a_message_behind_it_goes",
        ),
    ),
    *mutants_of(
        "channels/live_display/live_display.py",
        "integration/test_showing.py",
        (
            "A mark is removed after the answer.",
            "        self._reactions.clear(reply)\n",
            "",
            "test_a_message_is_marked_from_its_acceptance_to_its_answer",
        ),
    ),
    *mutants_of(
        "channels/live_display/streamer.py",
        "integration/test_showing.py",
        (
            "A refused preview pauses its chat.",
            "                if error.retry_after_s:\n",
            "                if False:\n",
            "test_a_chat_that_refuses_a_preview_is_sent_nothing_until_it_may_be",
        ),
    ),
    *mutants_of(
        "channels/telegram/polling.py",
        "unit/test_telegram_asking.py",
        (
            "A first conflict is a short one.",
            "CONFLICT_MIN_S * 2 ** min(self._conflicts, DOUBLINGS_MAX)",
            "CONFLICT_MAX_S",
            "test_a_first_conflict_stops_the_asking_for_two_seconds_at_most_and_further_ones_for_longer",
        ),
    ),
    *mutants_of(
        "channels/outbox/reply_parts.py",
        "unit/test_contents.py",
        (
            "A long text is no caption.",
            "if self._channel.length(text) <= self._channel.limits.caption_max:",
            "if self._channel.limits.caption_max:",
            "test_a_short_text_stands_below_the_first_file_if_the_platform_can_do_that",
        ),
    ),
    *mutants_of(
        "channels/text/text_split.py",
        "unit/test_text.py",
        (
            "A part of a table repeats its head.",
            "            self._opening = table.head\n",
            "            pass\n",
            _TABLE,
        ),
    ),
    *mutants_of(
        "channels/telegram/message_sender.py",
        "integration/test_telegram.py",
        (
            "A long text that is refused goes as a file.",
            "if length(text) <= TEXT_MAX or no.moved_to or no.says(*HOPELESS):",
            "if True:",
            _LONG,
        ),
    ),
    *mutants_of(
        "channels/text/formulas.py",
        "unit/test_telegram_forms.py",
        ("A price is no formula.", "if not _mathematical(latex) and not", "if False and not", _PRICES),
    ),
    *mutants_of(
        "channels/telegram/text_forms.py",
        "unit/test_telegram_forms.py",
        (
            "A line in a formula is no column.",
            '"".join(_UNSAFE.get(sign, sign) for sign in one.latex)',
            "one.latex",
            _FORMULAS,
        ),
    ),
)
