"""Mutants of Discord: what is acknowledged, sent, found and heard."""

from tests.mutants.mutant import mutants_of

_GATEWAY = "integration/test_discord_gateway.py"
_EVENTS = "unit/test_discord_events.py"
_READ = "test_a_message_is_read_with_names_and_without_the_call"
_ENDS = "test_a_connection_that_ends_is_resumed_and_nothing_is_lost"
_FOUND = "test_what_was_sent_is_found_by_its_nonce_or_else_by_its_text"
_WRITTEN = "test_markdown_is_written_for_discord"

MUTANTS = (
    *mutants_of(
        "channels/discord/gateway_session.py",
        _GATEWAY,
        (
            "Only events before which all are handled are acknowledged.",
            "return min(self._pending) - 1 if self._pending else self.received",
            "return self.received",
            "test_a_heartbeat_acknowledges_no_event_that_is_not_handled",
        ),
        (
            "Another process resumes the session.",
            "        self.begin(session)\n",
            "",
            "test_another_process_resumes_the_session_behind_what_was_handled",
        ),
    ),
    *mutants_of(
        "channels/discord/gateway_connection.py",
        _GATEWAY,
        (
            "A new session is saved before its first event.",
            "            await self._sessions.save_now()\n",
            "",
            "test_a_new_session_is_saved_before_its_first_event",
        ),
        (
            "A login without an answer is given up.",
            "            with anyio.move_on_at(deadline):\n",
            "            with anyio.move_on_at(deadline + 1e6):\n",
            "test_a_login_without_an_answer_is_given_up[6]",
        ),
        (
            "A connection is closed so that the session stays.",
            "KEEP_SESSION = 4_000",
            "KEEP_SESSION = 1_000",
            "test_another_process_resumes_the_session_behind_what_was_handled",
        ),
        (
            "A connection on which no heartbeat is answered is replaced.",
            "            if not self._is_acknowledged:\n",
            "            if False:\n",
            f"{_ENDS}[mute]",
        ),
        (
            "Discord's request to reconnect is followed.",
            "            elif payload.op == _RECONNECT:\n",
            "            elif payload.op == -1:\n",
            f"{_ENDS}[reconnect]",
        ),
    ),
    *mutants_of(
        "channels/discord/gateway.py",
        _GATEWAY,
        (
            "Without the privileged intent the bot connects without it.",
            "intents=self._login.intents & ~MESSAGE_CONTENT)",
            "intents=self._login.intents)",
            "test_without_the_privileged_intent_the_bot_says_so_and_hears_who_means_it",
        ),
        (
            "After each refused session the bot waits for longer.",
            "rest_s = max(INVALID_MAX_S * random.uniform(0.2, 1.0), self._backoff())",
            "rest_s = INVALID_MAX_S * random.uniform(0.2, 1.0)",
            "test_after_each_refused_session_it_waits_for_longer",
        ),
        (
            "A session that Discord never resumes is given up.",
            "        is_hopeless = ending.reason == INVALID and self._failures >= ELSEWHERE\n",
            "        is_hopeless = False\n",
            "test_a_session_that_is_never_resumed_is_given_up",
        ),
        (
            "A session is resumed although no new one is allowed.",
            "        if self._sessions.id:\n            return (await",
            "        if False:\n            return (await",
            "test_a_session_is_resumed_at_another_address_when_no_new_one_is_allowed",
        ),
        (
            "A session that is lost is begun anew with the same number of connections.",
            "            may_reshard = self._is_rejected or not any(each.id for each in self._others)\n",
            "            may_reshard = True\n",
            "test_one_of_several_connections_is_replaced_without_the_others",
        ),
    ),
    *mutants_of(
        "channels/discord/identify_limit.py",
        _GATEWAY,
        (
            "No session is begun that Discord does not allow.",
            "if starts.remaining <= 0:",
            "if starts.remaining < 0:",
            "test_when_no_new_session_is_allowed_it_waits_until_one_is",
        ),
        (
            "The last sessions of a day are spread over it.",
            "rest_s = reset_s / starts.remaining if",
            "rest_s = 0.0 if",
            "test_the_last_sessions_that_discord_allows_are_spread_over_the_time_until_it_allows_more",
        ),
        (
            "No more sessions begin at a time than Discord allows.",
            "return shard % self._concurrency",
            "return shard",
            "test_as_many_sessions_begin_at_a_time_as_discord_allows[1-1]",
        ),
    ),
    *mutants_of(
        "channels/discord/message_sender.py",
        _GATEWAY,
        (
            "An answer is completed in a thread that was closed.",
            "            if no.code != ARCHIVED or request.passing:\n",
            "            if True:\n",
            "test_an_answer_is_completed_in_a_thread_that_was_closed_meanwhile[False]",
        ),
        (
            "Discord refuses a doubled attempt.",
            '"enforce_nonce": not part.preview,',
            '"enforce_nonce": False,',
            "test_an_attempt_that_is_repeated_is_the_same_message",
        ),
        (
            "No mention of a model's notifies anybody.",
            '{"parse": [], "replied_user": True}',
            '{"parse": ["everyone"], "replied_user": True}',
            "test_no_message_notifies_whom_a_model_names",
        ),
        (
            "An administrator is written to in the direct message channel.",
            "else await self._direct(chat.chat, deadline, instead=no)",
            "else chat.chat",
            "test_an_administrator_is_written_to_by_the_user_id",
        ),
        (
            "A bot that may not read the history answers all the same.",
            "            if no.code != NO_HISTORY:\n",
            "            if True:\n",
            "test_a_bot_that_may_not_read_the_history_answers_without_a_reply",
        ),
        (
            "The name of a chat leads to no other address.",
            '    if not is_snowflake(chat.chat) or not is_snowflake(chat.thread or "0"):\n',
            "    if False:\n",
            "test_the_name_of_a_chat_leads_to_no_other_address",
        ),
        (
            "What was asked in a deleted thread is answered in its channel.",
            "            if no.code != UNKNOWN_CHANNEL:\n",
            "            if True:\n",
            "test_a_deleted_thread_is_answered_in_its_channel",
        ),
    ),
    *mutants_of(
        "channels/discord/rate_limits.py",
        _GATEWAY,
        (
            "An empty bucket is asked for nothing.",
            'if headers.get("x-ratelimit-remaining") == "0" and reset_s:',
            "if False and reset_s:",
            "test_a_full_bucket_is_asked_for_nothing_more_and_others_are",
        ),
        (
            "Interactions have limits of their own.",
            '        if "/interactions/" not in route.name:',
            "        if True:",
            "test_interactions_have_limits_of_their_own",
        ),
        (
            "The global limit stops every request.",
            "        if is_global:\n",
            "        if False:\n",
            "test_the_global_limit_stops_every_request",
        ),
    ),
    *mutants_of(
        "channels/discord/api_types.py",
        _GATEWAY,
        (
            "A block by Cloudflare stops every request.",
            "LONG_REST_S if told is None else told, is_global=True)",
            "LONG_REST_S if told is None else told, is_global=False)",
            "test_the_global_limit_stops_every_request[proxy]",
        ),
    ),
    *mutants_of(
        "channels/discord/event_inlet.py",
        _GATEWAY,
        (
            "A slash command is answered.",
            "is_first = not is_late and await self._call(first_answer(event, answer))",
            "is_first = not is_late",
            "test_slash_commands_are_registered_once_and_answered",
        ),
        (
            "An interaction is answered in time while Redis is unavailable.",
            "        with anyio.move_on_after(DEFER_S):\n            await interaction",
            "        with anyio.move_on_after(None):\n            await interaction",
            "test_while_redis_is_unavailable_an_interaction_is_answered_in_time_and_its_result_follows[accepted]",
        ),
        (
            "A reply brings the message along that Discord leaves out.",
            "            message = await self._with_answered(message)\n",
            "",
            "test_a_message_that_discord_leaves_out_of_its_reply_is_looked_up[False]",
        ),
        (
            "The answer that a killed process announced follows.",
            "return no.code != ANSWERED",
            "return True",
            "test_the_answer_that_a_process_announced_before_it_was_killed_follows",
        ),
        (
            "A press waits for no message.",
            'chat = f"{chat} press" if interaction.event.type == PRESSED else chat',
            "pass",
            "test_a_press_waits_for_no_message_of_its_chat",
        ),
    ),
    *mutants_of(
        "channels/discord/discord_events.py",
        _EVENTS,
        (
            "A mention of the bot's role means the bot.",
            "any(role in place.roles for role in",
            "any(False for role in",
            _READ,
        ),
        (
            "A reply to the bot means the bot.",
            "return to_us or named",
            "return named",
            "test_a_reply_to_the_bot_means_the_bot_and_quotes_it",
        ),
        (
            "A message that Discord hides is no message.",
            "or (mentioned and message.content)):",
            "or mentioned):",
            "test_what_nobody_said_to_anybody_is_no_message",
        ),
        (
            "The preview of a link is no edit.",
            "if edited and not message.edited_timestamp:",
            "if False:",
            "test_an_edit_is_one_only_if_a_person_made_it",
        ),
    ),
    *mutants_of(
        "channels/discord/message_sender.py",
        _EVENTS,
        (
            "A long text hides no address of a link.",
            'return text if honest(text) == text else text.replace("](", "] ")',
            "return text",
            "test_a_long_text_hides_no_address_either",
        ),
    ),
    *mutants_of(
        "channels/discord/gateway_shards.py",
        _GATEWAY,
        (
            "The privileged intent works from the next start on.",
            "                each.forget()  # a person",
            "                pass  # a person",
            "test_the_privileged_intent_works_from_the_next_start_on",
        ),
    ),
    *mutants_of(
        "channels/discord/message_lookup.py",
        _EVENTS,
        (
            "An old message is not found by its text.",
            "if wanted.now_s - seconds_of(each.id) <= SAME_S and _is_like",
            "if _is_like",
            _FOUND,
        ),
        (
            "A preview that became the part is found.",
            "        yield from (each for each in edited if each.content.strip() == shown(part.text).strip())\n",
            "",
            _FOUND,
        ),
    ),
    *mutants_of(
        "channels/discord/markdown.py",
        _EVENTS,
        ("No text is hidden by its signs.", r'return text.replace("||", r"\|\|")', "return text", _WRITTEN),
        ("A link shows where it leads.", "    text = honest(text)\n", "", _WRITTEN),
    ),
    *mutants_of(
        "workers/agent/file_intake.py",
        "integration/test_discord_walk.py",
        (
            "A picture that was overheard and is replied to is shown once.",
            "file.source not in own and ",
            "",
            "test_a_picture_that_was_overheard_and_is_replied_to_is_shown_once",
        ),
    ),
)
