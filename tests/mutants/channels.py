"""Mutants of channels: leases of their leaders, and what platforms bring."""

from tests.mutants.mutant import Mutant, mutants_of

_LEADS = "test_a_leaders_lease_counts_from_the_question_at_first_and_at_each_renewal"
_AWAY = "test_a_leader_whose_renewals_fail_is_one_until_its_lease_ends_and_no_longer"

_SECRET = "not secrets.compare_digest(shown.encode(), self._secret.encode())"
_NEAR_SECRET = "test_what_is_nearly_the_secret_brings_nothing"
_NEAR_PATH = "test_a_path_that_nearly_is_the_configured_one_is_not_served"
_NEAR_SIGN = "test_what_nearly_is_a_signature_is_not_believed"
_NEAR_TIME = "test_a_signature_of_another_time_is_not_believed"
_OLD = "abs(self._clock.now().timestamp() - int(stamped)) > OLD_S"

_HEARD = "test_reactions_to_messages_of_the_bot_are_shown_with_the_next_message_and_start_no_turn"

_BOTS = "test_only_what_people_put_on_messages_of_the_bot_is_a_reaction"

MUTANTS = (
    *mutants_of(
        "channels/intake/reactions.py",
        "integration/test_heard_reactions.py",
        (
            "Only reactions to the bot's messages are kept.",
            'session, _, turn = reply.rpartition("#")',
            'session, _, turn = (reply or "support:pond-people#0").rpartition("#")',
            _HEARD,
        ),
        ("A removed reaction is forgotten.", "if _id_of(raw).startswith(gone):", "if False:", _HEARD),
        ("A reaction may be put there again.", 'self._bus.call("DEL"', 'self._bus.call("EXISTS"', _HEARD),
    ),
    *(
        Mutant(
            rule=rule, file=f"channels/{file}.py", old=old, new=new, caught_by=f"unit/test_reaction_events.py::{_BOTS}"
        )
        for rule, file, old, new in (
            (
                "At Discord, reactions to other messages are not heard.",
                "discord/discord_events",
                ' or event.message_author_id not in ("", me.id)',
                "",
            ),
            (
                "At Slack, reactions to other messages are not heard.",
                "slack/slack_events",
                "if event.item_user and event.item_user not in (me.user, me.bot):",
                "if False:",
            ),
            (
                "At Feishu, reactions to other messages are not heard.",
                "feishu/feishu_events",
                "if item is None or not is_of(item, me) or not (is_id(who) and",
                "if item is None or not (is_id(who) and",
            ),
            (
                "At Telegram, the bot's own reactions are not heard.",
                "telegram/updates",
                "if _is(who, me) or (chat.type",
                "if (chat.type",
            ),
        )
    ),
    *mutants_of(
        "channels/intake/lua/react.lua",
        "integration/test_heard_reactions.py",
        (
            "A reaction that is told again after the bot has read it is not shown again.",
            "if not redis.call('SET', KEYS[2]",
            "if false and not redis.call('SET', KEYS[2]",
            "test_a_reaction_belongs_to_the_conversation_of_its_message_once",
        ),
        (
            "Many reactions push out no messages.",
            "for number = 1, #reactions - tonumber(ARGV[3]) do",
            "for number = 1, 0 do",
            "test_many_reactions_push_out_older_ones_and_no_messages",
        ),
    ),
    *mutants_of(
        "daemon/config/channels.py",
        "integration/test_intake_runs.py",
        (
            "A signed request cannot be repeated while its signature is valid.",
            "max(usual_s, 600.0)",
            "usual_s",
            "test_ids_are_known_as_long_as_their_platform_or_a_stranger_can_repeat_a_request",
        ),
    ),
    *mutants_of(
        "channels/intake/intake.py",
        "integration/test_intake.py",
        (
            "A press belongs to the thread of its question.",
            "await self._reactions.posted.placed(cleaned(press.arrival))",
            "cleaned(press.arrival)",
            "test_a_press_belongs_to_the_thread_of_its_question",
        ),
    ),
    *mutants_of(
        "channels/intake/intake.py",
        "integration/test_heard_reactions.py",
        (
            "Reactions are heard only where a bot wants them.",
            "if not self._config.hear_reactions or arrival",
            "if arrival",
            _HEARD,
        ),
        (
            "Reactions of people who are not accepted are not kept.",
            '            return "silent"\n        return "overheard" if await self._reactions',
            '            pass\n        return "overheard" if await self._reactions',
            _HEARD,
        ),
    ),
    *mutants_of(
        "channels/discord/lua/save_session.lua",
        "integration/test_zombies.py",
        (
            "A paused leader does not overwrite the session of its successor.",
            "~= ARGV[1] then return 0 end",
            "== '' then return 0 end",
            "test_a_call_that_arrives_in_a_successors_time_changes_nothing[channels/discord/lua/save_session.lua-expired]",
        ),
    ),
    *mutants_of(
        "channels/leader_election.py",
        "unit/test_leases.py",
        (
            "A leader's lease counts from the question.",
            "self._held_until = asked_at + terms.lease_s",
            "self._held_until = time.monotonic() + terms.lease_s",
            _LEADS,
        ),
        ("A leader renews again and again.", 'if status != b"held":', "if True:", _LEADS),
        ("A renewal takes no lease.", "self._lead(RENEW_ONLY)", "self._lead(self.fence)", _LEADS),
        (
            "A lease outlasts a send only if it lasts as long.",
            "return self._held_until - time.monotonic() >= seconds",
            "return self.left_s > 0",
            _LEADS,
        ),
        (
            "A send that the lease would not outlast begins once it is renewed.",
            "            self._renewed.set()\n",
            "",
            "test_a_send_that_the_lease_would_not_outlast_begins_once_it_is_renewed",
        ),
        ("A renewal that failed is tried again.", "continue  # the bus", "return  # the bus", _AWAY),
        (
            "A lease that was given back is over for its holder at once.",
            "        self._held_until = 0.0\n        with",
            "        with",
            "test_a_lease_that_is_given_back_is_over_at_once_though_the_server_is_away",
        ),
        (
            "A lease is asked for with the fence that was seen.",
            'if status == b"free":',
            "if False:",
            "test_a_lease_under_another_fence_is_asked_for_with_the_fence_that_was_seen",
        ),
    ),
    *mutants_of(
        "channels/telegram/webhook.py",
        "unit/test_webhooks.py",
        ("A longer secret of a webhook is another one.", _SECRET, "not shown.startswith(self._secret)", _NEAR_SECRET),
        ("The beginning of a secret is none.", _SECRET, "not self._secret.startswith(shown)", _NEAR_SECRET),
        ("The end of a secret is none.", _SECRET, "not self._secret.endswith(shown)", _NEAR_SECRET),
        ("The case of a secret counts.", _SECRET, "shown.lower() != self._secret.lower()", _NEAR_SECRET),
        ("All bytes of a secret count.", "shown.encode()", 'shown.encode("ascii", "ignore")', _NEAR_SECRET),
        ("Only the path of a webhook is served.", "request.url.path != path", "False", _NEAR_PATH),
        (
            "A path below that of a webhook is another one.",
            "request.url.path != path",
            "not request.url.path.startswith(path)",
            _NEAR_PATH,
        ),
        (
            "An update has a largest size.",
            "max_bytes=UPDATE_MAX_BYTES",
            "max_bytes=UPDATE_MAX_BYTES + 1",
            "test_an_update_that_is_too_large_is_not_read",
        ),
        (
            "A webhook without a secret has one of its own.",
            'f"millpond webhook {config.token.reveal()}"',
            '"millpond webhook"',
            "test_a_webhook_without_a_secret_has_one_of_its_token",
        ),
    ),
    *mutants_of(
        "channels/slack/events_endpoint.py",
        "unit/test_webhooks.py",
        ("A signature of Slack's is checked.", "self._verifier.is_valid(body, stamped, signature)", "True", _NEAR_SIGN),
        (
            "A time that is none makes no signature.",
            "            valid = False\n",
            "            valid = True\n",
            _NEAR_SIGN,
        ),
        ("A signature of Slack's has a time.", "or TIMESTAMP not in request.headers", "", _NEAR_SIGN),
        ("A call of Slack's has a signature.", "SIGNATURE not in request.headers or ", "", _NEAR_SIGN),
        ("An old signature is not believed.", _OLD, "int(stamped) - self._clock.now().timestamp() > OLD_S", _NEAR_TIME),
        (
            "A signature of later is not believed.",
            _OLD,
            "self._clock.now().timestamp() - int(stamped) > OLD_S",
            _NEAR_TIME,
        ),
        (
            "A signature is too old after its limit.",
            "- int(stamped)) > OLD_S",
            "- int(stamped)) > OLD_S + 1",
            _NEAR_TIME,
        ),
        (
            "A signature is not too old within its limit.",
            "- int(stamped)) > OLD_S",
            "- int(stamped)) >= OLD_S",
            "test_a_signature_of_these_minutes_is_believed",
        ),
        ("Only the path of Slack's events is served.", "request.url.path != path", "False", _NEAR_PATH),
        (
            "A path below that of Slack's events is another one.",
            "request.url.path != path",
            "not request.url.path.startswith(path)",
            _NEAR_PATH,
        ),
        (
            "Only a question of Slack's is given back.",
            'asked.challenge if asked.type == "url_verification" else ""',
            "asked.challenge",
            "test_only_a_question_of_slacks_is_given_back",
        ),
    ),
    *mutants_of(
        "channels/lua/lead.lua",
        "integration/test_leading.py",
        (
            "A renewed lease of a leader lasts longer.",
            "  redis.call('HSET', KEYS[1], 'deadline', now + lease)\n  return",
            "  return",
            "test_a_lease_lasts_longer_each_time_that_it_is_renewed",
        ),
        (
            "A wish is forgotten with time.",
            "if wish_left <= 0 or wish_left > tonumber(ARGV[6]) then wish = -1 end",
            "if wish_left > tonumber(ARGV[6]) then wish = -1 end",
            "test_a_wish_is_forgotten_with_time_and_when_clocks_step",
        ),
        (
            "A wish is forgotten when the clock was set back.",
            "if wish_left <= 0 or wish_left > tonumber(ARGV[6]) then wish = -1 end",
            "if wish_left <= 0 then wish = -1 end",
            "test_a_wish_is_forgotten_with_time_and_when_clocks_step",
        ),
        (
            "Of several wishes the one of who has the fewest counts.",
            "led <= wish or",
            "true or",
            "test_of_those_who_wish_for_it_the_one_with_the_fewest_counts",
        ),
    ),
    *mutants_of(
        "channels/leader_election.py",
        "integration/test_leading.py",
        (
            "Nobody gives away what would leave him with less.",
            "self.count - theirs < 2",
            "self.count - theirs < 1",
            "test_who_holds_one_more_keeps_it_and_who_holds_two_more_gives_it_away",
        ),
        (
            "Leases are given away one after the other.",
            " or time.monotonic() < self._next_at",
            "",
            "test_what_is_given_away_never_leaves_its_giver_with_less_than_the_other",
        ),
    ),
    *mutants_of(
        "channels/webhook/webhook_receiver.py",
        "contract/test_webhook.py",
        (
            "A request of a webhook is signed with the secret.",
            'hmac.compare_digest(value.encode("utf-8", "replace"), right)',
            "value",
            "TestWebhook::test_only_requests_with_a_valid_signature_are_accepted",
        ),
        (
            "A signed request is valid for five minutes.",
            "abs(int(time) - now_s) <= TOLERANCE_S",
            "True",
            "TestWebhook::test_an_old_request_is_not_accepted_again_later",
        ),
    ),
    *mutants_of(
        "channels/webhook/channel.py",
        "contract/test_webhook.py",
        (
            "Files are fetched only from the server of the bridge.",
            "if _server(attachment.source) != _server(self._config.url):",
            "if False:",
            "TestWebhook::test_files_of_other_servers_are_not_fetched",
        ),
        (
            "A repeated part has the same id.",
            'name = f"{part.reply}/{part.number}',
            'name = f"{part.attempt}/{part.number}',
            "TestWebhook::test_a_repeated_part_has_the_same_webhook_id_so_that_it_is_shown_once",
        ),
    ),
    *mutants_of(
        "channels/leader_election.py",
        "unit/test_leases.py",
        (
            "The work of a leader that lost its lease is cut short.",
            "            scope.cancel()\n\n        async def end_at_stop",
            "            pass\n\n        async def end_at_stop",
            "test_the_work_of_a_leader_that_lost_its_lease_is_cut_short",
        ),
        (
            "A leader renews often enough for its longest step.",
            "min(queue.renew_s, (queue.lease_s - longest_s) / 3)",
            "queue.renew_s",
            "test_a_leader_renews_often_enough_for_its_longest_step",
        ),
    ),
)
