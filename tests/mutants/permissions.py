"""Mutants of the rules of Redis users, and of what is said when a user lacks some."""

from tests.mutants.mutant import mutants_of

_KEYS = "test_each_key_of_the_code_is_one_kind_and_some_role_writes_it"
_SCRIPTS = "test_each_command_of_a_script_is_one_that_every_role_may_call"
_USERS = "test_there_is_a_user_for_each_role_and_one_for_commands"
_REFUSAL = "test_a_refusal_names_the_command_and_no_conversation"
_NOTHING_LACKS = "test_a_user_with_the_rules_of_a_role_lacks_nothing_of_it_and_something_of_all_others"
_NEAREST = "test_the_doctor_names_the_missing_rules_of_the_nearest_role"
_READY = "test_a_process_whose_user_lacks_a_permission_is_not_ready_until_somebody_corrects_it"

MUTANTS = (
    *mutants_of(
        "daemon/bus/permissions.py",
        "unit/test_permission_rules.py",
        ("Some role writes each key.", "forgetting,job,jobs,usage,bucket,", "forgetting,job,jobs,usage,", _KEYS),
        ("Every role may call what scripts call.", "getdel k, ", "", _SCRIPTS),
        ("Nobody enters without a password.", "user default off", "user default on", _USERS),
        ("Redis 6.2 gets no rule that it does not know.", 'text.replace(" %R~", " ~")', "text", _USERS),
    ),
    *mutants_of(
        "daemon/bus/permissions.py",
        "integration/test_permissions.py",
        ("A key that is missing is told.", 'str(answer)) == rule.startswith("+")', "str(answer))", _NOTHING_LACKS),
        ("What is tried is not done.", '("+discard", ("DISCARD",))', '("+discard", ("EXEC",))', _NOTHING_LACKS),
        ("A key that is written is tried by a write.", '("HDEL", "x")', '("HEXISTS", "x")', _NOTHING_LACKS),
    ),
    *mutants_of(
        "daemon/bus/command_batch.py",
        "unit/test_permission_rules.py",
        ("A refusal names no conversation.", "{key[0]}:*", "{command[1]!s}", _REFUSAL),
        ("What a script was refused is told, too.", " or _FORBIDDEN.search(str(error))", "", _REFUSAL),
    ),
    *mutants_of(
        "daemon/cli/doctor/database_checks.py",
        "integration/test_permissions.py",
        ("The doctor names the nearest role.", "nearest = min(found", "nearest = max(found", _NEAREST),
    ),
    *mutants_of(
        "daemon/permission_check.py",
        "integration/test_permissions.py",
        ("A process that lacks a permission says so.", "            forbidden.reason = lacking\n", "", _READY),
        (
            "It looks again until nothing is missing.",
            "            if not lacking:\n                return\n",
            "            return\n",
            _READY,
        ),
    ),
    *mutants_of(
        "channels/web/health_endpoints.py",
        "integration/test_permissions.py",
        ("/readyz names what is missing.", "refusing or self._process.shared(RedisRights).reason", "refusing", _READY),
    ),
    *mutants_of(
        "channels/live_display/live_display.py",
        "integration/test_showing.py",
        (
            "A channel shows the texts of its own chats alone.",
            "isinstance(event, Notice) or not event.session.startswith(own)",
            "isinstance(event, Notice)",
            "test_chats_of_others_are_none_of_its_business",
        ),
    ),
)
