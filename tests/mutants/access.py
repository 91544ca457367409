"""Mutants of access: who is let in, banned, and made to wait."""

from tests.mutants.mutant import mutants_of

_GROUPS = "test_members_of_a_group_use_the_commands_that_the_configuration_allows"
_MENU = "test_the_menu_of_a_group_has_the_commands_that_its_members_may_use"
_TAKEN = "test_members_of_a_group_take_no_memory_that_is_not_the_groups"

MUTANTS = (
    *mutants_of(
        "daemon/access/lua/access.part.lua",
        "integration/test_admitting.py",
        (
            "A decision that comes late changes nothing.",
            "not is_later(at, was.at)",
            "false",
            "test_a_decision_that_arrives_late_or_again_changes_nothing",
        ),
    ),
    *mutants_of(
        "daemon/access/lua/pause.lua",
        "integration/test_admitting.py",
        (
            "A pause that comes late changes nothing.",
            "not is_later(at, was.at)",
            "false",
            "test_a_pause_that_arrives_late_or_again_changes_nothing",
        ),
    ),
    *mutants_of(
        "daemon/access/access_list.py",
        "integration/test_admitting.py",
        (
            "Administrators may use every command.",
            "    if is_admin:\n        return True\n    if command",
            "    if command",
            _GROUPS,
        ),
        ("Members use what is listed.", " or command in bot.groups_may", "", _GROUPS),
        ("A group is not linked.", "if in_group and command in DIRECT_COMMANDS:", "if False:", _GROUPS),
        (
            "In a direct chat all is the person's own.",
            'in_group, command = inbound.chat_kind == "group", inbound.command',
            "in_group, command = True, inbound.command",
            _GROUPS,
        ),
        (
            "Members take no memory that is not the group's.",
            ' and scope.split(":")[1:2] in (["group"], ["session"])',
            "",
            _TAKEN,
        ),
    ),
    *mutants_of(
        "channels/telegram/command_menus.py",
        "unit/test_telegram_commands.py",
        ("Members are offered what they may use.", "_in_groups(bot, commands, is_admin=False)", "commands", _MENU),
        ("Administrators are offered more.", "_in_groups(bot, commands, is_admin=True)", "commands[:6]", _MENU),
    ),
    *mutants_of(
        "channels/intake/intake.py",
        "integration/test_admitting.py",
        ("Each member is told.", 'f"command-{arrival.sender.id}"', '"command"', _GROUPS),
    ),
    *mutants_of(
        "workers/agent/commands/immediate_answers.py",
        "integration/test_admitting.py",
        (
            "Help in a group lists what the member may use.",
            'if inbound.chat_kind == "group":\n        lines',
            "if False:\n        lines",
            _GROUPS,
        ),
    ),
    *mutants_of(
        "daemon/config/schema.py",
        "integration/test_admitting.py",
        (
            "By default members start no new conversation.",
            '= ("memory", "stop")',
            '= ("memory", "stop", "new")',
            _GROUPS,
        ),
    ),
    *mutants_of(
        "daemon/config/config_rules.py",
        "unit/test_config.py",
        (
            "Commands that nobody knows are refused.",
            "if name not in GROUP_COMMANDS:",
            "if False:",
            "test_a_broken_rule_says_which_keys_to_change",
        ),
    ),
)
