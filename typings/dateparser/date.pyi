"""What Millpond uses of dateparser's module of that name."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

class DateData:
    date_obj: dt.datetime | None
    period: str

class DateDataParser:
    def __init__(self, *, languages: Sequence[str] | None = ..., settings: dict[str, Any] | None = ...) -> None: ...
    def get_date_data(self, date_string: str) -> DateData: ...
