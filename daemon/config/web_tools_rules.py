"""Rules for ``[bots.<name>.web]``. Texts about a secret never contain it."""

from collections.abc import Iterator
from importlib.util import find_spec

from daemon.config.address import SERVER, is_server
from daemon.config.config_reader import Finding
from daemon.config.secret import secret_problem
from daemon.config.web_tools import WebToolsConfig


def web_tools_findings(path: str, web: WebToolsConfig, tools: tuple[str, ...]) -> Iterator[Finding]:
    """Every rule that a bot's section violates; ``path`` is that of the bot."""
    here = f"{path}.web"
    if "web_search" in tools and not web.search:
        text = "this setting is missing. Name the provider of the tool web_search: brave, tavily or searxng"
        yield Finding(f"{here}.search", text, (f"{path}.tools",))
    if "web_fetch" in tools and (find_spec("resiliparse") is None or find_spec("protego") is None):
        text = "the tool web_fetch needs packages that are not installed. Run: pip install 'millpond[web]'"
        yield Finding(f"{path}.tools", text)
    if web.search in ("brave", "tavily") and not web.api_key:
        text = f"this setting is missing. Set the API key for {web.search}, or its file"
        yield Finding(f"{here}.api_key", text, (f"{here}.api_key_file", f"{here}.search"))
    if web.search == "searxng" and not web.search_url:
        text = "this setting is missing. Set the address of your SearXNG server, such as http://127.0.0.1:8888"
        yield Finding(f"{here}.search_url", text, (f"{here}.search",))
    if web.search_url and not is_server(web.search_url):
        yield Finding(f"{here}.search_url", SERVER)
    if text := secret_problem(web.api_key):
        yield Finding(f"{here}.api_key", text)
