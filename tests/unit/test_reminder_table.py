"""A wide table of times in four languages, as people write them: each is understood, or refused with an example.

With ``/remind``, a text follows the time. Words of a time that are not understood must not become a part of this text,
because the reminder would fire at another time than the person meant.
"""

import datetime as dt

from daemon.reminders import ReminderRefused, ReminderRequest, parsed, planned
from tests.remindlab import place_of

NOW = dt.datetime(2026, 11, 26, 8, 0, tzinfo=dt.UTC)  # a Thursday, 9:00 in Berlin

UNDERSTOOD = """
2026-11-26 09:05 = 5 minutes from now; 2026-11-26T08:05Z; 2026-11-26T16:05:00+08:00; 2026-11-26T08:05+0000
2026-11-26 09:10 = 十分钟后; 十分钟以后; 过十分钟
2026-11-26 09:15 = in a quarter of an hour; in einer Viertelstunde; dans un quart d'heure; à neuf heures et quart
2026-11-26 09:30 = 9点半; 9点30; 九点三十; 早上9:30; in einer halben Stunde; um 9 Uhr 30; um 9.30 Uhr; 9.30 Uhr;
    um 9:30 Uhr; dans une demi-heure; à 9h30; à neuf heures et demie; 9h30; 9 h 30
2026-11-26 09:45 = in three quarters of an hour; 九点三刻; in einer Dreiviertelstunde; dans trois quarts d'heure
2026-11-26 10:00 = 一小时后; 一个小时后; in einer Stunde; dans une heure
2026-11-26 10:15 = in an hour and 15 minutes; dans 1 heure et 15 minutes
2026-11-26 10:30 = in 1.5 hours; 90 min; 一个半小时后; 1个半小时后; 1.5小时后; 一小时三十分钟后;
    in anderthalb Stunden; in eineinhalb Stunden; in 90 Minuten; dans une heure et demie; dans 1h30
2026-11-26 11:00 = two hours from now
2026-11-26 11:15 = in 2 Stunden und 15 Minuten
2026-11-26 11:30 = in 2 hours 30 minutes; 2h 30min
2026-11-26 11:45 = quarter to 12pm; quarter to twelve pm
2026-11-26 12:00 = 中午; 正午; à midi
2026-11-26 12:30 = à midi et demi
2026-11-26 18:00 = 9h; heute um 18 Uhr; 18 Uhr; aujourd'hui à 18h
2026-11-26 20:00 = in the evening at 8; this evening at 8; 今晚八点; heute Abend um 8; ce soir à 8h; 8pm tonight
2026-11-26 20:30 = 今晚八点半
2026-11-26 21:00 = 半天后; 晚上九点; 晚9点; 9pm in the evening; 21:00 tonight
2026-11-26 22:05 = five past ten pm
2026-11-27 00:00 = midnight; 午夜; 零点; à minuit; 12am tomorrow
2026-11-27 08:00 = morgen früh um 8
2026-11-27 08:15 = um Viertel nach 8
2026-11-27 08:20 = twenty past eight
2026-11-27 08:30 = half past 8; um halb neun
2026-11-27 08:45 = quarter to nine; 差一刻九点; um viertel vor neun; um dreiviertel neun;
    à neuf heures moins le quart
2026-11-27 08:50 = ten to nine; um zehn vor neun; at 10 to 9
2026-11-27 08:55 = 九点差五分
2026-11-27 09:00 = 9 o'clock; nine o'clock tomorrow; 明早九点; 这周五九点; 本周五九点; 周五九点; 礼拜五九点; 九点;
    9点; 上午九点; 早9点; Fr um 9; morgen um 9; kommenden Freitag um 9; diesen Freitag um 9; 9 Uhr; neun Uhr;
    um neun; gegen neun; demain à 9h; demain matin à 9h; à 9h; à 9 heures; à neuf heures; vers 9h; um 9 morgen;
    um 9h; ab 9 h; 9h du matin; 9 heures du matin; à 9h demain
2026-11-27 09:30 = tomorrow at nine thirty; tomorrow at 9.30
2026-11-27 10:00 = morgen Vormittag um 10
2026-11-27 12:00 = tomorrow noon; morgen Mittag; demain à midi; noon tomorrow
2026-11-27 15:00 = 明天下午十五点
2026-11-27 15:20 = 明天下午三点二十
2026-11-27 20:00 = Freitagabend um 8; demain soir à 8h; at 8pm on friday; 8 o'clock in the evening tomorrow
2026-11-27 21:00 = 9pm tomorrow
2026-11-27 21:15 = 明晚九点一刻
2026-11-28 00:00 = tomorrow midnight; 星期五晚上十二点
2026-11-28 09:00 = the day after tomorrow at 9; 两天后; 两天后九点; Sa um 9; in zwei Tagen um 9; übermorgen um 9;
    dans 2 jours à 9h; après-demain à 9h; 9:00 this weekend
2026-11-28 10:00 = this weekend at 10; weekend at 10; 这周末上午十点; 周末上午十点; 本周末十点; am Wochenende um 10;
    nächstes Wochenende um 10; dieses Wochenende um 10; ce week-end à 10h; le week-end prochain à 10h
2026-11-28 15:20 = 后天下午三点20分
2026-11-28 20:00 = übermorgen Abend um 8
2026-11-29 09:00 = three days from now at 9; 大后天九点; So um 9
2026-11-29 20:00 = Sonntagabend um 8
2026-11-30 09:00 = end of month at 9; at the end of the month at 9; 月底九点; 这个月底九点; 周一九点; 下周一九点;
    Mo um 9; am Mo um 9; nächsten Mo um 9; am Monatsende um 9; Montagmorgen um 9; Montag früh um 9;
    nächste Woche Montag um 9; lun à 9h; lun. à 9h; à la fin du mois à 9h; lundi à 9h; lundi prochain à 9h;
    um 9 am Montag; um 9 nächsten Montag
2026-12-01 10:00 = Di um 10 Uhr
2026-12-02 15:00 = 下星期三下午三点
2026-12-03 09:00 = a week from now at 9; Do um 9; dans huit jours à 9h
2026-12-04 21:00 = 9pm next friday
2026-12-05 09:00 = next month on the 5th at 9; 下月5号九点; nächsten Monat am 5. um 9; le 5 du mois prochain à 9h
2026-12-05 10:00 = next weekend at 10; 下周末上午十点
2026-12-07 09:00 = 下下周一九点
2026-12-10 09:00 = in a fortnight; 两星期后九点; in zwei Wochen um 9; in 14 Tagen um 9; in 14 Tagen;
    dans quinze jours à 9h
2026-12-17 09:00 = 三周后; dans 3 semaines à 9h
2026-12-24 09:00 = 9:00 2026-12-24; 9am 24 December; 9am December 24; 9:00 24.12.; à 9h le 24 décembre
2026-12-24 18:00 = 2026-12-24 18h; 24.12.2026 18:00; 24.12. 18:00; Dec 24 at 6pm; Dec 24th, 2026, 6pm;
    24th of December at 18:00; 12月24号18点; 12月24日下午6点; 十二月二十四号晚上六点; 2026年12月24日18点;
    am 24. Dezember um 18 Uhr; am 24.12. um 18 Uhr; am 24. um 18 Uhr; le 24 décembre à 18h
2026-12-26 09:00 = in einem Monat; dans un mois
2026-12-29 09:00 = in 1 month and 3 days at 9
2026-12-31 09:00 = 下个月最后一天九点; 下个月底九点
2027-01-01 00:00 = 明年1月1日零点
2027-01-01 09:00 = le 1er janvier à 9h
2027-01-26 09:00 = in 2 months; in two months at 9; 两个月后; 两个月后九点; in zwei Monaten; in zwei Monaten um 9;
    in 2 Monaten; dans deux mois; dans deux mois à 9h; dans 2 mois à 9h
2027-05-26 09:00 = 半年后九点; in einem halben Jahr um 9; dans six mois à 9h
2027-11-26 09:00 = in a year; 一年后九点; in einem Jahr um 9; dans un an à 9h
2027-12-19 09:00 = in 2 days 3 weeks 1 year
2028-02-29 09:00 = february 29 at 9; 2月29号九点
2028-10-20 20:40 = in 1000000 minutes
2028-11-26 09:00 = 两年后九点
2029-11-26 12:00 = in 3 years at noon
2026-11-27 09:00 DAILY = daily; 每天
2026-11-26 12:00 DAILY = 每天中午; 12pm every day
2026-11-26 12:30 DAILY = 每天中午十二点半
2026-11-26 20:00 DAILY = every evening at 8pm; jeden Abend um 8; tous les soirs à 20h; 8pm every day
2026-11-26 22:00 DAILY = every night at 10; 每晚十点
2026-11-27 00:00 DAILY = 每天午夜; 每天半夜十二点
2026-11-27 03:00 DAILY = 每天凌晨三点
2026-11-27 08:00 DAILY = every morning at 8; 每天早上八点; 每天早八点; 每早八点; täglich um 8; täglich 8 Uhr;
    jeden Tag um 8; jeden Morgen um 8; tous les jours à 8h; tous les matins à 8h; chaque matin à 8h
2026-11-27 09:00 DAILY = at 9 every day
2026-11-27 08:00 DAILY;BYDAY=MO,TU,WE,TH,FR = every day mon-fri at 8
2026-11-27 09:00 DAILY;INTERVAL=14 = tous les quinze jours à 9h
2026-11-27 09:00 DAILY;INTERVAL=15 = tous les 15 jours à 9h
2026-11-28 09:00 DAILY;INTERVAL=2 = 每隔一天
2026-11-27 08:00 DAILY;INTERVAL=2 = tous les deux jours à 8h
2026-11-27 09:00 DAILY;INTERVAL=2 = every other day at 9; every 2 days at 9; every 2d at 9; 每隔一天九点;
    隔一天九点; jeden zweiten Tag um 9; alle zwei Tage um 9; 每两天一次九点
2026-11-27 09:00 DAILY;INTERVAL=3 = every third day at 9
2026-11-26 10:00 HOURLY = every hour; every 1h; hourly; jede Stunde; stündlich; toutes les heures; chaque heure
2026-11-26 11:00 HOURLY;INTERVAL=2 = every 2 hrs; every 2h; 每两小时; 每2小时; 每隔两小时; 每两个小时;
    alle zwei Stunden; alle 2 Std; toutes les deux heures
2026-11-26 09:15 MINUTELY;INTERVAL=15 = every 15 minutes; 每刻钟; 每一刻钟; 每15分钟; every quarter of an hour
2026-11-26 09:20 MINUTELY;INTERVAL=20 = every 20 minutes
2026-11-26 09:30 MINUTELY;INTERVAL=30 = every 30 minutes; every half hour; every half an hour; every 30m;
    every 30min; 每30分钟; 每三十分钟; 每半小时; 每半个小时; 每隔半小时; alle 30 Minuten; alle 30 min;
    alle halbe Stunde; jede halbe Stunde; tous les 30 minutes; toutes les 30 minutes; toutes les demi-heures
2026-11-26 10:30 MINUTELY;INTERVAL=90 = every 90 minutes
2026-12-26 09:00 MONTHLY = monthly; 每月
2026-11-27 09:00 MONTHLY = monthly at 9; 每月九点; jeden Monat um 9
2026-11-27 09:00 MONTHLY;BYDAY=-1FR = on the last Friday of each month at 9; last friday of the month at 9;
    every month on the last friday at 9; 每月最后一个周五九点; 每个月最后一个星期五九点;
    am letzten Freitag jedes Monats um 9; am letzten Freitag im Monat um 9; le dernier vendredi de chaque mois à 9h;
    tous les derniers vendredis du mois à 9h
2026-12-07 09:00 MONTHLY;BYDAY=1MO = every month on the first monday at 9; monthly on the first monday at 9;
    每月第一个周一九点; 每个月的第一个星期一早上九点; jeden ersten Montag im Monat um 9;
    le premier lundi du mois à 9h
2026-12-08 09:00 MONTHLY;BYDAY=2TU = the 2nd tuesday of every month at 9; 每月第二个星期二九点
2027-01-29 09:00 MONTHLY;BYDAY=5FR = the fifth friday of every month at 9
2026-11-30 09:00 MONTHLY;BYMONTHDAY=-1 = 每月底九点; am letzten Tag des Monats um 9; le dernier jour du mois à 9h
2026-12-01 09:00 MONTHLY;BYMONTHDAY=1 = first day of every month at 9; on the 1st of each month at 9; 每月一号九点;
    jeden 1. des Monats um 9; am 1. jedes Monats um 9; am Ersten jedes Monats um 9; le 1er de chaque mois à 9h
2026-12-01 09:00 MONTHLY;BYMONTHDAY=1,15 = on the 1st and 15th of every month at 9; 每月1号和15号九点
2026-12-15 09:00 MONTHLY;BYMONTHDAY=15 = jeden Monat am 15. um 9; monatlich am 15. um 9
2026-11-30 09:00 MONTHLY;BYMONTHDAY=30 = on the 30th of every month at 9; 每个月30日九点
2026-12-31 09:00 MONTHLY;BYMONTHDAY=31 = on the 31st of every month at 9; 每月31号九点; am 31. jedes Monats um 9;
    tous les mois le 31 à 9h; le 31 de chaque mois à 9h; tous les 31 du mois à 9h
2026-12-01 09:00 MONTHLY;INTERVAL=2;BYMONTHDAY=1 = every other month on the 1st at 9
2026-12-31 09:00 MONTHLY;INTERVAL=2;BYMONTHDAY=31 = alle zwei Monate am 31. um 9
2027-02-26 09:00 MONTHLY;INTERVAL=3 = 每个季度
2026-11-27 09:00 MONTHLY;INTERVAL=3 = every quarter at 9; every 3 months at 9; quarterly at 9; at 9am every quarter;
    每季度九点; 每三个月九点; jedes Quartal um 9; vierteljährlich um 9; chaque trimestre à 9h;
    tous les trimestres à 9h; tous les trois mois à 9h
2026-12-01 09:00 MONTHLY;INTERVAL=3;BYMONTHDAY=1 = every quarter on the 1st at 9
2026-12-15 09:00 MONTHLY;INTERVAL=3;BYMONTHDAY=15 = alle drei Monate am 15. um 9; tous les trois mois le 15 à 9h
2026-11-27 09:00 MONTHLY;INTERVAL=6 = every half year at 9; 每半年九点; halbjährlich um 9; every 2 quarters at 9
2026-12-15 09:00 MONTHLY;INTERVAL=6;BYMONTHDAY=15 = every 6 months on the 15th at 9
2026-12-03 09:00 WEEKLY = weekly
2026-11-27 09:00 WEEKLY = weekly at 9; 每周九点
2026-11-27 09:00 WEEKLY;BYDAY=FR;INTERVAL=2 = every two weeks on friday at 9
2026-11-30 09:00 WEEKLY;BYDAY=MO = weekly monday at 9; 每周一九点; 每逢周一九点; 逢周一九点; jeden Mo um 9;
    montags um 9; wöchentlich am Montag um 9; tous les lun à 9h; chaque lundi à 9h; les lundis à 9h;
    toutes les semaines le lundi à 9h
2026-11-27 09:00 WEEKLY;BYDAY=MO,FR;INTERVAL=2 = every 2 weeks on monday and friday at 9
2026-11-30 09:00 WEEKLY;BYDAY=MO,TH = mondays and thursdays at 9; 每周一和周四九点; montags und donnerstags um 9;
    tous les lundis et jeudis à 9h
2026-11-30 09:00 WEEKLY;BYDAY=MO,TU,WE = 每周一到周三九点
2026-11-27 08:00 WEEKLY;BYDAY=MO,TU,WE,TH,FR = weekdays at 8; Mo-Fr um 8; Mo bis Fr um 8; werktags um 8;
    jeden Werktag um 8; tous les jours ouvrés à 8h; tous les jours ouvrables à 8h
2026-11-27 08:30 WEEKLY;BYDAY=MO,TU,WE,TH,FR = 每个工作日早上八点半
2026-11-27 09:00 WEEKLY;BYDAY=MO,TU,WE,TH,FR = Mon-Fri 9:00; 每工作日九点; 工作日九点; 9am every weekday
2026-11-30 09:00 WEEKLY;BYDAY=MO,WE = every mon/wed 9:00
2026-11-27 08:00 WEEKLY;BYDAY=MO,WE,FR = every monday, wednesday and friday at 8
2026-11-27 09:00 WEEKLY;BYDAY=MO,WE,FR = 每周一、三、五九点; jeden Mo, Mi und Fr um 9
2026-11-30 09:00 WEEKLY;BYDAY=MO;INTERVAL=2 = jeden zweiten Montag um 9; jeden 2. Montag um 9
2026-11-28 10:00 WEEKLY;BYDAY=SA,SU = jedes Wochenende um 10; tous les week-ends à 10h
2026-11-29 09:00 WEEKLY;BYDAY=SU = 每星期天九点
2026-12-01 09:00 WEEKLY;BYDAY=TU = every tue at 9; tous les mardis à 9h
2026-12-01 09:00 WEEKLY;BYDAY=TU,TH = every tues and thurs at 9
2026-12-01 09:00 WEEKLY;BYDAY=TU;INTERVAL=2 = every other Tuesday at 9; every second tuesday at 9;
    every 2nd tuesday at 9; 9:00 every other tuesday
2026-11-30 09:00 WEEKLY;INTERVAL=2;BYDAY=MO = fortnightly on monday at 9; every fortnight on monday at 9;
    alle 2 Wochen montags um 9; alle zwei Wochen am Montag um 9; toutes les deux semaines le lundi à 9h
2026-12-01 09:00 WEEKLY;INTERVAL=2;BYDAY=TU = 每两周周二九点; 隔周周二九点; 每隔一周周二九点
2026-11-27 09:00 WEEKLY;INTERVAL=3 = every 3 weeks at 9
2027-11-26 09:00 YEARLY = yearly; 每年
2026-11-27 09:00 YEARLY = every year at 9; yearly at 9; 每年九点
2026-12-24 18:00 YEARLY;BYMONTH=12;BYMONTHDAY=24 = every 24 December at 18:00; jedes Jahr am 24. Dezember um 18 Uhr;
    jährlich am 24.12. um 18 Uhr; tous les ans le 24 décembre à 18h; chaque année le 24 décembre à 18h
2027-01-01 09:00 YEARLY;BYMONTH=1;BYMONTHDAY=1 = every january 1 at 9
2028-02-29 09:00 YEARLY;BYMONTH=2;BYMONTHDAY=29 = 每年2月29日九点
2026-11-27 09:00 YEARLY;INTERVAL=2 = every other year at 9
"""
"""The first time, the repetition, and phrases for them."""

