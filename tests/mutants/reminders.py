"""Mutants of reminders: firing once and in time, limits, and what a stop leaves."""

from tests.mutants.mutant import mutants_of

_REMINDERS = "integration/test_reminders.py"
_TIMES = "unit/test_reminder_times.py"

MUTANTS = (
    *mutants_of(
        "workers/agent/commands/reminder_desk.py",
        _REMINDERS,
        (
            "A reminder whose time passed while all were stopped is not dropped.",
            "after or overdue)",
            "after)",
            "test_a_person_can_stop_all_reminders_and_start_them_again",
        ),
    ),
    *mutants_of(
        "daemon/reminders/lua/change.lua",
        _REMINDERS,
        (
            "A worker knows that another one has deleted the reminder for the same command.",
            "if KEYS[3] then",
            "if false then",
            "test_all_workers_that_carry_out_a_command_give_the_same_answer",
        ),
    ),
    *mutants_of(
        "workers/agent/reminder_delays.py",
        _REMINDERS,
        (
            "A reminder is no message of a person.",
            "(entry.id and not entry.is_reminder)",
            "entry.id",
            "test_only_messages_of_people_count_as_written_also_those_that_left_redis",
        ),
    ),
    *mutants_of(
        "daemon/reminders/lua/fire.lua",
        _REMINDERS,
        (
            "An occurrence that has fired does not fire again.",
            "if not due or redis.call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then return 'gone' end",
            "if not due then return 'gone' end",
            "test_a_call_to_fire_that_arrives_twice_or_late_fires_nothing",
        ),
        (
            "A reminder fires by the server's clock, and not before its time.",
            "if due > now then return 'early' end",
            "",
            "test_a_reminder_never_fires_before_its_time_on_the_servers_clock",
        ),
        (
            "A full session gets its reminder later.",
            "if waiting >= tonumber(ARGV[10]) or",
            "if",
            "test_a_full_session_gets_its_reminder_when_there_is_room_again",
        ),
    ),
    *mutants_of(
        "daemon/reminders/lua/create.lua",
        _REMINDERS,
        (
            "A call that is repeated sets no second reminder.",
            "if redis.call('EXISTS', KEYS[5]) == 1 then return 'again' end",
            "",
            "test_a_call_that_a_successor_repeats_sets_no_second_reminder",
        ),
        (
            "A chat has a limited number of reminders.",
            "if redis.call('HLEN', KEYS[3]) >= tonumber(ARGV[8]) then return 'full' end",
            "",
            "test_a_model_that_sets_reminders_in_a_loop_meets_a_limit",
        ),
    ),
    *mutants_of(
        "daemon/reminders/lua/create.lua",
        "integration/test_zombies.py",
        (
            "A worker that lost its lease sets no reminder.",
            "if redis.call('HGET', KEYS[1], 'nonce') ~= ARGV[1] then return 'stale' end",
            "",
            "test_a_call_that_arrives_in_a_successors_time_changes_nothing[daemon/reminders/lua/create.lua-expired]",
        ),
    ),
    *mutants_of(
        "workers/agent/reminder_delays.py",
        _REMINDERS,
        (
            "A person who wants no reminders gets none.",
            'return Delay(held="stopped", until=None)',
            "pass",
            "test_a_person_can_stop_all_reminders_and_start_them_again",
        ),
        (
            "A person who is not admitted gets no reminder.",
            "if not await self._is_admitted(reminder, bot):",
            "if False:",
            "test_a_person_who_is_no_longer_admitted_gets_no_reminder",
        ),
    ),
    *mutants_of(
        "workers/agent/reminder_delays.py",
        _TIMES,
        (
            "Quiet hours end when the clock shows none, also in a night in which it skips their end.",
            "        minute += dt.timedelta(minutes=1)",
            "        minute += dt.timedelta(hours=1)",
            "test_quiet_hours_end_with_the_first_minute_whose_clock_shows_none_in_every_zone_and_night",
        ),
    ),
    *mutants_of(
        "daemon/reminders/recurrence.py",
        "unit/test_reminder_phrases.py",
        (
            "A day of the week is the first one whose time is ahead.",
            "        if found.utc > now:\n            return found",
            "        return found",
            "test_people_say_times_in_many_ways",
        ),
    ),
    *mutants_of(
        "daemon/reminders/reminder_plan.py",
        "unit/test_reminder_table.py",
        (
            "Words of a time that are not understood are no text of a reminder.",
            "belongs_to_time(phrase, when, said) or",
            "False or",
            "test_a_phrase_that_is_not_understood_is_refused_and_never_read_as_another_time",
        ),
    ),
    *mutants_of(
        "daemon/reminders/phrase_readers.py",
        "unit/test_reminder_table.py",
        (
            "A day of the week is no day of a month: every month on Monday.",
            'is_broken = is_broken or not (added or "YEARLY" in self.repeated)',
            "pass",
            "test_a_phrase_that_is_not_understood_is_refused_and_never_read_as_another_time",
        ),
        (
            "A day behind a time of day changes no hour: 9pm tomorrow.",
            'draft.parts += ["evening"] if name == "tonight" else []',
            'draft.parts = ["evening"] if name == "tonight" else []',
            "test_each_phrase_means_its_time_for_the_tool",
        ),
    ),
    *mutants_of(
        "daemon/reminders/reminder_actions.py",
        _REMINDERS,
        (
            "A change to a time with a repetition changes the repetition.",
            'elif "rule" not in changes and repetition_in(changes.get("when", "")):',
            "elif False:",
            "test_a_changed_time_may_name_another_repetition",
        ),
    ),
    *mutants_of(
        "workers/agent/reminder_sweep.py",
        _REMINDERS,
        (
            "A reminder of an unknown bot delays no other.",
            "left_out[stored.member] = anyio.current_time() + UNKNOWN_S",
            "pass",
            "test_reminders_that_cannot_fire_delay_no_other_and_stay_due_for_other_workers",
        ),
        (
            "A reminder of a full session delays no other.",
            "self._full[stored.session] = anyio.current_time() + FULL_S",
            "pass",
            "test_reminders_that_cannot_fire_delay_no_other_and_stay_due_for_other_workers",
        ),
    ),
    *mutants_of(
        "workers/agent/reminder_sweep.py",
        "faults/test_reminders_killed.py",
        (
            "A reminder fires within seconds.",
            "await anyio.sleep(max(SOONEST_S, min(pause_s, until_tick(LOOK_S))))",
            "await anyio.sleep(20.0)",
            "test_reminders_survive_the_deaths_of_workers_and_of_the_server",
        ),
    ),
    *mutants_of(
        "workers/agent/commands/command_outcome.py",
        _REMINDERS,
        (
            "A stop does not take a pending reminder back.",
            "return inbound.reminder is None or inbound.id in covered",
            "return True",
            "test_a_reminder_is_a_turn_of_its_own_and_no_stop_takes_it_back",
        ),
        (
            "A proactive turn may send nothing.",
            "answer.strip() == NO_REPLY",
            "False",
            "test_a_request_is_answered_as_a_proactive_turn_that_may_say_nothing",
        ),
    ),
    *mutants_of(
        "workers/agent/commands/reminder_desk.py",
        _REMINDERS,
        (
            "A reminder cannot set reminders.",
            'if action in ("set", "change") and any(each.reminder for each in said):',
            "if False:",
            "test_a_reminder_cannot_set_reminders",
        ),
        (
            "Members of a group set no reminders there.",
            'if inbound.chat_kind == "group" and not may(bot, inbound, "remind"):',
            "if False:",
            "test_in_a_group_only_administrators_set_reminders_and_others_in_their_direct_chat",
        ),
    ),
    *mutants_of(
        "daemon/reminders/recurrence.py",
        _TIMES,
        (
            "A repetition that never meets its time is refused.",
            "    except ValueError:  # every two hours",
            "    except ZeroDivisionError:  # every two hours",
            "test_a_wish_is_confirmed_with_its_time_or_refused_with_a_remedy",
        ),
        (
            "A time that has passed is refused.",
            "if found.utc <= now:",
            "if False:",
            "test_a_wish_is_confirmed_with_its_time_or_refused_with_a_remedy",
        ),
        (
            "A rule whose first time is centuries away is refused.",
            "if (found.utc - start.utc).total_seconds() > FAR_S:",
            "if False:",
            "test_a_wish_is_confirmed_with_its_time_or_refused_with_a_remedy",
        ),
        (
            "A rule has a limited length.",
            "if len(given) > RULE_MAX_CHARS:",
            "if False:",
            "test_a_wish_is_confirmed_with_its_time_or_refused_with_a_remedy",
        ),
        (
            "A time that the clocks skip is told.",
            'clock="missing" if is_missing else "twice"',
            'clock="twice"',
            "test_a_wish_is_confirmed_with_its_time_or_refused_with_a_remedy",
        ),
    ),
    *mutants_of(
        "daemon/reminders/recurrence.py",
        _TIMES,
        (
            "Two occurrences that a skipped hour puts at the same time are one.",
            "if (found.utc - last).total_seconds() >= apart_s:",
            "if True:",
            "test_two_occurrences_that_a_skipped_hour_puts_at_the_same_time_are_one",
        ),
    ),
)
