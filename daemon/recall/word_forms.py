"""Forms of words in a search: stop words, synonyms, identifiers, and scripts without spaces. Pure.

Only such as mean the same nearly always; what is merely near is for vectors to find.

What is more than letters and digits is found as a whole and by its parts: ``src/user_id.py`` by itself, ``user_id.py``,
``src``, ``user_id``, ``user``, ``id`` and ``py``.
"""

import re
from itertools import pairwise, product
from threading import local

from Stemmer import Stemmer

# Words without meaning for a search. They are removed from queries, but never from the index.

_ENGLISH = """
a an the this that these those such same i me my mine myself we us our ours ourselves you your yours yourself
yourselves u ur he him his himself she her hers herself it its itself they them their theirs themselves one ones am
is are was were be been being isnt arent wasnt werent im youre hes shes weve theyre ive youve theyve have has had
having havent hasnt hadnt do does did done doing dont doesnt didnt can could cant couldnt will would wont wouldnt
shall should shouldnt may might must mustnt ought ill youll hell shell itll well theyll id youd hed shed wed theyd
lets thats whats whos wheres hows theres heres whens whys gonna wanna gotta what which who whom whose when where why
how whether and or but nor so yet if then else than because since while although though as until unless of in on at
by for with without about against between into through during before after above below to from up down out off over
under within upon onto per via toward towards across around along again further once here there now just only very
too also even still ever never always not no yes none any some all both each few more most other another many much
every either neither own several something anything nothing everything someone anyone everyone somebody anybody
everybody nobody somewhere anywhere everywhere really quite rather almost perhaps maybe already soon later s t d ll
m re ve o e g eg ie etc vs
"""
ENGLISH = frozenset(_ENGLISH.split())
"""As they stand in a text, lower case, without apostrophes."""

_ABOUT_TALKING = """
remember remembered recall recalled remind reminded mention mentioned mentioning tell telling told say says said
saying talk talked talking speak spoke spoken discuss discussed discussing ask asked asking answer answered know
knows knew known think thinks thought guess suppose believe mean means meant chat chatted conversation earlier
previously ago last time times thing things stuff kind sort bit lot lots please thanks thank hi hello hey ok okay oh
ah um uh hmm yeah yep nope sure right get gets got getting gotten go goes going went gone make makes made making let
give gave given want wants wanted like would need needs needed
"""
ABOUT_TALKING = frozenset(_ABOUT_TALKING.split())
"""What a question for something remembered is put in, so that it tells little of what was said: asked only when there
is nothing else."""

_CHINESE = """
的 了 吗 呢 吧 啊 呀 嘛 哦 噢 哈 嗯 哎 唉 啦 么 嘞 喽 着 地 得 之 所 等 我 你 您 他 她 它 咱 俺 我们 你们 您们 他们
她们 它们 咱们 自己 大家 别人 人家 我的 你的 他的 她的 这 那 哪 这个 那个 哪个 这些 那些 哪些 这里 那里 哪里 这儿
那儿 哪儿 这样 那样 这么 那么 这种 那种 哪种 此 谁 什么 甚么 啥 怎么 怎样 怎么样 如何 为什么 为何 多少 几 几个 多久
多大 多长 哪天 哪一天 何时 什么时候 什么样 是 是不是 会 会不会 有 有没有 没 没有 不 不是 在 也 都 就 还 又 再 很 太
最 更 挺 非常 十分 特别 比较 真 真的 已 已经 曾 曾经 正在 将 将要 能 能够 可以 可 可能 应该 应当 要 想要 必须 该 别
不要 才 只 只是 刚 刚才 刚刚 仍 仍然 还是 和 与 跟 同 及 以及 或 或者 而 而且 并 并且 但 但是 不过 可是 然而 因为
所以 因此 由于 如果 要是 虽然 尽管 即使 既 对 对于 关于 从 自 由 向 往 到 把 被 给 让 叫 叫做 使 为 为了 以 于 用 按
比 当 除了 通过 随着 里 里面 上 下 中 时 时候 个 些 一些 一下 一个 一种 一点 有点 有些 每 每个 各 各种 某 某个 其
其他 其它 另 另外 起来 出来 过 来 去 说 过的 请 请问 谢谢 你好 您好 好的 嗨 喂 哈喽 对吗 好吗 是吗 来着
现在 目前 如今 当前
"""
_COUNTED = product("这那哪几每某一两", "个位名家部本首只条张款种类场件门项次回双套台辆座间份句篇层届幅片棵朵瓶杯碗")
_HOW_MUCH = product("多", "久大长远高重贵快深宽厚少")
CHINESE = frozenset((*_CHINESE.split(), *map("".join, _COUNTED), *map("".join, _HOW_MUCH)))
"""Chinese words, both those of grammar and those that questions are made of."""

