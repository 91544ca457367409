"""Names of people in Chinese characters and in pinyin: "Zhang Wei" finds 张伟, and 张伟 finds "Zhang Wei". Pure."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from daemon.recall.chinese_characters import CHARACTERS, SYLLABLES
from daemon.recall.word_forms import ENGLISH, stem

_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔"
    "钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛"
    "邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛曲翁冉骆"
    "蓝路游辛靳管柴蒙鲍华喻祁房蒲滕屈饶解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗"
    "瞿桂全佟应臧闵苟邬边卞姬师和仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝官封谈匡鞠惠荆乐冀郁胥南班储"
    "原栗燕楚鄢劳谌奚皮粟冼蔺楼盘满闻位厉伊仝区郜海阚花权强帅屠豆朴盖练廉禹井祖漆巴丰支卿国狄平计索宣晋相初门云"
)
"""The 300 most frequent surnames of China, simplified."""

SYLLABLES_MAX = 3
"""Of a name, with its surname."""

NAMES_MAX = 8
"""Of a query: each costs a look at the index."""

_BY_SURNAME = {
    syllable: found
    for syllable, signs in CHARACTERS.items()
    if (found := [sign for sign in signs if sign in _SURNAMES])
}


def names_in_pinyin(words: Sequence[str]) -> list[tuple[str, ...]]:
    """The names that one to three ``words`` may spell, as syllables with the surname first.

    Args:
        words: of a text, in order; only those in Latin letters are read.
    """
    lower = [
        "" if word.lower() in ENGLISH or not (word.isascii() and word.isalpha()) else word.lower() for word in words
    ]
    found = dict[tuple[str, ...], None]()
    for at in range(len(lower)):
        for upto in range(at + 1, min(at + SYLLABLES_MAX, len(lower)) + 1):
            if not all(lower[at:upto]):
                break
            for name in _syllables(tuple(lower[at:upto])):
                # "Wei Zhang" as well as "Zhang Wei".
                orders = (name, name[-1:] + name[:-1]) if upto > at + 1 else (name,)
                found |= dict.fromkeys(order for order in orders if len(order) > 1 and order[0] in _BY_SURNAME)
    return list(found)[:NAMES_MAX]


@lru_cache(maxsize=1_000)
def _syllables(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """All readings of words as at most ``SYLLABLES_MAX`` syllables."""
    readings: list[tuple[str, ...]] = [()]
    for word in words:
        readings = [reading + more for reading in readings for more in _split(word, SYLLABLES_MAX - len(reading))]
    return readings


def _split(word: str, most: int) -> Iterator[tuple[str, ...]]:
    if not word:
        yield ()
    for end in range(1, min(6, len(word)) + 1) if most else ():
        if word[:end] in CHARACTERS:
            yield from ((word[:end], *rest) for rest in _split(word[end:], most - 1))


def surnames_of(syllable: str) -> Sequence[str]:
    """The surnames that are pronounced like that."""
    return _BY_SURNAME.get(syllable, ())


def is_pronounced(sign: str, syllable: str) -> bool:
    """Whether a character has this pronunciation."""
    return syllable in SYLLABLES.get(sign, ())


def names_in_characters(run: str) -> list[tuple[str, ...]]:
    """The search terms of each name that ``run`` may contain, as they are written in pinyin.

    张晓明 is written as "Zhang Xiaoming" or "zhangxiaoming". All terms of a name belong together.
    """
    found = dict[tuple[str, ...], None]()
    for at, sign in enumerate(run[:-1]):
        if sign in _SURNAMES and sign in SYLLABLES:
            for length in (1, 2):
                given = run[at + 1 : at + 1 + length]
                if len(given) == length and all(each in SYLLABLES for each in given):
                    first, last = SYLLABLES[sign][-1], "".join(SYLLABLES[each][0] for each in given)
                    found |= dict.fromkeys(((stem(first), stem(last)), (stem(first + last),)))
    return list(found)[:NAMES_MAX]
