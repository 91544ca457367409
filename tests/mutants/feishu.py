"""Mutants of the Feishu channel."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "channels/feishu/api.py",
        "integration/test_feishu.py",
        (
            "A token that is not accepted is replaced.",
            "            self._token.drop(token)\n",
            "            break\n",
            "test_a_token_is_bought_once_and_again_when_it_is_not_accepted",
        ),
        (
            "Who waits for a token keeps the own time limit.",
            "        with anyio.move_on_after(left_s(deadline)):\n            return await self._token",
            "        with anyio.move_on_after(None):\n            return await self._token",
            "test_who_waits_for_a_token_that_another_caller_buys_keeps_the_own_time_limit",
        ),
        (
            "A request with a token that is never accepted is made twice at most.",
            "for is_last in (False, True):",
            "for is_last in (False, False, True):",
            "test_a_token_that_is_never_accepted_is_told_and_not_asked_for_without_end",
        ),
    ),
    *mutants_of(
        "channels/feishu/api_types.py",
        "integration/test_feishu.py",
        (
            "Feishu's wish for a rest is kept.",
            'self.headers.get("x-ogw-ratelimit-reset") or ',
            "",
            "test_a_rate_limit_says_when_to_come_again",
        ),
    ),
    *mutants_of(
        "channels/feishu/buttons.py",
        "integration/test_feishu.py",
        (
            "A button works only in the chat where its question was asked.",
            " or value.chat != event.context.open_chat_id:",
            ":",
            "test_a_press_that_is_no_buttons_is_passed_over",
        ),
        (
            "A label is not longer than Feishu takes.",
            "label_max=LABEL_MAX_CHARS",
            "label_max=None",
            "test_a_refused_press_is_explained_to_its_person_alone_and_an_accepted_one_stays_without_words",
        ),
    ),
    *mutants_of(
        "channels/feishu/card_streams.py",
        "integration/test_feishu.py",
        (
            "An app that may not change cards is not asked to again.",
            "            self.are_there = False\n",
            "",
            "test_an_app_that_may_not_change_cards_replaces_the_message",
        ),
        (
            "A card that streams no more is replaced as a whole.",
            "            self.forget(message_id)\n            return False\n",
            "            self.forget(message_id)\n            raise\n",
            "test_a_card_that_streams_no_more_is_replaced",
        ),
        (
            "The last text of a stream ends it.",
            '"data": card_of(shown)}',
            '"data": card_of(shown, streaming=True)}',
            "test_a_text_that_is_being_written_streams_into_one_card_and_ends_streaming",
        ),
    ),
    *mutants_of(
        "channels/feishu/channel.py",
        "integration/test_feishu.py",
        (
            "Only the beginning of an answer is found by sending it again.",
            "        if not part.preview:\n",
            "        if False:\n",
            "test_the_beginning_of_an_answer_is_found_by_another_process_and_shown_once",
        ),
        (
            "A search is never in doubt.",
            "raise SendRefused(str(error)) from None  # it may",
            "raise  # it may",
            "test_the_beginning_of_an_answer_is_found_by_another_process_and_shown_once",
        ),
    ),
    *mutants_of(
        "channels/feishu/message_sender.py",
        "integration/test_feishu.py",
        (
            "An administrator who is named by a user ID gets direct messages.",
            '"open_id" if chat.chat.startswith(USER) else "chat_id"',
            '"chat_id"',
            "test_an_administrator_who_is_named_by_a_user_id_gets_direct_messages",
        ),
        (
            "What is refused as a card is sent as plain text.",
            "elif no.code in NO_FORM and len(left) > 1:",
            "elif no.code in NO_FORM and len(left) > 2:",
            "test_what_is_refused_as_a_card_goes_as_text",
        ),
        (
            "A text that was taken back while it is written is shown again.",
            "if part.preview and sent in self._removed:",
            "if part.preview and not sent:",
            "test_a_text_that_was_taken_back_while_it_is_written_is_shown_again",
        ),
        (
            "An answer to a message that cannot be answered stands in the chat.",
            'answers, left = "", forms',
            "raise",
            "test_what_answers_a_message_that_cannot_be_answered_stands_in_the_chat",
        ),
        (
            "What was asked in a thread that is gone is answered in the chat.",
            "if answers and no.code in NOT_THERE:",
            "if answers and no.code in ():",
            "test_what_was_asked_in_a_thread_that_is_gone_is_answered_in_the_chat",
        ),
    ),
    *mutants_of(
        "channels/feishu/thread_history.py",
        "integration/test_feishu.py",
        (
            "Of a long thread the last messages are read.",
            '            "sort_type": "ByCreateTimeDesc",\n',
            "",
            "test_the_first_and_the_last_messages_of_a_long_thread_before_the_question_are_read",
        ),
    ),
    *mutants_of(
        "channels/feishu/emoji_reactions.py",
        "integration/test_feishu.py",
        (
            "Only the bot's own mark is taken away.",
            'nested(each, "operator", "operator_id") == self._api.app_id and ',
            "",
            "test_another_process_takes_the_mark_of_this_bot_away",
        ),
    ),
    *mutants_of(
        "channels/feishu/long_connection.py",
        "integration/test_feishu.py",
        (
            "An event in several frames is put together.",
            "if len(parts) < count:",
            "if len(parts) < 1:",
            "test_a_large_event_comes_in_parts",
        ),
        (
            "The words of a refused connection are not logged.",
            ".strip(), brief=reason)",
            ".strip())",
            "test_the_words_of_a_refused_connection_are_not_logged",
        ),
        (
            "A shorter interval of pings begins with the next ping.",
            "                self._told_s = ping_s_of(frame.payload, self._told_s)\n",
            "                self._told_s = self._ping_s = ping_s_of(frame.payload, self._told_s)\n",
            "test_a_shorter_interval_of_pings_begins_with_the_next_ping",
        ),
        (
            "A silent connection is replaced.",
            'self.reason, there_is_more = "silent", False',
            'self.reason, there_is_more = "silent", True',
            "test_a_connection_that_is_silent_is_replaced_and_nothing_is_lost",
        ),
    ),
    *mutants_of(
        "channels/feishu/event_inlet.py",
        "integration/test_feishu.py",
        (
            "An event of another app is passed over.",
            'header is None or header.app_id not in ("", self._me.app_id)',
            "header is None",
            "test_events_of_another_app_are_passed_over",
        ),
        (
            "Forwarded messages are read.",
            "None if is_forward else next(iter(found), None), found[1:]",
            "None if is_forward else next(iter(found), None), ()",
            "test_forwarded_messages_are_read",
        ),
        (
            "A deletion waits until its thread is known.",
            "        except (Rejected, MissingScope):  #",
            "        except ChannelError:  #",
            "test_what_was_taken_back_waits_until_feishu_says_in_which_thread_it_was",
        ),
        (
            "A deletion whose message Feishu never tells holds up no chat.",
            "        except (Rejected, MissingScope):  #",
            "        except Rejected:  #",
            "test_a_deletion_that_cannot_be_looked_up_holds_up_no_message",
        ),
    ),
    *mutants_of(
        "channels/feishu/events_endpoint.py",
        "integration/test_feishu.py",
        (
            "An event without a valid signature is refused.",
            "        if problem:\n            self._note(problem)\n",
            "        if problem and not payload:\n            self._note(problem)\n",
            "test_only_events_with_a_valid_signature_are_accepted",
        ),
        (
            "An event that is not stored is not acknowledged.",
            "Response(status_code=503,",
            "Response(status_code=200,",
            "test_an_event_that_is_not_stored_is_to_be_sent_again",
        ),
    ),
    *mutants_of(
        "channels/feishu/events_endpoint.py",
        "integration/test_feishu.py",
        (
            "A request without a signature learns nothing about its padding.",
            'payload, problem = b"", problem or f"{error}. Check encrypt_key."',
            'payload, problem = b"", f"{error}. Check encrypt_key."',
            "test_a_request_without_a_signature_learns_nothing_about_its_padding",
        ),
    ),
    *mutants_of(
        "channels/feishu/events_endpoint.py",
        "unit/test_feishu_wire.py",
        (
            "An old signature is not accepted.",
            "abs(int(stamped) - now_s) <= OLD_S",
            "abs(int(stamped) - now_s) <= now_s",
            "test_an_old_signature_is_not_accepted",
        ),
        (
            "The padding of an event shows the key.",
            '        raise ValueError("the event cannot be decrypted with the configured Encrypt Key")\n',
            "        pass\n",
            "test_what_is_not_encrypted_with_the_key_is_refused",
        ),
    ),
    *mutants_of(
        "channels/feishu/text_forms.py",
        "unit/test_feishu_texts.py",
        (
            "No text calls everybody.",
            '_TAG.sub("&#60;", ',
            '_TAG.sub("<", ',
            "test_markdown_calls_nobody_shows_no_picture_and_has_few_tables",
        ),
        (
            "A text that is being written is one message.",
            'said = "" if part.preview else part.text',
            "said = part.text",
            "test_a_repetition_has_the_same_uuid_and_another_message_has_not",
        ),
        (
            "Two texts are two messages.",
            'said = "" if part.preview else part.text',
            'said = ""',
            "test_a_repetition_has_the_same_uuid_and_another_message_has_not",
        ),
    ),
    *mutants_of(
        "channels/feishu/feishu_events.py",
        "unit/test_feishu_texts.py",
        (
            "Who quotes the bot means it.",
            "mentioned = direct or named or is_ours",
            "mentioned = direct or named",
            "test_an_event_says_where_it_belongs_and_whether_the_bot_is_meant",
        ),
        (
            "A thread is known by its first message.",
            "return (message.root_id or message.message_id) if message.thread_id else",
            "return message.thread_id if message.thread_id else",
            "test_an_event_says_where_it_belongs_and_whether_the_bot_is_meant",
        ),
    ),
    *mutants_of(
        "daemon/config/address.py",
        "unit/test_outbound.py",
        (
            "A long connection is opened below Feishu's domains.",
            "    domains = (*own, home) if is_base_secure else own\n",
            "    domains = (home,)\n",
            "test_what_is_feishus_is_told_apart",
        ),
    ),
)