_CHINESE_ABOUT_TALKING = """
记得 还记得 记不记得 记住 提到 提到过 提过 提及 说过 说起 聊过 聊到 聊 谈过 谈到 谈 告诉 告诉过 问过 问 讲过 讲 知道
知不知道 觉得 认为 之前 以前 上次 最近 曾经 时间 事情 东西 名字是 一次
"""
CHINESE_ABOUT_TALKING = frozenset(_CHINESE_ABOUT_TALKING.split())
"""As ``ABOUT_TALKING``."""

_CHINESE_KEPT = "自由 太太 当地 各地 对比 使用 不同"
CHINESE_KEPT = frozenset(_CHINESE_KEPT.split())
"""Words of which each sign is a stop word elsewhere. Others that hold one are found by the pairs in which it stands."""

_JAPANESE = """
です ます でした ました ません した して する いる ある ない この その あの どの これ それ あれ どれ ここ そこ どこ
だれ いつ なに なぜ どう どうして どんな いくつ いくら という から まで より など さん ちゃん ください 何 誰 は が
を に で と も の か ね よ へ や
"""
JAPANESE = frozenset(_JAPANESE.split())


# Irregular forms of words, and synonyms.

_SYNONYMS = """
buy purchase purchased; big large huge; sick ill; doctor physician; begin start started starting; sofa couch;
dinner supper; trash rubbish garbage; lawyer attorney; colleague coworker coworkers; baby infant; trip journey;
taxi cab; afraid scared frightened; happy glad; soccer football; cookie biscuit; pants trousers; luggage baggage;
store shop shops; fall autumn; telephone cellphone smartphone; pharmacist chemist; small tiny; allergy allergic;
birth born; marry marriage wedding married wed; die dead died dies dying death; tall height; weigh weight;
grow growth; choose choice; decide decision; advise advice; believe belief; lose loss; sell sale sales;
fly flight flights; gift present presents; cat kitten kittens kitty; dog puppy puppies pup;
salary wage wages; job occupation profession
"""
_FORMS = """
arise arose arisen; awake awoke awoken; beat beaten; become became; begin began begun; bend bent; bite bit bitten;
bleed bled; blow blew blown; break broke broken; bring brought; build built; burn burnt; buy bought; catch caught;
choose chose chosen; come came; creep crept; deal dealt; dig dug; draw drew drawn; dream dreamt; drink drank drunk;
drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found; flee fled;
fly flew flown flies; forbid forbade forbidden; forget forgot forgotten; forgive forgave forgiven;
freeze froze frozen; give gave given; go went gone; grow grew grown; hang hung; hear heard; hide hid hidden;
hold held; keep kept; kneel knelt; know knew known; lead led; lean leant; leap leapt; learn learnt; leave left;
lend lent; light lit; lose lost; make made; mean meant; meet met; mistake mistook mistaken; pay paid;
ride rode ridden; ring rang rung; rise risen; run ran; say said; see saw seen; seek sought; sell sold; send sent;
sew sewn; shake shook shaken; shine shone; shoot shot; show shown; shrink shrank shrunk; sing sang sung;
sink sank sunk; sit sat; sleep slept; slide slid; smell smelt; speak spoke spoken; speed sped; spell spelt;
spend spent; spill spilt; spin spun; spoil spoilt; stand stood; steal stole stolen; stick stuck; sting stung;
strike struck; swear swore sworn; sweep swept; swell swollen; swim swam swum; swing swung; take took taken;
teach taught; tear tore torn; tell told; think thought; throw threw thrown; understand understood;
undergo underwent undergone; wake woke woken; wear wore worn; weave wove woven; weep wept; win won;
withdraw withdrew withdrawn; write wrote written; child children kid kids; man men; woman women;
person people persons; foot feet; tooth teeth; goose geese; mouse mice; wife wives; knife knives; shelf shelves;
wolf wolves; loaf loaves; thief thieves; calf calves; half halves; scarf scarves; analysis analyses; crisis crises;
criterion criteria; phenomenon phenomena; medium media; diagnosis diagnoses; good better best; bad worse worst;
far farther further farthest; 2 two; 3 three; 4 four; 5 five; 6 six; 7 seven; 8 eight; 9 nine; 10 ten; 11 eleven;
12 twelve; 13 thirteen; 14 fourteen; 15 fifteen; 16 sixteen; 17 seventeen; 18 eighteen; 19 nineteen; 20 twenty;
30 thirty; 40 forty; 50 fifty; 60 sixty; 70 seventy; 80 eighty; 90 ninety; 100 hundred; 1000 thousand;
mother mom mum mommy mummy mama moms mums; father dad daddy papa dads; grandmother grandma granny;
grandfather grandpa granddad; photograph photo photos pic pics; television tv telly; telephone phone phones;
refrigerator fridge; bicycle bike bikes; examination exam exams; advertisement ad ads advert; laboratory lab labs;
gymnasium gym; influenza flu; vacation holiday holidays; application app apps; automobile auto car cars;
airplane aeroplane plane planes; mathematics math maths; apartment flat; movie film films; birthday bday;
favorite fav fave favourite favourites; january jan; february feb; march mar; april apr; august aug;
september sep sept; october oct; november nov; december dec; monday mon; tuesday tue tues; wednesday wed;
thursday thu thur thurs; friday fri; color colour colours coloured; flavor flavour flavours; honor honour;
neighbor neighbour neighbours; neighborhood neighbourhood; behavior behaviour; humor humour; labor labour;
harbor harbour; rumor rumour; center centre centres; theater theatre theatres; meter metre metres;
liter litre litres; fiber fibre; gray grey; program programme programmes; catalog catalogue; dialog dialogue;
organize organise organised organising; organization organisation; realize realise realised realising;
recognize recognise recognised; apologize apologise apologised; analyze analyse analysed analysing;
specialize specialise specialised; jewelry jewellery; pajamas pyjamas; tire tyre tyres; check cheque; mold mould;
plow plough; defense defence; license licence; cozy cosy; pediatrician paediatrician; airport airports;
donut doughnut doughnuts; yogurt yoghurt; omelet omelette; story stories
"""

