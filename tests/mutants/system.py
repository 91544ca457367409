"""Mutants of the page System: the history, the contents of the queues, and log lines."""

from tests.mutants.mutant import mutants_of

_RATES, _QUEUES = "integration/test_rates.py", "integration/test_web_queues.py"
_MINUTE = "test_the_numbers_of_all_processes_are_added_up_by_the_minute"
_QUIET = "test_a_quiet_process_writes_nothing_and_an_hour_expires_after_a_day"
_DAY = "test_a_day_has_steps_of_a_quarter_of_an_hour_and_no_older_numbers"
_TEXT = "test_a_text_is_shown_on_request_and_the_request_is_audited"
_RIGHTS = "test_operators_may_ask_everything_and_members_a_part"

MUTANTS = (
    *mutants_of(
        "daemon/rates/rate_history.py",
        _RATES,
        ("A quiet process writes nothing.", "if done != self._saved:", "if True:", _QUIET),
        ("Each minute has its own numbers.", "if now != self._minute:", "if False:", _MINUTE),
    ),
    *mutants_of(
        "daemon/run.py",
        _RATES,
        (
            "Every process records what it does.",
            "        background.start_soon(record, process.bus, process.clock, process.name)\n",
            "",
            "test_a_process_records_what_it_does_until_it_stops",
        ),
    ),
    *mutants_of(
        "daemon/rates/lua/save.lua",
        _RATES,
        ("The numbers of an hour expire.", "redis.call('PEXPIRE', KEYS[1], ARGV[3])", "local _ = 1", _QUIET),
    ),
    *mutants_of(
        "daemon/rates/rate_history.py",
        _RATES,
        ("A step of a day is a quarter of an hour.", '"day": (1_440, 15)', '"day": (1_440, 30)', _DAY),
        (
            "Damaged numbers do not end a history.",
            "    except UNREADABLE:\n",
            "    except ZeroDivisionError:\n",
            _DAY,
        ),
    ),
    *mutants_of(
        "channels/web/system/queue_endpoints.py",
        _QUEUES,
        ("Whoever reads a text is recorded.", 'doing.outcome = f"shown: {session}"', "pass", _TEXT),
        ("Only queues of messages have texts.", "if queue not in get_args(MessageQueue):", "if False:", _TEXT),
    ),
    *mutants_of(
        "channels/web/app.py",
        "integration/test_web_access.py",
        ("The history is for operators.", "only(RateEndpoints(site).read)", "RateEndpoints(site).read", _RIGHTS),
        ("Queues are for operators.", "only(queues.read)", "queues.read", _RIGHTS),
        ("Texts are for operators.", "only(queues.text)", "queues.text", _RIGHTS),
        ("Log lines are for operators.", "only(LogEndpoints(site).read)", "LogEndpoints(site).read", _RIGHTS),
    ),
    *mutants_of(
        "channels/web/system/log_endpoints.py",
        _QUEUES,
        (
            "A log line is found by the whole ID.",
            "quoted, files, found = msgspec.json.encode(name),",
            "quoted, files, found = name.encode(),",
            "test_log_lines_are_found_by_their_correlation_id",
        ),
    ),
)
