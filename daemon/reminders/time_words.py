"""The words for times in English, Chinese, German and French, and what they stand for. Pure."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

Value = TypeVar("Value")


def _numbered(lines: Iterable[str], first: int) -> Mapping[str, int]:
    return {name: number for number, line in enumerate(lines, first) for name in line.split()}


def _named(lines: Mapping[Value, str]) -> dict[str, Value]:
    return {name: value for value, line in lines.items() for name in line.split()}


WEEKDAYS = _numbered(
    (
        "monday mon montag lundi",
        "tuesday tues tue dienstag mardi",
        "wednesday wed mittwoch mercredi",
        "thursday thurs thur thu donnerstag jeudi",
        "friday fri freitag vendredi",
        "saturday sat samstag sonnabend samedi",
        "sunday sun sonntag dimanche",
    ),
    0,
)
SHORT_WEEKDAYS = _numbered(("mo lun", "di mar", "mi mer", "do jeu", "fr ven", "sa sam", "so dim"), 0)
"""Weekdays in German and French calendars. Other words look the same, so a time must follow."""
WEEKDAY_SIGNS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
"""Of RFC 5545."""

MONTHS = _numbered(
    (
        "january jan januar janvier",
        "february feb februar février",
        "march mar märz mars",
        "april apr avril",
        "may mai",
        "june jun juni juin",
        "july jul juli juillet",
        "august aug août",
        "september sept sep septembre",
        "october oct oktober octobre",
        "november nov novembre",
        "december dec dezember décembre",
    ),
    1,
)

NUMBERS = _named({
        1: "a an one eins ein eine einer einem einen un une",
        2: "two other second zwei zweite zweiten zweites deux",
        3: "three third drei dritte dritten trois",
        4: "four fourth vier vierte vierten quatre", 5: "five fünf cinq", 6: "six sechs", 7: "seven sieben sept",
        8: "eight acht huit", 9: "nine neun neuf", 10: "ten zehn dix", 11: "eleven elf onze", 12: "twelve zwölf douze",
        13: "thirteen dreizehn treize", 14: "fourteen vierzehn quatorze", 15: "fifteen fünfzehn quinze",
        16: "sixteen sechzehn seize", 17: "seventeen siebzehn dix-sept", 18: "eighteen achtzehn dix-huit",
        19: "nineteen neunzehn dix-neuf", 20: "twenty zwanzig vingt", 24: "twenty-four vierundzwanzig vingt-quatre",
        25: "twenty-five fünfundzwanzig vingt-cinq", 30: "thirty dreißig trente", 40: "forty vierzig quarante",
        45: "forty-five fünfundvierzig", 50: "fifty fünfzig cinquante", 60: "sixty sechzig soixante",
        90: "ninety neunzig",
})  # fmt: skip
HALF = "half an?|a half|eine[mnr] halben|une? demi-?"
HALVES = {"anderthalb": 1.5, "eineinhalb": 1.5, "one and a half": 1.5, "zweieinhalb": 2.5, "two and a half": 2.5}
SPANS = {
    "a quarter of an hour": 900.0, "a quarter hour": 900.0, "einer viertelstunde": 900.0, "un quart d'heure": 900.0,
    "three quarters of an hour": 2_700.0, "einer dreiviertelstunde": 2_700.0, "trois quarts d'heure": 2_700.0,
    "a fortnight": 14 * 86_400.0, "quinze jours": 14 * 86_400.0, "huit jours": 7 * 86_400.0,
}  # fmt: skip
"""Lengths that have names. In French, eight days are a week, and fifteen days are two weeks."""
_SIGNS = "零一二三四五六七八九"


def _chinese(number: int) -> str:
    tens, ones = divmod(number, 10)
    return (_SIGNS[tens] * (tens > 1) + "十" if tens else "") + (_SIGNS[ones] if ones or not tens else "")


_CHINESE = {
    **{_chinese(number): number for number in range(100)},
    **{"零" + sign: number for number, sign in enumerate(_SIGNS)},
    **{"〇" + sign: number for number, sign in enumerate(_SIGNS)},
    **dict.fromkeys(("两", "隔", "隔一"), 2),
}


def number_of(text: str) -> int:
    """The value of digits or of a number word; -1: it is none."""
    return int(text) if text.isdecimal() else NUMBERS.get(text.lower(), _CHINESE.get(text, -1))


SECONDS = _named({
    1: "s sec secs second seconds sekunde sekunden seconde secondes 秒钟 秒",
    60: "m min mins minute minutes minuten 分钟 分",
    900: "刻钟",
    3_600: "h hr hrs hour hours std stunde stunden heure heures 小时 钟头",
    86_400: "d day days tag tage tagen jour jours 天",
    604_800: "w week weeks woche wochen semaine semaines 周 星期 礼拜",
})  # fmt: skip
"""Length of a unit."""
CALENDAR_MONTHS = _named({
    1: "month months monat monate monaten mois 月",
    3: "quarter quarters quartal quartale quartalen trimestre trimestres 季度",
    12: "year years jahr jahre jahren an ans année années 年",
})  # fmt: skip
"""Months of a unit whose length the calendar determines."""

REPETITIONS = {
    **_named({
        "FREQ=SECONDLY": "second seconds sec secs sekunde sekunden seconde secondes 秒钟 秒",
        "FREQ=MINUTELY": "minute minutes min mins m minuten 分钟",
        "FREQ=MINUTELY;INTERVAL=15": "viertelstunde 刻钟",
        "FREQ=MINUTELY;INTERVAL=30": "demi-heure demi-heures 半小时 半个小时 半个钟头",
        "FREQ=HOURLY": "hour hours hr hrs h hourly stunde stunden std stündlich heure heures 小时 钟头",
        "FREQ=DAILY": "day days d daily tag tage täglich jour jours 天 日",
        "FREQ=WEEKLY;INTERVAL=2": "fortnight fortnights fortnightly",
        "FREQ=WEEKLY": "week weeks weekly woche wochen wöchentlich semaine semaines 周 星期 礼拜",
        "FREQ=MONTHLY": "month months monthly monat monate monatlich mois 月",
        "FREQ=MONTHLY;INTERVAL=3": "quarter quarters quarterly quartal quartale vierteljährlich trimestre trimestres "
        "季度 季",
        "FREQ=MONTHLY;INTERVAL=6": "halbjahr halbjährlich semestre semestres 半年",
        "FREQ=YEARLY": "year years yearly annually jahr jahre jährlich an ans année 年",
        "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR": "weekday weekdays workday workdays werktag werktags arbeitstag 工作日",
        "FREQ=WEEKLY;BYDAY=SA,SU": "weekend weekends wochenende week-end week-ends 周末 双休日",
    }),
    **dict.fromkeys(("jours ouvrés", "jours ouvrables"), "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
    **dict.fromkeys(("half hour", "half an hour", "halbe stunde"), "FREQ=MINUTELY;INTERVAL=30"),
    **dict.fromkeys(("quarter hour", "quarter of an hour", "quart d'heure"), "FREQ=MINUTELY;INTERVAL=15"),
    **dict.fromkeys(("half year", "half a year", "halbe jahr"), "FREQ=MONTHLY;INTERVAL=6"),
}  # fmt: skip
"""Recurrence rules of RFC 5545."""

ADVERBS = (
    "hourly", "daily", "weekdays", "weekends", "weekly", "monthly", "yearly", "annually", "stündlich", "täglich",
    "werktags", "wöchentlich", "monatlich", "jährlich", "quarterly", "fortnightly", "vierteljährlich", "halbjährlich",
)  # fmt: skip
"""The words that are repetitions alone."""

NTH = _named({
    "1": "first ersten premier 1 第一", "2": "second zweiten deuxième 2 第二", "3": "third dritten troisième 3 第三",
    "4": "fourth vierten quatrième 4 第四", "5": "fifth fünften cinquième 5 第五",
    "-1": "last letzten dernier 最后一",
})  # fmt: skip

PARTS = _named({
    "dawn": "凌晨 清晨",
    "morning": "morning mornings früh morgens morgen vormittag vormittags matin matins 早上 早晨 上午 早",
    "noon": "mittag mittags 中午 正午",
    "afternoon": "afternoon afternoons nachmittag nachmittags après-midi 下午",
    "evening": "evening evenings abend abends soir soirs 傍晚 晚上 晚",
    "night": "night nights nachts nacht 夜里 半夜 深夜",
})  # fmt: skip
"""Parts of the day."""

HOURS: Mapping[str, Mapping[int, int]] = {
    "": {hour: hour for hour in range(24)},
    "am": {12: 0} | {hour: hour for hour in range(1, 12)},
    "pm": {12: 12} | {hour: hour + 12 for hour in range(1, 12)},
    "dawn": {12: 0} | {hour: hour for hour in range(9)},
    "morning": {hour: hour for hour in range(13)},
    "noon": {hour: hour for hour in range(11, 16)} | {hour: hour + 12 for hour in range(1, 4)},
    "afternoon": {hour: hour for hour in range(12, 20)} | {hour: hour + 12 for hour in range(1, 8)},
    "evening": {hour: hour for hour in range(17, 25)} | {hour: hour + 12 for hour in range(5, 13)},
    "night": {hour: hour for hour in (*range(6), *range(18, 25))} | {hour: hour + 12 for hour in range(6, 13)},
}
"""The hour on a clock of 24 hours, by the part of the day and the hour that people say. 24 is the midnight after."""

AHEAD = _named({
    0: "today tonight this heute aujourd'hui aujourd’hui ce 今天 今日 今",
    1: "tomorrow morgen demain 明天 明日 明",
    2: "übermorgen après-demain 后天",
    3: "大后天",
}) | {"day after tomorrow": 2}  # fmt: skip
"""Days from today."""