MAIN_FORM = {
    form: main
    for forms in f"{_FORMS};{_SYNONYMS}".replace("\n", " ").split(";")
    for main, *others in (forms.split(),)
    for form in others
}
"""Lower case; from each form to the one that all of them are indexed and looked for by."""

_CHINESE_SYNONYMS = """
妈妈 母亲 老妈 妈咪; 爸爸 父亲 老爸 爸; 爷爷 祖父; 奶奶 祖母; 外公 姥爷 外祖父; 外婆 姥姥 外祖母;
妻子 老婆 太太 媳妇; 丈夫 老公; 孩子 小孩 儿童 小朋友; 医生 大夫; 老师 教师; 手机 电话; 电脑 计算机;
自行车 单车 脚踏车; 汽车 轿车; 出租车 的士 计程车; 公交车 公交 巴士; 餐厅 餐馆 饭店 饭馆; 电影 影片; 照片 相片;
房子 住宅; 家里 家中; 工作 职业; 名字 姓名; 喜欢 喜爱; 讨厌 厌恶; 高兴 开心 快乐 愉快; 难过 伤心 悲伤 沮丧 失落;
害怕 恐惧; 生气 愤怒 恼火; 担心 担忧 忧虑 焦虑 紧张; 疲惫 疲倦 劳累;
漂亮 美丽 好看; 周 星期 礼拜; 早上 早晨 清晨; 晚上 夜里 夜晚; 中午 正午; 周末 双休日; 价格 价钱; 地址 住址;
生日 寿辰; 结婚 成婚; 去世 过世 逝世; 生病 患病; 医院 诊所; 超市 超级市场; 衣服 衣裳; 西红柿 番茄; 土豆 马铃薯;
酸奶 优格; 朋友 好友; 同事 同僚; 狗狗 小狗; 猫咪 小猫; 旅游 旅行; 购买 买; 打算 计划; 帮忙 帮助; 开始 起初;
学习 念书; 睡觉 入睡; 洗澡 沐浴; 吵架 争吵; 软件 软体; 网络 网路; 地铁 捷运; 信息 资讯; 打印 列印;
质量 品质; 幼儿园 幼稚园; 摩托车 机车; 酒店 旅馆;
老家 家乡 故乡 籍贯; 爱好 兴趣 喜好; 邮箱 电子邮件; 公司 单位 企业; 学历 文凭 学位; 上司 老板 领导; 下属 部下;
岳父 丈人; 岳母 丈母娘; 工资 薪水 薪资; 房租 租金; 礼物 礼品; 比赛 竞赛 大赛; 头疼 头痛; 肚子疼 腹痛;
锻炼 健身; 跑步 慢跑; 辞职 离职; 早饭 早餐; 午饭 午餐; 晚饭 晚餐; 快递 包裹; 堵车 塞车; 预约 预订 预定;
账号 帐号; 书籍 图书; 参加 参与 出席; 举行 举办; 手机号 电话号码 号码
"""
SAID_OTHERWISE = {
    word: tuple(other for other in words if other != word)
    for words in (same.split() for same in _CHINESE_SYNONYMS.replace("\n", " ").split(";"))
    for word in words
}
"""From a Chinese word to others for the same. A text is indexed as it stands; they are asked for as well."""


