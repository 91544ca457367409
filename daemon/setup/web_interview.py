"""The questions about the web: search at a provider, and reading pages."""

from importlib.util import find_spec
from typing import cast

import click

from daemon.config import Secret, WebToolsConfig
from daemon.config.bot_settings import Provider
from daemon.errors import MillpondError
from daemon.services import WEB_SEARCH, load
from daemon.setup.answers import Flags, WebAnswer
from daemon.setup.questions import Asker, address_problem, run
from daemon.setup.setup_files import ConfigPlace, strings

PROVIDERS = ("brave", "tavily", "searxng")
TRIED = "weather"
"""The query that is sent to try a provider."""


class WebInterview:
    """Asks whether the bot searches the web and reads its pages. Nothing is written."""

    def __init__(self, asker: Asker, flags: Flags, place: ConfigPlace) -> None:
        self._asker = asker
        self._flags = flags
        self._place = place

    def answer(self, bot: str) -> WebAnswer | None:
        """What the bot may do on the web; None: as the configuration says already.

        Raises:
            ConfigError: an answer is missing.
            ToolError: the provider did not answer, and there is nobody to ask about it.
            click.Abort: the person does not want to go on.
        """
        if not self._asker.asks and not self._flags.for_web:
            return None
        found = self._searching(bot)
        return WebAnswer(
            search=found.search, search_url=found.search_url, api_key=found.api_key, fetch=self._fetches(bot, found)
        )

    def _searching(self, bot: str) -> WebToolsConfig:
        asker, flags = self._asker, self._flags
        known = self._place.word("search", "bots", bot, "web")
        given, given_key, given_url = flags.web_search, flags.search_key(), flags.web_url
        while True:
            name = asker.text(
                "\nWeb search (brave, tavily, searxng or none)",
                flag="--web-search",
                given=given,
                default=known or "none",
                check=lambda text: "" if text in (*PROVIDERS, "none") else "enter brave, tavily, searxng or none",
            )
            if name == "none":
                return WebToolsConfig()
            url, key = given_url or "", Secret("")
            if name == "searxng":
                url = asker.text(
                    "Your SearXNG server address",
                    flag="--web-url",
                    given=given_url,
                    default=self._place.word("search_url", "bots", bot, "web"),
                    check=address_problem,
                )
            else:
                usual = self._place.secret("api_key", "bots", bot, "web") if name == known else None
                key = asker.secret("Provider API key", flag="--web-key", given=given_key, default=usual)
            found = WebToolsConfig(search=cast("Provider", name), search_url=url, api_key=key)
            if not flags.test or self._answers(found):
                return found
            given = given_key = given_url = None

    def _answers(self, config: WebToolsConfig) -> bool:
        try:
            run(lambda: load(WEB_SEARCH)(config, TRIED, 1))
        except MillpondError as error:
            if not self._asker.asks:
                raise
            click.echo(f"  {error}")
            return self._asker.confirm("Keep this provider anyway", default=False)
        click.echo(f"  The provider {config.search} answers.")
        return True

    def _fetches(self, bot: str, found: WebToolsConfig) -> bool:
        if self._flags.web_fetch is not None:
            return self._flags.web_fetch
        if find_spec("resiliparse") is None:
            click.echo("  Reading web pages needs another package: pip install 'millpond[web]'")
            return False
        known = "web_fetch" in strings(self._place.section("bots", bot).get("tools"))
        return self._asker.confirm("Let the bot read public web pages", default=known or bool(found.search))
