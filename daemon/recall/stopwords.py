"""Words without meaning for a search. They are removed from queries, but never from the index."""

from itertools import product

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
