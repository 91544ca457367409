"""Dates in languages other than English and Chinese. Pure.

Days are read by ``dateparser``, which is slow, so only what looks like a day is given to it.
"""

import datetime as dt
import re
from collections.abc import Iterator
from typing import Any

from daemon.recall import date_spans, feasts
from daemon.recall.date_spans import Days, Kind, Span

# A language each: words for days, then what stands between a day's number and the month, then the months.
_LANGUAGES = {
    "de": (
        r"vorgestern|gestern|heute|vor \w{1,8} (?:tag|woche|monat|jahr)e?n?",
        r"\. ?",
        "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember",
    ),
    "fr": (
        r"avant-hier|aujourd'hui|hier (?:soir|matin)|il y a \w{1,8} (?:jour|semaine|mois|an)s?",
        "(?:er)? ",
        "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre",
    ),
    "es": (
        "anteayer|ayer",
        " de ",
        "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
    ),
    "it": (
        "l'altro ieri|ieri",
        " ",
        "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre",
    ),
    "pt": (
        "anteontem|ontem",
        " de ",
        "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
    ),
    "ru": (
        r"позавчера|вчера|на прошлой неделе|в прошлом (?:месяце|году)",
        " ",
        "января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря",
    ),
    "ko": (r"그저께|어제|지난 ?주|지난 ?달|작년", "월 ?", r"\d{1,2}일"),
}
_SPAN = re.compile(
    "|".join(
        rf"(?P<{language}>(?<!\w)(?:{words}|\d{{1,2}}{between}(?:{months})(?: (?:de )?\d{{4}})?)(?!\w))"
        for language, (words, between, months) in _LANGUAGES.items()
    )
    + "|(?P<ja>一昨日|先週|先月)",
    re.IGNORECASE,
)
_may_name_day = re.compile("[a-zA-Z\u00c0-\u04ff\uac00-\ud7af]|一昨日|先[週月]").search
"""Whether a text can be in one of the languages. Chinese text without foreign words is not."""
_MONTHS = {language: _LANGUAGES[language][2].split("|") for language in ("de", "fr", "es", "it", "pt")}
_WEEKDAYS = {
    "de": ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag"),
    "fr": ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
    "es": ("lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"),
    "it": ("lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"),
    "pt": (*(f"{number}-feira" for number in ("segunda", "terça", "quarta", "quinta", "sexta")), "sábado", "domingo"),
}
_SEASONS = {
    "de": {"frühling": "spring", "frühjahr": "spring", "sommer": "summer", "herbst": "autumn", "winter": "winter"},
    "fr": {"printemps": "spring", "été": "summer", "automne": "autumn", "hiver": "winter"},
    "es": {"primavera": "spring", "verano": "summer", "otoño": "autumn", "invierno": "winter"},
    "it": {"primavera": "spring", "estate": "summer", "autunno": "autumn", "inverno": "winter"},
    "pt": {"primavera": "spring", "verão": "summer", "outono": "autumn", "inverno": "winter"},
}
_ROMANCE_BEFORE = {
    "es": r"en|desde|durante|hasta|entre|y|el|est[ae]|(?:partir|antes|después|\w+ios|mediados|fin(?:al)?es)\ de",
    "it": r"a|in|nel|dal?|durante|fino\ a|tra|fra|e|il|di|dopo|inizio|metà|fine|quest[oa]|(?:l[oa]\ )?scors[oa]",
    "pt": r"em|desde|durante|até|entre|e|n[oa]|nest[ea]|(?:partir|antes|depois|início|começo|meados|fim|final)\ de",
}
"""Words before a month, weekday or season, each followed by a blank."""
_CALENDAR = {
    "de": re.compile(
        rf"""\b(?:(?P<which>im|letzte[nrs]?|seit|vor|nach|bis|anfang|mitte|ende|am|zwischen|von|und)\ )?(?:
        (?P<month>{"|".join(_MONTHS["de"])})|(?P<weekday>{"|".join(_WEEKDAYS["de"])})|(?P<season>{"|".join(_SEASONS["de"])})
        )(?:\ (?P<year>\d{{4}}))?\b""",
        re.IGNORECASE | re.VERBOSE,
    ),
    "fr": re.compile(
        rf"""\b(?:(?P<which>en|depuis|avant|après|jusqu'en|début|mi|fin|l'|le|au|entre|et|de)[\ -]?)?(?:
        (?P<month>{"|".join(_MONTHS["fr"])})|(?P<weekday>{"|".join(_WEEKDAYS["fr"])})|(?P<season>{"|".join(_SEASONS["fr"])})
        )(?:\ (?P<year>\d{{4}})|(?P<last>\ derni(?:er|ère)))?\b""",
        re.IGNORECASE | re.VERBOSE,
    ),
    **{
        language: re.compile(
            rf"""\b(?:(?P<which>{before})\ |(?:l'|quest'))?(?:(?P<month>{"|".join(_MONTHS[language])})
            |(?P<weekday>{"|".join(_WEEKDAYS[language])})|(?P<season>{"|".join(_SEASONS[language])}))
            (?:\ (?:del?\ )?(?P<year>\d{{4}})|\ (?P<last>pass?ad[oa]|scors[oa]))?(?!\w)""",
            re.IGNORECASE | re.VERBOSE,
        )
        for language, before in _ROMANCE_BEFORE.items()
    },
}
"""Months, weekdays and seasons, which Millpond understands without ``dateparser``."""
_ROMANCE_UNITS = r"fin\ de\ semana|fine\ settimana|fim\ de\ semana|semana|settimana|mes|mese|mês|año|anno|ano"
_RELATIVE = re.compile(
    r"""\b(?:
    (?P<de>vorletzte|letzte|vorige|vergangene|diese)[nrsm]?\ (?P<de_unit>wochenende|woche|monat|jahr)(?:e?s)?
    |(?:cette|ce|cet)\ (?P<fr_this>semaine|week-end|mois|année)
    |(?:(?:la|le)\ |l')(?P<fr>semaine|week-end|mois|an|année)\ (?:derni|pass|précéd)\w+
    |(?:anfang|mitte|ende|hälfte|seit\ beginn)\ des\ (?P<de_part>monat|jahre)s
    |(?:début|fin|milieu)\ (?:de\ l'|du\ )(?P<fr_part>mois|année)
    |(?P<today>heute\ morgen|ce\ matin|ce\ soir|hoy|oggi|stamattina|stasera|hoje)
    |(?:l[ao]\ |el\ |il\ |n[oa]\ |l')?(?:(?P<last>scors[oa]|[uú]ltim[oa])\ )?(?P<romance>"""
    + _ROMANCE_UNITS
    + r""")(?(last)|\ (?:pass?ad[oa]|scors[oa]))
    |(?:n?est[ae]\ |quest[oa]\ |quest')(?P<romance_this>"""
    + _ROMANCE_UNITS
    + r""")
    |(?:hace|há|faz)\ (?P<ago>\w{1,7})\ (?P<ago_unit>d[ií]as?|semanas?|mes(?:es)?|mês|años?|anos?)
    |(?P<ago_before>\w{1,7})\ (?P<ago_unit_before>giorn[oi]|settiman[ae]|mes[ei]|ann[oi]|dias?|semanas?|meses|mês|anos?)
        \ (?:fa|atrás)
    |am\ (?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?!\d)
    |(?P<feast>"""
    + feasts.OTHERS
    + r""")(?:\ (?P<year>\d{4}))?
    )(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)
_RELATIVE_UNITS: dict[str, Kind] = {
    **dict.fromkeys(("woche", "semaine"), "week"),
    **dict.fromkeys(("wochenende", "week-end"), "weekend"),
    **dict.fromkeys(("monat", "mois"), "month"),
    **dict.fromkeys(("jahr", "jahre", "an", "année", "año", "anno", "ano"), "year"),
    **dict.fromkeys(("semana", "settimana"), "week"),
    **dict.fromkeys(("fin de semana", "fine settimana", "fim de semana"), "weekend"),
    **dict.fromkeys(("mes", "mese", "mês"), "month"),
}
_ROMANCE_NUMBERS = (
    "un una uno um uma",
    *("dos due dois duas", "tres tre três", "cuatro quattro quatro", "cinco cinque", "seis sei", "siete sette sete"),
    *("ocho otto oito", "nueve nove", "diez dieci dez"),
)
_NUMBER_OF = {word: number for number, words in enumerate(_ROMANCE_NUMBERS, 1) for word in words.split()}
_AGO_UNITS = {"d": "day", "g": "day", "s": "week", "m": "month", "a": "year"}
"""By the first letter."""
_is_last = re.compile(r"letzte|derni|\bpass?ad[oa]\b|scors[oa]").search
_BACK = {"vorletzte": 2, "diese": 0}
"""How many weeks, months or years ago; all other words mean 1."""


def other_spans(text: str, now: dt.datetime) -> Iterator[Span]:
    """The dates in ``text``."""
    if not _may_name_day(text):
        return
    for found in _SPAN.finditer(text):
        if days := parsed(found[0], str(found.lastgroup), now):
            is_relative = not any(map(str.isdigit, found[0]))
            kind: Kind = "day" if days[0] == days[1] else ""
            yield Span(found.start(), found.end(), *days, is_relative=is_relative, kind=kind)
    for found in _RELATIVE.finditer(text):
        yield from _relative(found, now.date())
    for language, expression in _CALENDAR.items():
        for found in expression.finditer(text):
            yield from _calendar(found, language, now.date())


def _relative(found: re.Match[str], today: dt.date) -> Iterator[Span]:
    """Weeks, months and years that are named by their distance, days without a year, and feasts."""
    begin, days = found.start(), None
    kind: Kind = "day"
    these = ("de_unit", "fr", "fr_this", "de_part", "fr_part", "romance", "romance_this")
    if unit := next(filter(None, map(found.__getitem__, these)), ""):
        back = _BACK.get(found["de"].lower(), 1) if found["de"] else int(bool(found["fr"] or found["romance"]))
        kind = _RELATIVE_UNITS[unit.lower()]
        days = _unit(kind, back, today)
        begin = max(begin, found.start("de_part"), found.start("fr_part"))
    elif unit := found["ago_unit"] or found["ago_unit_before"]:
        number = (found["ago"] or found["ago_before"]).lower()
        count = int(number) if number.isdecimal() else _NUMBER_OF.get(number, 0)
        unit = _AGO_UNITS[unit[0].lower()]
        kind, days = ("day" if unit == "day" else ""), date_spans.ago(count, unit, today) if count else None
    elif found["today"]:
        days = today, today
    elif found["day"]:
        days = date_spans.recent_day(int(found["month"]), int(found["day"]), today)
    elif found["feast"]:
        name, year = found["feast"], found["year"]
        days = feasts.feast(name, int(year)) if year else feasts.recent_feast(name, today)
    if days:
        is_relative = not (found["day"] or found["feast"])
        yield Span(begin, found.end(), *days, is_relative=is_relative, kind=kind, has_year=bool(found["year"]))


def _unit(kind: Kind, back: int, today: dt.date) -> Days | None:
    if kind == "week":
        return date_spans.week_from(today, -back)
    if kind == "weekend":
        return date_spans.weekend_from(today, -back)
    return date_spans.month_from(today, -back) if kind == "month" else date_spans.year_of(today.year - back)


def _calendar(found: re.Match[str], language: str, today: dt.date) -> Iterator[Span]:
    named, year = found[0].lower(), int(found["year"]) if found["year"] else None
    is_last = bool(_is_last(named))
    if not (found["which"] or year or is_last):
        return
    if found["month"]:
        kind: Kind = "month"
        number = _MONTHS[language].index(found["month"].lower()) + 1
        days = date_spans.recent_month(number, today, ended=is_last) if year is None else date_spans.month(year, number)
    elif found["weekday"]:
        kind, days = "weekday", date_spans.recent_weekday(_WEEKDAYS[language].index(found["weekday"].lower()), today)
    else:
        kind, name = "season", _SEASONS[language][found["season"].lower()]
        days = date_spans.recent_season(name, today, ended=is_last) if year is None else date_spans.season(name, year)
    if days:
        begin = found.start("month" if found["month"] else "weekday" if found["weekday"] else "season")
        yield Span(begin, found.end(), *days, is_relative=False, kind=kind, has_year=year is not None)


def parsed(text: str, language: str, now: dt.datetime) -> Days | None:
    """The result of ``dateparser`` for a few words; 1 ms, the first time 30 to 300 ms."""
    # It takes 0.15 s to import, and few questions name a day.
    from dateparser.date import DateDataParser  # noqa: PLC0415

    settings: dict[str, Any] = {"RELATIVE_BASE": now.replace(tzinfo=None), "PREFER_DATES_FROM": "past"}
    found = DateDataParser(languages=[language], settings=settings).get_date_data(text)
    if found.date_obj is None:
        return None
    date = found.date_obj.date()
    match found.period:
        case "week":
            return date_spans.week_from(date, 0)
        case "month":
            return date_spans.month(date.year, date.month)
        case "year":
            return date_spans.year_of(date.year)
        case _:
            return date, date
