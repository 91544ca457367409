"""Conversations that are hard to search, made up: echoes, chatter, namesakes, other words and corrections.

Each kind of question has one message with the answer, and many messages that look more like the question.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from random import Random

from benchmarks.recall_files import Conversation, Message, Question

SEED = 37
FACTS = 24
"""Questions of each kind and language."""
ECHOES = 6
"""Earlier copies of a question, each with an empty answer."""
CHATTER = 20
"""Messages of the day that a question names."""
NAMESAKES = 8
"""Facts about things of the same name."""
VISITS = 8
"""Statements about similar events on different days."""
CORRECTIONS = 6
"""Statements about one thing, of which only the newest is true."""
FIRST = dt.datetime(2026, 1, 5, 9, tzinfo=dt.UTC)
PAUSE = dt.timedelta(seconds=40)

_WORDS = {
    "en": """
Ann Ben Cleo Dan Eve Finn Gwen Hugo Ines Jack Kira Liam Mona Nils Olga Paul Quinn Rosa Sven Tara
sister brother neighbor cousin aunt uncle teacher colleague
boat dog bakery garden horse choir guitar tent kayak blog
Heron Amber Cobalt Juniper Saffron Willow Comet Maple Orchid Pebble Velvet Lantern Quartz Thistle Ember
""",
    "zh": """
小美 阿强 丽丽 建国 小雨 志明 春娇 大伟 婷婷 子轩 晓东 雅琴 文静 海涛 玉兰 俊杰 思思 浩然 佳佳 永刚
姐姐 弟弟 邻居 表妹 姑姑 舅舅 老师 同事
船 狗 面包店 花园 马 合唱团 吉他 帐篷 皮艇 博客
苍鹭 琥珀 钴蓝 杜松 藏红花 柳树 彗星 枫叶 兰花 卵石 丝绒 灯笼 石英 蓟花 余烬
""",
}
"""People, relatives, things and names of things."""
_TEXTS = {
    "en": {
        "fact": "{person}'s {relative} has a {thing} called {name}.",
        "question": "What is the {thing} of {person}'s {relative} called?",
        "empty": "I don't know what it is called.",
        "on": "On {day} I went with {person} to see the {thing} {name}.",
        "asked on": "Which {thing} did I see on {day}?",
        "chatter": "What a {thing}!|Good morning {person}!|See you, {person}.|Ha, nice {thing}.|I am so tired today.",
        "was": "{person}'s {thing} is called {name} now.",
        "asked now": "What is {person}'s {thing} called?",
        "saw": "I visited {person} and looked at the {thing} near {name}.",
        "more": "It was late.",
        "asked first": "When did I first visit {person} and look at the {thing}?",
    },
    "zh": {
        "fact": "{person}的{relative}有一个{thing}，叫{name}。",
        "question": "{person}的{relative}的{thing}叫什么？",
        "empty": "我不知道叫什么。",
        "on": "我{day}和{person}去看了{thing}{name}。",
        "asked on": "我{day}看了哪个{thing}？",
        "chatter": "多好的{thing}！|{person}早上好！|{person}回头见。|哈哈，不错的{thing}。|我今天好累。",
        "was": "{person}的{thing}现在叫{name}。",
        "asked now": "{person}的{thing}叫什么？",
        "saw": "我去了{person}家，在{name}旁边看了{thing}。",
        "more": "那天很晚了。",
        "asked first": "我第一次去{person}家看{thing}是什么时候？",
    },
}
_OTHER_WORDS = {
    "en": """