REFUSED = """
when = every day at 9 until christmas; täglich um 9 bis Ostern; tous les jours à 9h jusqu'à noël; 每天九点直到春节;
    tous les jours fériés à 8h; 9:00+01:00;
    in a couple of hours; in a few minutes; in 2 fortnights; 2 weeks from tomorrow at 9;
    every 2 hours from 9 to 17; biweekly on monday at 9; Mon, Wed, Fri 9:00; weekdays except friday at 8;
    every day except sunday at 9; every day until friday at 9; every day for a week at 9; twice a day at 9;
    twice a week at 9; three times a day; once a week at 9; once a month at 9; once a day at 9;
    every day at 9 and 18; 9:00 in 2 months; tomorrow 9.30; tomorrow at 9 30; tomorrow 9; end of the week at 9;
    next week at 9; next month at 9; next year at 9; a week from friday at 9; friday week at 9;
    friday in two weeks at 9; in two weeks on friday at 9; tomorrow week at 9; noonish; around 9; by 9pm;
    before 9pm; after lunch; 9 pm sharp; 9ish; 9:00 UTC; 9:00 Europe/Berlin; 9am PST; tomorrow 9:00 London time;
    2026/12/24 18:00; 24/12/2026 18:00; 12/24/2026 6pm; 24-12-2026 18:00; Christmas at 9; new year's eve at 18:00;
    yesterday at 9; 2 hours ago; last friday at 9; soon; later; sometime next week; in -5 minutes; every -1 days;
    every 99999 days at 9; every blue moon; every foo at 9; every monday foo at 9; february 30 at 9;
    every february 30 at 9; the 32nd at 9; 31 november 9:00; 25:00; 24:00; tomorrow 24:00; 12:60; 9:5; 13pm; 0pm;
    0am; 12:30:99; -9:00; monday 9:00 9:30; monday and tuesday 9:00; monday or tuesday 9:00;
    tomorrow or friday at 9; between 9 and 10; from 9 to 10; 9-10; 9:00-10:00; 2 monday; monday tuesday 9:00;
    today yesterday 9:00; in 2 monhts; in two month's time; every weekday 25:00; daily at 9 until tomorrow;
    daily 9 to 5; 每隔两天九点; 每隔三天九点; 每季度第一天九点; 下个月; 下个月九点; 月初九点; 周一周三九点;
    隔周二九点; 每双周周二九点; 除周五外每天九点; 每天早晚九点; 每天三次; 每天九点到十点; 上周一九点;
    三周后周一九点; 二零二六年十二月二十四日十八点; 元旦九点; 除夕晚上八点; 农历正月初一九点; 下午九点; 二十四点;
    昨天九点; 上个月九点; 两小时前; 马上; 等会儿; 一会儿后; 过几天; 最近; 负五分钟后; 二月三十号九点;
    每年2月30日九点; 十三月一号九点; 明天二十五点; 明天下午二十点; 九点六十分; 9点99; 周八九点; 每周八九点;
    星期七九点; Mo 9:00; Mi 18 Uhr; nächste Woche um 9; nächsten Monat um 9; Freitag in zwei Wochen um 9;
    Freitag in einer Woche um 9; um kurz vor neun; 24.12.26 18:00; täglich um 8 und 20 Uhr; zweimal am Tag um 9;
    einmal pro Woche um 9; gestern um 9; letzten Freitag um 9; vor zwei Stunden; bald; später; irgendwann;
    in null Minuten; in minus 5 Minuten; am 30. Februar um 9; am 32. um 9; um 25 Uhr; um 9:75; morgen um 13pm;
    jeden Mond um 9; jeden Mo um 25; Mo; jeden Mo; un jour sur deux à 8h; un mardi sur deux à 9h; mar 9h;
    le lundi à 9h; du lundi au vendredi à 8h; le 15 du mois à 9h; la semaine prochaine à 9h; lundi en huit à 9h;
    le mois prochain à 9h; le 24/12 à 18h; 24/12/2026 à 18h; hier à 9h; lundi dernier à 9h; il y a deux heures;
    bientôt; plus tard; dans zéro minutes; le 30 février à 9h; le 32 à 9h; à 25h; à 9h75; tous les foo à 9h;
    in 1.5 months; every month on monday at 9; every week on the 15th at 9; every day on monday at 9;
    every weekday on the 15th at 9; every monday on the 15th at 9; in the year 2027 at 9; 9:00 BST;
    9:00 tomorrow Tokyo time; 北京时间九点; 九点北京时间; 9:00 and 18:00; 2 days before friday at 9;
    20m before dinner; 1h after lunch; 20分钟前; 三天内; in under an hour; within an hour;
    every 2 hours between 9 and 17; daily 9-17; daily at 9 except weekends; hourly from 9 to 17; weekly except may;
    every month except may; 每天九点除了周末; 每天八点和二十点; 每月第六个周一九点; am Montag und Dienstag um 9;
    jeden Tag außer Sonntag um 9; um 9 oder um 10; täglich von 9 bis 17; täglich bis Freitag um 9; vor 2 Stunden;
    2 Stunden vorher; alle 2 Tage bis Mai; tous les jours sauf le dimanche à 9h;
    tous les jours jusqu'à vendredi à 9h; à 9h ou à 10h; 9pm weekly; 9:00 yearly; 9:00 daily; 9:00 weekdays;
    9am fri; 9:00 mon; monday 9:00 friday 10:00; today midnight today 9:00; 九点工作日; um 9 Mo; monatliche Miete;
    9am tonight; 9pm every morning; every morning at 9pm; tonight at 9am; this morning at 9pm; 早上晚上九点
often = every 30 seconds; every minute; every 5 minutes; 每5分钟; 每分钟; 每30秒; alle 10 Sekunden; alle 5 Minuten;
    toutes les 10 secondes; toutes les 5 minutes; every 14 minutes
day = tomorrow in the morning; 2026-12-24; 下周末; 今晚; 明早; 12月24号; 周末; heute Abend; morgen früh;
    demain matin; ce soir; lundi; tous les lundis
past = in 0 minutes; 0m; 零分钟后; 0分钟后; heute Nacht um 2; in 0 months; um 9 heute
far = in 99999 days; in 200000 weeks; in 20 years; every 1000 years at 9; in 11 years
rule = every 0 minutes; every 0 days at 9; on the 32nd of every month at 9; on the 0th of every month at 9;
    每月三十二号九点; 每0天九点; 每零天九点; alle 0 Tage um 9; tous les 0 jours à 9h;
    on the 1st, 10th and 40th of every month at 9
"""
"""The reason, and phrases."""

