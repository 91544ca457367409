"""What people of a tenant are called."""

from channels.feishu.api import Api
from channels.name_directory import CALL_S, NameDirectory
from channels.shapes import nested


class UserDirectory(NameDirectory):
    """The names of people by ``open_id``; who keeps it for long has to ``run`` it, which renews old names."""

    def __init__(self, api: Api, *, channel: str) -> None:
        super().__init__(channel=channel)
        self._api = api

    async def _asked(self, who: str) -> str:
        query = {"user_id_type": "open_id"}
        answer = await self._api.call("GET", f"/contact/v3/users/{who}", timeout_s=CALL_S, query=query)
        name = nested(answer, "data", "user", "name")
        return name if isinstance(name, str) else ""
