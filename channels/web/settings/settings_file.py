"""The configuration file behind the endpoints: read, changed and written in a thread, one request at a time."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from channels.web.access import Handler, audited
from channels.web.error_response import body_of, problem
from channels.web.json_body import json_response
from channels.web.site import Site
from daemon.cli.preflight import faults
from daemon.config import bot_workspace
from daemon.config.environment import Table
from daemon.errors import ConfigError, MillpondError, ModelError, OutputError, ToolError
from daemon.process import Launch
from daemon.services import ROLES
from daemon.setup.config_editor import Change, Editor, Settings, first_files
from daemon.setup.config_tables import SecretFile
from daemon.setup.discord_api import DiscordSaysNo
from daemon.setup.feishu_api import FeishuSaysNo
from daemon.setup.questions import AnswerRefused
from daemon.setup.slack_api import SlackSaysNo
from daemon.setup.telegram_api import TelegramSaysNo

NO_LAUNCH = "This process was not started by `millpond run`, so its configuration cannot be changed over the API."
CHANGED = (
    "The configuration file was changed by somebody else after you opened it, so your change was not saved. Load the "
    "settings again, and repeat your change."
)

_T = TypeVar("_T")

Draft = Callable[[Settings], tuple[Table, list[SecretFile]]]
"""What a request makes of the tables of the file."""


class NotEditable(MillpondError):
    """The process was not started from a configuration that it may change."""


_REFUSALS: Mapping[type[MillpondError], tuple[int, str]] = {
    NotEditable: (409, "not_editable"),
    OutputError: (409, "not_written"),
    ConfigError: (422, "bad_setting"),
    ModelError: (422, "model_failed"),
    ToolError: (422, "search_failed"),
    TelegramSaysNo: (422, "platform_refused"),
    SlackSaysNo: (422, "platform_refused"),
    DiscordSaysNo: (422, "platform_refused"),
    FeishuSaysNo: (422, "platform_refused"),
}


class SettingsFile:
    """The configuration file of the process of one site."""

    def __init__(self, site: Site) -> None:
        self._process = site.process
        # One at a time, so that the check of the digest and the writing belong together.
        self._limiter = anyio.CapacityLimiter(1)

    @property
    def launch(self) -> Launch:
        """How the process was started.

        Raises:
            NotEditable: in a way that allows no changes.
        """
        if self._process.launch is None:
            raise NotEditable(NO_LAUNCH)
        return self._process.launch

    def editor(self) -> Editor:
        """Edits the file. Errors as for ``launch``."""
        launch = self.launch
        return Editor(launch.file, launch.environ, partial(faults, roles=launch.roles or tuple(ROLES)))

    async def run(self, work: Callable[[], _T]) -> _T:
        """The result of ``work`` in a thread."""
        return await to_thread.run_sync(work, limiter=self._limiter)

    async def read(self) -> Settings:
        """The file as it is now. Errors as for ``Editor.read``."""
        return await self.run(self.editor().read)

    async def save(self, request: Request, digest: str, draft: Draft, *, bot: str = "") -> Response:
        """Change the file, unless it is another one than the client has read. ``bot`` gets its first files."""
        editor = self.editor()

        def checked() -> Change | None:
            settings = editor.read()
            return editor.change(settings, *draft(settings)) if settings.digest == digest else None

        change = await self.run(checked)
        if change is None:
            return problem(409, "settings_changed", CHANGED)

        def written() -> str:
            copy = editor.write(change, stamp=f"{self._process.clock.now():%Y%m%dT%H%M%S%f}")
            if bot:
                first_files(change, bot, bot_workspace(change.config, bot))
            return copy

        async with audited(request, "settings.change", ", ".join(change.keys)) as doing:
            copy = await self.run(written)
            doing.outcome = f"copy {copy}" if copy else "done"
        return json_response({"keys": change.keys, "copy": copy})


def translated(handler: Handler) -> Handler:
    """``handler`` with responses for settings that cannot be used, and for servers that refuse them."""

    async def handled(request: Request) -> Response:
        try:
            return await handler(request)
        except MillpondError as error:
            return _refused(error)

    return handled


def _refused(error: MillpondError) -> Response:
    """The response to a setting that cannot be used, or to a server that refuses it.

    Raises:
        MillpondError: it is another error.
    """
    if isinstance(error, AnswerRefused):
        return _with_field(error)
    for kind, (status, code) in _REFUSALS.items():
        if isinstance(error, kind):
            return problem(status, code, str(error))
    raise error


def _with_field(error: AnswerRefused) -> Response:
    """The name of the field, as the form and the setup on the command line call it, is part of the error."""
    field = error.flag.removeprefix("--")
    text = f"{error.problem[0].upper()}{error.problem[1:].rstrip('.')}."
    return Response(body_of("bad_setting", text, field=field), 422, media_type="application/json")
