"""Mutants of codes by which people are let in and chats are linked."""

from tests.mutants.mutant import mutants_of

_ONCE = "test_a_link_code_is_used_once_within_ten_minutes"
_ONE = "test_a_person_has_one_link_code_and_none_while_a_request_is_open"
_TWO = "test_two_chats_are_linked_and_separated_by_their_people"
_NO = "test_the_no_of_either_side_is_the_end_of_a_link"

MUTANTS = (
    *mutants_of(
        "daemon/access/lua/offer.lua",
        "integration/test_codes.py",
        (
            "A code that is over is not given again.",
            "(tonumber(entry['until']) or 0) <= now",
            "false",
            "test_a_pairing_code_lasts_an_hour_and_lets_nobody_in_after_it",
        ),
        (
            "A code that was used is not given again.",
            "elseif all[at] == ARGV[1] and not entry.used then",
            "elseif all[at] == ARGV[1] then",
            "test_a_stranger_who_asks_again_gets_the_same_code_until_it_is_used",
        ),
        (
            "A stranger who asks again gets the same code.",
            "if own then return own.code end\n",
            "",
            "test_a_stranger_who_asks_again_gets_the_same_code_until_it_is_used",
        ),
        (
            "No more codes are open than may be.",
            "if open >= tonumber(ARGV[6]) then",
            "if open > tonumber(ARGV[6]) then",
            "test_no_more_codes_are_open_than_may_be_and_those_that_are_over_do_not_count",
        ),
        (
            "Codes go when all of them are over.",
            "redis.call('PEXPIRE', KEYS[1], ARGV[5])\n",
            "",
            "test_a_pairing_code_lasts_an_hour_and_lets_nobody_in_after_it",
        ),
    ),
    *mutants_of(
        "daemon/access/lua/redeem.lua",
        "integration/test_codes.py",
        (
            "A pairing code that is over lets nobody in.",
            " and (tonumber(entry['until']) or 0) > now",
            "",
            "test_a_pairing_code_lasts_an_hour_and_lets_nobody_in_after_it",
        ),
        (
            "A pairing code lets in once.",
            "if not found or found.used then",
            "if not found then",
            "test_a_pairing_code_lets_in_once_and_is_open_no_more",
        ),
        (
            "A pairing code that was used says so.",
            "found.used = ARGV[2]\n",
            "",
            "test_a_pairing_code_lets_in_once_and_is_open_no_more",
        ),
        (
            "A message that is worked off twice lets in once.",
            "if found and found.used == ARGV[2] then",
            "if false then",
            "test_a_pairing_code_lets_in_once_and_is_open_no_more",
        ),
        (
            "A code is compared whole.",
            "entry.code == ARGV[1] and",
            "string.find(entry.code, ARGV[1], 1, true) and",
            "test_near_misses_of_a_code_let_nobody_in",
        ),
        (
            "Five wrong codes are looked at.",
            ">= tonumber(ARGV[3]) then return {'often'} end",
            "> tonumber(ARGV[3]) then return {'often'} end",
            "test_an_administrator_guesses_five_codes_in_ten_minutes",
        ),
        (
            "Wrong codes are counted.",
            "if redis.call('HLEN', KEYS[3]) >= tonumber(ARGV[3]) then return {'often'} end\n",
            "",
            "test_an_administrator_guesses_five_codes_in_ten_minutes",
        ),
        (
            "Wrong codes are forgotten in time.",
            "  redis.call('PEXPIRE', KEYS[3], ARGV[4])\n",
            "",
            "test_an_administrator_guesses_five_codes_in_ten_minutes",
        ),
    ),
    *mutants_of(
        "daemon/access/pairing_codes.py",
        "integration/test_codes.py",
        (
            "A pairing code lasts an hour.",
            "VALID_S = 3_600.0",
            "VALID_S = 3_700.0",
            "test_a_pairing_code_lasts_an_hour_and_lets_nobody_in_after_it",
        ),
        (
            "A pairing code lasts no shorter than an hour.",
            "VALID_S = 3_600.0",
            "VALID_S = 3_500.0",
            "test_a_pairing_code_lasts_an_hour_and_lets_nobody_in_after_it",
        ),
        (
            "Wrong pairing codes count for ten minutes.",
            "round(WRONG_S * 1000), by",
            "round(WRONG_S * 10), by",
            "test_an_administrator_guesses_five_codes_in_ten_minutes",
        ),
        (
            "A code that was used is not open.",
            "each[1].until > int(seconds) * 1000 and not each[1].used",
            "each[1].until > int(seconds) * 1000",
            "test_a_pairing_code_lets_in_once_and_is_open_no_more",
        ),
        (
            "A code that is over is not open.",
            "each[1].until > int(seconds) * 1000 and not each[1].used",
            "not each[1].used",
            "test_a_pairing_code_lasts_an_hour_and_lets_nobody_in_after_it",
        ),
        (
            "Each administrator has guesses of his own.",
            "keys.guesses(self._channel, by)",
            'keys.guesses(self._channel, "")',
            "test_an_administrator_guesses_five_codes_in_ten_minutes",
        ),
    ),
    *mutants_of(
        "daemon/people/lua/offer.lua",
        "integration/test_codes.py",
        ("A link code ends.", "redis.call('PEXPIRE', KEYS[1], ARGV[7])\n", "", _ONCE),
        ("The pointer to a link code ends.", "redis.call('PEXPIRE', KEYS[2], ARGV[7])\n", "", _ONCE),
        (
            "A link code that is there is not given to somebody else.",
            "if link then return link == ARGV[5] and 'made' or 'taken' end\n",
            "",
            "test_a_link_code_that_is_there_already_is_not_given_to_somebody_else",
        ),
        (
            "No code is made while a request is open.",
            "if redis.call('HEXISTS', KEYS[2], 'open') == 1 then return 'open' end\n",
            "",
            _ONE,
        ),
    ),
    *mutants_of(
        "daemon/people/lua/redeem.lua",
        "integration/test_codes.py",
        ("A link code is used once.", "or used or redis", "or redis", _ONCE),
        ("A link code that was used says so.", "'used', ARGV[2], ", "", _ONCE),
        (
            "A message that is worked off twice asks once.",
            "if maker and used == ARGV[2] then",
            "if false then",
            _ONCE,
        ),
        ("A request can be answered for ten minutes.", "redis.call('PEXPIRE', KEYS[1], ARGV[10])\n", "", _ONCE),
        (
            "A newer code replaces the one before.",
            " or redis.call('HGET', KEYS[3], 'code') ~= ARGV[1] then",
            " then",
            _ONE,
        ),
        (
            "A person has one open request.",
            "if redis.call('HEXISTS', KEYS[4], 'open') == 1 then return 'busy' end\n",
            "",
            _ONE,
        ),
        (
            "A link code is of one bot.",
            "if bot ~= ARGV[3] then return 'bot' end\n",
            "",
            "test_a_link_code_is_for_another_chat_of_the_same_bot",
        ),
        (
            "A link code is for another chat.",
            "  if ARGV[at] == maker then return 'own' end\n",
            "",
            "test_a_link_code_is_for_another_chat_of_the_same_bot",
        ),
        (
            "Five wrong link codes are looked at.",
            ">= tonumber(ARGV[8])",
            "> tonumber(ARGV[8])",
            "test_a_person_guesses_five_link_codes_in_ten_minutes",
        ),
        (
            "Wrong link codes are forgotten in time.",
            "  redis.call('PEXPIRE', KEYS[2], ARGV[9])\n",
            "",
            "test_a_person_guesses_five_link_codes_in_ten_minutes",
        ),
    ),
    *mutants_of(
        "daemon/people/lua/redeem.lua",
        "integration/test_link_commands.py",
        (
            "A code of an earlier version is refused with a sentence.",
            "if old and not maker then return 'old' end\n",
            "",
            "test_link_requests_that_cannot_be_confirmed_are_explained",
        ),
    ),
    *mutants_of(
        "daemon/people/lua/answer.lua",
        "integration/test_link_commands.py",
        (
            "An answer from before a request is none to it.",
            "if tonumber(ARGV[6]) < tonumber(since) then return 'newer' end\n",
            "",
            "test_an_answer_that_was_sent_before_the_request_is_no_answer_to_it",
        ),
        ("One side alone does not link.", "return other and 'both' or 'waits'", "return 'both'", _TWO),
        (
            "A link that was confirmed is not rejected any more.",
            "return begun and begun ~= ARGV[5]",
            "return begun and false",
            _TWO,
        ),
        ("A no is the end.", "if ended then return by == ARGV[5] and 'no' or 'rejected' end\n", "", _NO),
        ("A worker that died is followed by one that says the same.", "by == ARGV[5] and 'no' or", "", _NO),
        ("A request that was rejected is open no more.", "  redis.call('HDEL', KEYS[3], 'open')\n", "", _NO),
        (
            "A person who was forgotten is not linked.",
            " or redis.call('HGET', KEYS[3], 'code') ~= ARGV[1] then\n",
            " then\n",
            "test_nobody_is_linked_with_a_person_who_was_forgotten_meanwhile",
        ),
    ),
    *mutants_of(
        "daemon/people/link_requests.py",
        "integration/test_link_commands.py",
        (
            "Nobody is linked with a banned person.",
            "is_gone = answer == ",
            "is_gone = False and answer == ",
            "test_nobody_is_linked_with_a_person_who_was_banned_meanwhile",
        ),
        ("Both have to confirm.", 'if answered == "both":', 'if answered in ("both", "waits"):', _TWO),
        (
            "A link is put down once.",
            "job_id=request.link,",
            "job_id=secrets.token_hex(8),",
            "test_answers_that_several_workers_work_out_together_link_once",
        ),
        (
            "A request is closed when it has become a link.",
            "            await self._codes.begin(request, by=by)\n",
            "",
            _TWO,
        ),
    ),
    *mutants_of(
        "daemon/forget/forget_job.py",
        "integration/test_link_commands.py",
        (
            "Forgetting ends link requests.",
            'await bus.call("DEL", bus.keys.linking(scope))',
            "pass",
            "test_nobody_is_linked_with_a_person_who_was_forgotten_meanwhile",
        ),
    ),
    *mutants_of(
        "workers/agent/commands/slash_link.py",
        "integration/test_link_commands.py",
        (
            "The maker is asked.",
            '            await self._tell_other(found, "asked", _question(found.turned))\n',
            "",
            _TWO,
        ),
        (
            "The other side hears of a no.",
            'say("link_no_other", language, other=request.own.called)',
            'say("link_no", language)',
            _NO,
        ),
    ),
    *mutants_of(
        "daemon/jobs/job_runner.py",
        "integration/test_link_commands.py",
        ("A thing is said once.", 'said = f"{to.session}#{name}"', 'said = f"{to.session}#{name}{id(host.bus)}"', _TWO),
    ),
    *mutants_of(
        "daemon/people/link_codes.py",
        "integration/test_link_commands.py",
        ("A name contains no markup.", '_MARKUP.sub(" ", self.name)', "self.name", _TWO),
        (
            "A name stands beside the ID.",
            'return f"“{name}” ({name_of(self.scope)})" if name else',
            "return name or",
            _TWO,
        ),
    ),
    *mutants_of(
        "daemon/people/link_codes.py",
        "integration/test_codes.py",
        ("A link code lasts ten minutes.", "VALID_S = 600.0", "VALID_S = 700.0", _ONCE),
        (
            "Wrong link codes count for ten minutes.",
            "_ms(WRONG_S), _ms",
            "_ms(WRONG_S / 100), _ms",
            "test_a_person_guesses_five_link_codes_in_ten_minutes",
        ),
    ),
)
