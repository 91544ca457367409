"""Words that say nothing about what is looked for. They are left out of what is asked, never of what is indexed."""

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

_CHINESE_KEPT = """
目的 目的地 的士 了解 会议 开会 社会 机会 约会 聚会 晚会 宴会 音乐会 演唱会 能力 功能 可爱 可乐 可口 有趣 有名 没收
存在 在线 对象 对方 反对 绝对 到达 迟到 过敏 过年 过节 过期 难过 超过 经过 通过率 为人 行为 成为 用户 费用 使用
作用 信用 用品 同事 同学 同意 合同 不同 共同 自行车 自由 自然 自动 未来 将来 去年 过去 中国 中午 中文 中学 中心 初中
高中 上海 上班 上课 上学 早上 晚上 下午 下班 下周 上周 下个月 上个月 下雨 下雪 地方 地址 地铁 地图 地点 地区 地球
土地 当地 场地 得到 心得 取得 等级 高等 等待 那不勒斯 要求 需要 重要 主要 想法 理想 梦想 和平 和谐 温和 和服 跟踪
并购 对比 比赛 比例 向导 方向 往事 往返 给予 让步 叫声 使馆 大使 天使 当时 小时 时区 及时 准时 按摩 按钮 除夕 除草
说明 小说 传说 来电 来自 去世 真实 真正 写真 太太 太阳 太极 最初 更新 变更 都市 首都 成都 还款 归还 就业 成就 再婚
里程 公里 家里 心里 别墅 区别 性别 特别行政区 个人 个性 个子 每周 每年 各地 另类 大家庭 请假 请客 申请 邀请 吉他
他乡 沉没 不安 该死 几何 茶几 什锦 聊天 谈判 恋爱 谈恋爱 面谈 访谈 座谈 问题 学问 访问 问候 讲座 讲师 演讲 讲究 想念
思想
"""
CHINESE_KEPT = frozenset(_CHINESE_KEPT.split())
"""Words that hold signs which are stop words elsewhere."""

_JAPANESE = """
です ます でした ました ません した して する いる ある ない この その あの どの これ それ あれ どれ ここ そこ どこ
だれ いつ なに なぜ どう どうして どんな いくつ いくら という から まで より など さん ちゃん ください 何 誰 は が
を に で と も の か ね よ へ や
"""
JAPANESE = frozenset(_JAPANESE.split())
