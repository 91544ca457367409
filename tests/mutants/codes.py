"""Mutants of codes by which people are let in and chats are linked."""

from tests.mutants.mutant import mutants_of

MUTANTS = (
    *mutants_of(
        "daemon/access/offer.lua",
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
        "daemon/access/redeem.lua",
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
        "daemon/access/pairing.py",
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
            "return code.until > now_ms and not code.used",
            "return code.until > now_ms",
            "test_a_pairing_code_lets_in_once_and_is_open_no_more",
        ),
        (
            "A code that is over is not open.",
            "return code.until > now_ms and not code.used",
            "return not code.used",
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
        "daemon/people/offer.lua",
        "integration/test_codes.py",
        (
            "A link code ends.",
            "redis.call('PEXPIRE', KEYS[1], ARGV[5])\n",
            "",
            "test_a_link_code_links_once_for_ten_minutes",
        ),
        (
            "A link code that is there is not given to somebody else.",
            "if link then return link == ARGV[4] and 'made' or 'taken' end\n",
            "",
            "test_a_link_code_that_is_there_already_is_not_given_to_somebody_else",
        ),
    ),
    *mutants_of(
        "daemon/people/redeem.lua",
        "integration/test_codes.py",
        (
            "A link code links once.",
            "if not scope or used then",
            "if not scope then",
            "test_a_link_code_links_once_for_ten_minutes",
        ),
        (
            "A link code that was used says so.",
            "redis.call('HSET', KEYS[1], 'used', ARGV[1])\n",
            "",
            "test_a_link_code_links_once_for_ten_minutes",
        ),
        (
            "A message that is worked off twice links once.",
            "if scope and used == ARGV[1] then",
            "if false then",
            "test_a_link_code_links_once_for_ten_minutes",
        ),
        (
            "A link code is of one bot.",
            "if bot ~= ARGV[2] then return {'bot'} end\n",
            "",
            "test_a_link_code_is_for_another_chat_of_the_same_bot",
        ),
        (
            "A link code is for another chat.",
            "  if ARGV[at] == scope then return {'own'} end\n",
            "",
            "test_a_link_code_is_for_another_chat_of_the_same_bot",
        ),
        (
            "Five wrong link codes are looked at.",
            ">= tonumber(ARGV[3])",
            "> tonumber(ARGV[3])",
            "test_a_person_guesses_five_link_codes_in_ten_minutes",
        ),
        (
            "Wrong link codes are forgotten in time.",
            "  redis.call('PEXPIRE', KEYS[2], ARGV[4])\n",
            "",
            "test_a_person_guesses_five_link_codes_in_ten_minutes",
        ),
    ),
    *mutants_of(
        "daemon/people/codes.py",
        "integration/test_codes.py",
        (
            "A link code lasts ten minutes.",
            "VALID_S = 600.0",
            "VALID_S = 700.0",
            "test_a_link_code_links_once_for_ten_minutes",
        ),
        (
            "Wrong link codes count for ten minutes.",
            "round(WRONG_S * 1000), *family",
            "round(WRONG_S * 10), *family",
            "test_a_person_guesses_five_link_codes_in_ten_minutes",
        ),
    ),
)