# Search terms for scripts without spaces or with suffixes: characters and their pairs. Pure.

SIGNS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao; Burmese; Khmer
    "\u3005-\u3007\u3031-\u3035\u3041-\u30fa\u30fc-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, bopomofo
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
)
"""For a set of a regular expression."""

_HIRAGANA = re.compile(r"[\u3041-\u309f]+")
_KANA = re.compile(r"[\u3041-\u30ff]")


def run_terms(run: str) -> list[str]:
    """The characters of a run and their pairs, in order."""
    pairs = map("".join, pairwise(run))
    return [term for both in zip(run, pairs, strict=False) for term in both] + [run[-1]]


def _alternatives(*words: frozenset[str]) -> str:
    return "|".join(sorted({re.escape(word) for some in words for word in some}, key=lambda word: (-len(word), word)))


_CHINESE_CHARACTERS = re.compile(_alternatives(CHINESE_KEPT, CHINESE, CHINESE_ABOUT_TALKING))
_otherwise = re.compile(_alternatives(frozenset(SAID_OTHERWISE))).findall
_what_happened = re.compile(r"(?:做|干|发生)[了过]?些?(?:什么|啥)(?=事|$)").sub
"""The end of a question about all that was done, unlike ``做了什么菜``."""
_JAPANESE_CHARACTERS = re.compile(_alternatives(JAPANESE))


def said_otherwise(piece: str) -> list[str]:
    """The pairs of characters in other words for those in a piece of Chinese."""
    others = [other for word in _otherwise(piece) for other in SAID_OTHERWISE[word]]
    return [f"{first}{second}" for other in others for first, second in pairwise(other)]


def content_of(run: str) -> list[str]:
    """What of a run is neither grammar nor the way in which questions are put: pieces of it, in order."""
    if _KANA.search(run):
        return [
            piece
            for piece in _JAPANESE_CHARACTERS.sub(" ", run).split()
            if not (_HIRAGANA.fullmatch(piece) and len(piece) < 2)
        ]
    run = _what_happened(" ", run)
    return _CHINESE_CHARACTERS.sub(lambda found: found[0] if found[0] in CHINESE_KEPT else " ", run).split()


def asked_terms(run: str) -> list[str]:
    """What is looked for of a run: its content, and the pairs in which that meets grammar.

    By itself a sign of content says little: ``看`` stands in many words, and ``看了`` means just one of them.
    """
    pieces = content_of(run)
    content = {sign for piece in pieces for sign in piece}
    edges = [first + second for first, second in pairwise(run) if (first in content) != (second in content)]
    return [term for piece in pieces for term in run_terms(piece)] + edges


# Search terms of words, identifiers, versions, paths and addresses. Pure.

WHOLE_MAX_CHARS = 120
"""A longer one, such as an address with a signature, is found by its parts alone: nobody types it again. Of a longer
word so much is kept."""

PARTS_MAX = 48
"""Of one identifier; a line of code without blanks is no identifier."""

_SIGNS = {ord(sign): chr(0xE000 + ord(sign)) for sign in map(chr, range(0x21, 0x7F)) if not sign.isalnum()}
"""ASCII signs as characters for private use, which no tokenizer of FTS5 takes for the end of a word."""

