from channels.commands import CHINESE, ENGLISH
from channels.telegram.commands import menu
from daemon.bus.publish import ADMIN_COMMANDS, COMMANDS

DESCRIPTION_MAX = 256  # characters (Bot API, ``BotCommand``)


def test_the_menu_has_every_command_that_is_for_everybody():
    everybody = set(COMMANDS.values()) - ADMIN_COMMANDS

    assert set(ENGLISH) == set(CHINESE) == everybody
    assert list(ENGLISH) == list(CHINESE)


def test_descriptions_fit():
    for language in ("en", "zh"):
        assert all(0 < len(command.description) <= DESCRIPTION_MAX for command in menu(language))