TEXTS = """
20m | tea
20m | to call Ann
20m | eat 5 apples
20m | in the oven
in 2 hours | call the dentist about the 9:00 appointment
in 2 hours | for the meeting
18:30 | dinner at 19:00
18:30 | dinner with Ann and Bob
18:30 | 明天的会议
18:30 | at home
18:30 | in the office
18:30 | on the phone with Ann
18:30 | to the doctor
18:30 | from Ann
18:30 | for dinner
18:30 | or so
18:30 | nach Hause gehen
18:30 | vor der Tür warten
18:30 | und dann schlafen
18:30 | à la maison
18:30 | le dîner
18:30 | de la soupe
18:30 | story time
18:30 | time to go
18:30 | me to sleep
18:30 | last call
18:30 | week planning
18:30 | 2 pills
18:30 | 3 Tabletten nehmen
18:30 | day planning
18:30 | May is calling
18:30 | march to the store
18:30 | the last supper
18:30 | the first aid kit
18:30 | to one of my friends
tomorrow at nine | call mum
tomorrow 9am | on the bus
monday 9:00 | Monday meeting
every monday 9:00 | weekly report
daily 08:00 | vitamins
daily | tea
daily | stand-up
daily | walk the dog
daily | yoga for 10 minutes
hourly | stretch
weekly | report
monthly | rent
every 2 hours | drink water
every 2 hours | look at the oven
每天八点 | 吃早饭
每天八点 | 到公司
每天八点 | 和妈妈打电话
每天 | 喝水
每天 | 上课
每两小时 | 喝水
明早九点 | 开会
明早九点 | 第一次会议
九点半 | 每个人都要来
20分钟后 | 上课
20分钟后 | 内部会议
三天后 | 前往北京
每小时 | 站起来
下周一九点 | 的会议
18:30 | daytime nap
18:30 | may I ask
18:30 | May party planning
18:30 | morning person talk
18:30 | fry eggs
18:30 | sunscreen
18:30 | satellite dish
18:30 | die Blumen gießen
18:30 | monatliche Miete
18:30 | this is it
18:30 | nextcloud update
18:30 | diese Mail schreiben
18:30 | dienstlich telefonieren
18:30 | mittagessen kochen
18:30 | frische Luft
"""
"""Times with the texts behind them."""


