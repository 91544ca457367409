"""Settings that operators change over the API."""

from tests.mutants.mutant import mutants_of

_TESTS = "integration/test_web_settings.py"

MUTANTS = (
    *mutants_of(
        "daemon/setup/config_editor.py",
        _TESTS,
        (
            "Only listed settings can be changed.",
            "        if path not in known:\n",
            '        if path not in known and not path.startswith("data_dir"):\n',
            "test_a_setting_that_will_not_do_is_refused_and_nothing_is_written",
        ),
        (
            "No tool is added that leaves the files of a conversation.",
            "        if tool not in TOOLS and tool not in before:\n",
            "        if tool == before:\n",
            "test_a_setting_that_will_not_do_is_refused_and_nothing_is_written",
        ),
    ),
    *mutants_of(
        "daemon/setup/bot_sections.py",
        _TESTS,
        (
            "A bot that a channel uses is not deleted.",
            "    if using:\n",
            "    if False:\n",
            "test_a_bot_of_a_channel_is_not_deleted",
        ),
        (
            "A second bot takes no channel from the first one.",
            "            if channel.enabled:\n",
            "            if not channel.enabled:\n",
            "test_the_channels_keep_their_bot_when_there_is_a_second_one",
        ),
    ),
    *mutants_of(
        "daemon/setup/config_editor.py",
        _TESTS,
        (
            "A setting of the environment is not changed in the file.",
            "            if variable := settings.locked.get(key):\n",
            '            if variable := settings.locked.get(f"{key}."):\n',
            "test_a_setting_that_will_not_do_is_refused_and_nothing_is_written",
        ),
    ),
    *mutants_of(
        "daemon/setup/settings_forms.py",
        _TESTS,
        (
            "The token that is set is sent to no other server.",
            "        if secret is None:\n            raise AnswerRefused",
            "        if secret == flag:\n            raise AnswerRefused",
            "test_no_other_platform_gets_the_token_that_is_set",
        ),
    ),
    *mutants_of(
        "channels/web/settings/settings_endpoints.py",
        _TESTS,
        (
            "A file that was changed meanwhile is not overwritten.",
            " if settings.digest == digest else None",
            "",
            "test_what_was_changed_on_disk_meanwhile_is_not_overwritten",
        ),
    ),
    *mutants_of(
        "channels/web/settings/__init__.py",
        _TESTS,
        (
            "Only operators decide about people.",
            'Route(f"/api/settings/people/{name}", only(handler), methods=["POST"])',
            'Route(f"/api/settings/people/{name}", handler, methods=["POST"])',
            "test_only_operators_read_and_change_settings",
        ),
    ),
    *mutants_of(
        "daemon/run.py",
        _TESTS,
        (
            "A signal during a restart ends the process in order.",
            "                process.launch.again = None\n                continue\n",
            "",
            "test_a_signal_during_a_restart_ends_the_process_in_order",
        ),
    ),
    *mutants_of(
        "daemon/setup/config_tables.py",
        "unit/test_setup.py",
        (
            "A changed configuration keeps its comments.",
            "        if tomllib.loads(edited) == tables:\n",
            "        if False:\n",
            "test_a_change_keeps_comments_and_order",
        ),
        (
            "A change in an inline table keeps the table.",
            "is_table(value) and is_table(old)",
            "False",
            "test_a_change_in_an_inline_table_keeps_the_comments",
        ),
    ),
)