What does {person} do for a living?|{person} bakes bread in a small shop.
Is {person} allergic to anything?|Nuts make {person}'s throat swell up.
Which pet does {person} own?|{person} feeds a tabby cat every morning.
How does {person} commute?|{person} takes the tram to the office.
Which instrument can {person} play?|{person} practises the violin every evening.
Where did {person} spend the vacation?|{person} lay on a beach in Crete for two weeks.
Which sport does {person} do?|{person} swims forty lanes before breakfast.
What is {person}'s marital status?|{person} has a husband since June.
What degree does {person} have?|{person} graduated in chemistry.
Which beverage does {person} prefer?|{person} cannot start the day without green tea.
Is {person} religious?|{person} goes to church on Sundays.
What illness does {person} have?|{person} has had diabetes for years.
""",
    "zh": """
{person}做什么工作？|{person}每天在小店里烤面包。
{person}对什么过敏？|{person}一吃花生喉咙就肿。
{person}养了什么宠物？|{person}每天早上喂一只花猫。
{person}怎么上班？|{person}坐地铁去公司。
{person}会什么乐器？|{person}每晚练小提琴。
{person}去哪里度假了？|{person}在三亚的海滩躺了两周。
{person}做什么运动？|{person}早饭前游泳两千米。
{person}结婚了吗？|{person}六月起有了丈夫。
{person}的学历是什么？|{person}拿到了化学硕士。
{person}爱喝什么饮料？|{person}没有绿茶就过不了一天。
{person}信教吗？|{person}每个星期天去教堂。
{person}得了什么病？|{person}有糖尿病好几年了。
""",
}


def hard_conversations() -> Iterator[Conversation]:
    """One conversation of each language, always the same."""
    for language in _WORDS:
        yield _Hard(language).told


class _Hard:
    """A conversation while it is made up."""

    def __init__(self, language: str) -> None:
        self._random = Random(f"{SEED} {language}")
        lines = _WORDS[language].strip().splitlines()
        self._people, self._relatives, self._things, self._names = map(str.split, lines)
        self._texts = _TEXTS[language]
        self._time = FIRST
        self.told = Conversation(set_name="hard", name=f"hard-{language}", language=language)
        facts = [dict[str, str](zip(("person", "thing"), pair, strict=True)) for pair in self._pairs()]
        others = _OTHER_WORDS[language].strip().splitlines()
        for number in range(FACTS):
            self._time = FIRST + dt.timedelta(days=3 * number)
            self._echoed(facts[number])
            self._chatted(facts[FACTS + number])
            self._namesakes(facts[2 * FACTS + number])
            self._corrected(facts[3 * FACTS + number])
            question, _, answer = others[number % len(others)].partition("|")
            person = self._people[number % len(self._people)]
            self._ask("other words", question.format(person=person), self._say(answer.format(person=person)))
        for number in range(FACTS):
            self._returned(self._people[number % len(self._people)], self._things[number % len(self._things)])
        self._random.shuffle(self.told.questions)

    def _pairs(self) -> Sequence[tuple[str, str]]:
        pairs = [(person, thing) for person in self._people for thing in self._things]
        self._random.shuffle(pairs)
        return pairs

    def _say(self, text: str, speaker: str = "user") -> int:
        """The index of the message."""
        self.told.messages.append(Message(time=self._time, speaker=speaker, text=text))
        self._time += PAUSE
        return len(self.told.messages) - 1

    def _ask(self, kind: str, text: str, evidence: int) -> None:
        self.told.questions.append(Question(kind=kind, text=text, evidence=frozenset({evidence})))

    def _text(self, form: str, **values: str) -> str:
        return self._texts[form].format(**values)

    def _new(self) -> dict[str, str]:
        return {"relative": self._random.choice(self._relatives), "name": self._random.choice(self._names)}

    def _echoed(self, fact: dict[str, str]) -> None:
        fact |= self._new()
        evidence, question = self._say(self._text("fact", **fact)), self._text("question", **fact)
        for _ in range(ECHOES):
            self._say(question)
            self._say(self._texts["empty"], "assistant")
        self._ask("echoes", question, evidence)

    def _chatted(self, fact: dict[str, str]) -> None:
        fact |= self._new() | {"day": f"{self._time:%Y-%m-%d}"}
        evidence = self._say(self._text("on", **fact))
        for _ in range(CHATTER):
            self._say(self._random.choice(self._texts["chatter"].split("|")).format(**fact))
        self._ask("chatter", self._text("asked on", **fact), evidence)

    def _namesakes(self, fact: dict[str, str]) -> None:
        relatives = self._random.sample(self._relatives, NAMESAKES)
        told = [self._say(self._text("fact", **fact | self._new() | {"relative": each})) for each in relatives]
        at = self._random.randrange(NAMESAKES)
        self._ask("namesakes", self._text("question", **fact | {"relative": relatives[at]}), told[at])

    def _returned(self, person: str, thing: str) -> None:
        """The same event on several days, the first one in the longest message."""
        texts = [self._text("saw", person=person, thing=thing, name=name) for name in self._names[:VISITS]]
        told = list[int]()
        for at, text in enumerate(texts):
            self._time += dt.timedelta(days=1)
            told.append(self._say(f"{text} {self._texts['more']}" if at == 0 else text))
        self._ask("first time", self._text("asked first", person=person, thing=thing), told[0])

    def _corrected(self, fact: dict[str, str]) -> None:
        told = [
            self._say(self._text("was", **fact, name=name)) for name in self._random.sample(self._names, CORRECTIONS)
        ]
        self._ask("corrections", self._text("asked now", **fact), told[-1])