def rows(table: str) -> list[tuple[str, str]]:
    lines = [line.partition(" = ")[::2] for line in table.replace("\n    ", " ").strip().splitlines()]
    return [(key, phrase.strip()) for key, phrases in lines for phrase in phrases.split("; ")]


def meaning(wish: ReminderRequest | None) -> str:
    """The first time and the repetition of a wish; the reason when it is refused."""
    assert wish
    try:
        found = planned(wish, place_of("web:ann"), reminder_id="abc", now=NOW)
    except ReminderRefused as error:
        assert "…" not in str(error) and len(str(error)) > 40
        return error.key.removeprefix("remind_")
    return f"{found.local[:16].replace('T', ' ')} {found.rule.replace('FREQ=', '')}".strip()


def asked(phrase: str) -> ReminderRequest:
    return ReminderRequest(text="tea", when=phrase, zone="Europe/Berlin")


def commanded(phrase: str) -> ReminderRequest | None:
    is_chinese = any(sign > "\u2e80" for sign in phrase)
    return parsed(f"{phrase}{'喝茶' if is_chinese else ' drink tea'}", zone="Europe/Berlin").wish


def test_each_phrase_means_its_time_for_the_tool() -> None:
    found = {phrase: meaning(asked(phrase)) for _, phrase in rows(UNDERSTOOD)}

    assert found == {phrase: key for key, phrase in rows(UNDERSTOOD)}


def test_each_phrase_means_its_time_in_a_command_with_a_text_behind_it() -> None:
    found = {phrase: commanded(phrase) for _, phrase in rows(UNDERSTOOD)}

    assert {phrase: meaning(wish) for phrase, wish in found.items()} == {p: key for key, p in rows(UNDERSTOOD)}
    assert {wish.text for wish in found.values() if wish} == {"drink tea", "喝茶"}


def test_a_phrase_that_is_not_understood_is_refused_and_never_read_as_another_time() -> None:
    found = {phrase: meaning(asked(phrase)) for _, phrase in rows(REFUSED)}
    times = {phrase: meaning(commanded(phrase)) for _, phrase in rows(REFUSED)}

    assert found == {phrase: key for key, phrase in rows(REFUSED)}
    assert [phrase for phrase, time in times.items() if time[0].isdecimal()] == ["9 pm sharp"]


def test_the_text_behind_a_time_stays_a_text() -> None:
    table = [tuple(row.split(" | ")) for row in TEXTS.strip().splitlines()]
    wishes = [parsed("".join(row) if row[0][-1] > "\u2e80" else " ".join(row), zone="UTC").wish for row in table]

    assert [(wish.when, wish.text) for wish in wishes if wish] == table