_STRONG = re.compile(r"[^\w.+~\-]+|-?-[>-]|\.{2,}")
"""What stands between names."""
_WEAK = re.compile(r"[^\w]+|_+")
"""What stands within them."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MIXED = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")
_has_sign = re.compile(r"[!-/:-@\[-`{-~]").search
_is_ordinal = re.compile(r"\d+(?:st|nd|rd|th)").fullmatch
_version = re.compile(r"v?(\d+(?:\.\d+){1,5})(?![\d.])").match
_is_thousands = re.compile(r"\d{1,3}(?:,\d{3})+").fullmatch


class _Here(local):
    """A stemmer for each thread: it must not be called while it works."""

    def __init__(self) -> None:
        self.stem = Stemmer("english", 0).stemWord


_here = _Here()
_MAIN_OF_STEM = {_here.stem(form): main for form, main in MAIN_FORM.items()}
"""So that ``purchases`` is what ``purchase`` is."""


def stem(word: str) -> str:
    """The search term of ``word``, which has lower-case letters and digits."""
    word = MAIN_FORM.get(word, word)[:WHOLE_MAX_CHARS]
    if not word.isascii() or word.isdigit():
        return word
    stemmed = _here.stem(word)
    main = _MAIN_OF_STEM.get(stemmed)
    return _here.stem(main) if main else stemmed


def word_terms(word: str) -> list[str]:
    """The search terms of a word and of its parts. The whole word comes first."""
    word = word.replace("’", "'")
    if word.isalpha() and not _is_camel(word):
        return [stem(word.lower())]
    low = word.lower()
    low = low[:-2] if low.endswith("'s") else low
    if (bare := low.replace("'", "")).isalpha() and not _is_camel(word):
        return [stem(bare)]
    if _is_thousands(low):
        return [low.replace(",", "")[:WHOLE_MAX_CHARS]]
    if _has_sign(low):
        return _of_many(word, low)
    return _of_one(word, low) if low.isascii() else [low[:WHOLE_MAX_CHARS]]


def _of_one(word: str, low: str) -> list[str]:
    """Letters and digits, such as ``iPhone15``, ``3rd``, ``userId``."""
    if low.isdigit():
        return [low.lstrip("0")[:WHOLE_MAX_CHARS] or "0"]
    if _is_ordinal(low):
        return [low[:-2].lstrip("0")[:WHOLE_MAX_CHARS] or "0"]
    parts = _CAMEL.split(word) if _is_camel(word) else [low]
    parts = [stem(piece.lower()) for part in parts for piece in _MIXED.split(part)]
    return list(dict.fromkeys((stem(low), *parts)))[: 2 * PARTS_MAX]


def _of_many(word: str, low: str) -> list[str]:
    terms = dict.fromkeys([_encoded(low)] if len(low) <= WHOLE_MAX_CHARS else [])
    if version := _version(low):
        terms |= dict.fromkeys(_of_version(version[1]))
    names = [name.strip("._-+~") or name for name in _STRONG.split(word) if name]
    for name in names[:PARTS_MAX]:
        pieces = [piece for piece in _WEAK.split(name) if piece]
        if len(pieces) != 1 or name != pieces[0]:
            terms[_encoded(name.lower())] = None
        if 1 < len(pieces) <= 3 and "-" in name and name.replace("-", "").isalpha():
            # "e-mail" and "email", "well-known" and "wellknown".
            terms[stem("".join(pieces).lower())] = None
        for piece in pieces[:PARTS_MAX]:
            terms |= dict.fromkeys(word_terms(piece))
    return list(terms)[: 2 * PARTS_MAX]


def _of_version(numbers: str) -> list[str]:
    """``2.3.1`` by ``2.3.1``, and by ``2.3``."""
    parts = numbers.split(".")
    return [_encoded(".".join(parts[:upto])) for upto in range(len(parts), 1, -1)]


def _is_camel(word: str) -> bool:
    """Whether it is put together of words; not ``iPhone``, ``McDonald`` or ``JavaScript``."""
    if not 5 <= len(word) <= WHOLE_MAX_CHARS or word.islower() or word.isupper() or word.istitle():
        return False
    parts = _CAMEL.split(word)
    return (len(parts) > 2 or (len(parts) == 2 and word[0].islower())) and min(map(len, parts)) > 1


def _encoded(low: str) -> str:
    return low[:WHOLE_MAX_CHARS].translate(_SIGNS)
