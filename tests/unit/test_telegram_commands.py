from channels.command_menu import CHINESE, ENGLISH
from channels.telegram.command_menus import menus
from daemon.bus.publish import ADMIN_COMMANDS, COMMANDS
from daemon.config import BotConfig

DESCRIPTION_MAX = 256  # characters (Bot API, ``BotCommand``)


def test_the_menu_has_every_command_that_is_for_everybody():
    everybody = set(COMMANDS.values()) - ADMIN_COMMANDS

    assert set(ENGLISH) == set(CHINESE) == everybody
    assert list(ENGLISH) == list(CHINESE)


def test_descriptions_fit():
    for language in ("en", "zh"):
        for commands in menus(BotConfig(), language).values():
            assert all(0 < len(command.description) <= DESCRIPTION_MAX for command in commands)


def test_the_menu_of_a_group_has_the_commands_that_its_members_may_use():
    found = {
        scope: {each.command for each in commands}
        for scope, commands in menus(BotConfig(groups_may=("memory", "new")), "en").items()
    }

    assert found["default"] == set(ENGLISH)
    assert found["all_group_chats"] == {"help", "status", "usage", "whoami", "memory", "new", "reminders"}
    assert found["all_chat_administrators"] == set(ENGLISH) - {"link", "unlink"}
