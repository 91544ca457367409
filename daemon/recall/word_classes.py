"""Classes of words with related meanings: a violin is an instrument. Pure.

A question often contains the name of a class, and the answer a word of this class ("Which instrument …?", "… violin").
The index therefore contains the classes of a text's words beside the text, and a search also looks for the classes of
the query's words.
"""

from collections.abc import Iterable
from itertools import pairwise

from daemon.recall.word_forms import stem

_CLASSES = """
instrument violin guitar piano cello flute drum clarinet trumpet saxophone ukulele harp banjo trombone accordion
harmonica viola oboe keyboardist violinist guitarist pianist drummer 乐器 小提琴 吉他 钢琴 大提琴 长笛 打鼓 架子鼓
鼓手 小号 二胡 古筝 琵琶 口琴 萨克斯 笛子 尤克里里 弹琴 练琴;
music song sing singer band concert album melody choir orchestra jazz musician musical opera symphony rapper lyric
karaoke gig playlist composer hiphop 音乐 歌曲 唱歌 歌手 乐队 演唱 合唱 专辑 歌词 交响 民谣 听歌 作曲 唱片 爵士 摇滚
旋律;
animal pet cat dog hamster rabbit parrot turtle tortoise goldfish bird snake lizard zoo horse cow sheep goat pig duck
chicken guineapig ferret gecko squirrel fox bear tiger lion elephant monkey penguin panda dolphin whale wildlife paw
vet kennel leash 动物 宠物 猫 狗 兔子 仓鼠 鹦鹉 乌龟 金鱼 熊猫 老虎 大象 猴子 企鹅 长颈鹿 狮子 小鸟 狐狸 海豚 鲸鱼
松鼠 刺猬 马匹 骑马 绵羊 小猪 小鸭 兽医 金毛 泰迪 柯基;
fruit apple banana orange pear grape strawberry mango peach cherry melon watermelon lemon lime pineapple blueberry
raspberry kiwi plum apricot papaya fig 水果 苹果 香蕉 橙子 橘子 葡萄 草莓 芒果 桃子 樱桃 西瓜 柠檬 菠萝 荔枝 榴莲 梨子
猕猴桃 蓝莓 柚子;
vegetable carrot potato tomato onion cabbage spinach broccoli lettuce cucumber pepper bean pea corn pumpkin eggplant
mushroom garlic kale celery salad vegan vegetarian veggie 蔬菜 青菜 胡萝卜 土豆 西红柿 番茄 洋葱 白菜 菠菜 西兰花 黄瓜
辣椒 豆腐 玉米 南瓜 茄子 蘑菇 素食 吃素;
food dish meal breakfast lunch dinner brunch restaurant cuisine soup pizza pasta rice noodle salad steak sushi
sandwich burger eat snack taco curry dumpling barbecue bbq buffet menu delicious tasty appetite hungry spaghetti ramen
seafood shrimp fish chicken beef pork meat egg cheese bread 食物 美食 早餐 午餐 晚餐 早饭 午饭 晚饭 餐厅 饭店 饭馆
面条 拉面 米饭 饺子 包子 火锅 汉堡 披萨 寿司 烧烤 零食 好吃 吃饭 海鲜 牛肉 猪肉 鸡肉 鱼肉 鸡蛋 外卖 小吃 聚餐 饿了;
dessert cake cookie chocolate pie candy pastry brownie muffin cupcake icecream pudding sugar cheesecake donut pancake
waffle 甜点 甜品 甜食 蛋糕 饼干 巧克力 糖果 冰淇淋 布丁 面包 蛋挞 奶油 蜂蜜;
drink beverage tea coffee juice milk wine beer water soda cocktail smoothie latte espresso cappuccino whiskey vodka
lemonade cola cafe 饮料 喝茶 绿茶 红茶 咖啡 果汁 牛奶 啤酒 白酒 红酒 喝酒 可乐 奶茶 豆浆 喝水 酒吧;
cook bake recipe oven kitchen chef grill roast fry boil ingredient dough spice sauce homemade bakery baker 做饭 做菜
烹饪 烘焙 厨房 厨艺 下厨 菜谱 厨师 食谱 烤箱 炒菜 面团 调料 面包店 拿手菜;
sport soccer basketball tennis volleyball baseball hockey golf badminton swim run ski skate cycling athlete athletic
boxing rugby karate judo marathon surf snowboard skateboard gymnastics wrestling cricket archery fencing rowing
softball pingpong coach stadium 运动 体育 足球 篮球 网球 排球 棒球 乒乓 羽毛球 游泳 跑步 滑雪 滑冰 长跑 马拉松 跳绳
拳击 打球 踢球 球队 球赛 跆拳道 武术 太极 滑板 骑行 击剑 体操 教练 高尔夫;
competition contest tournament race championship medal prize award trophy champion compete winner win finalist podium
runnerup 比赛 竞赛 大赛 获奖 得奖 冠军 亚军 名次 第一名 第二名 第三名 奖状 奖杯 奖牌 优胜 参赛 选手 决赛 获胜 赢了
输了;
exercise workout gym fitness yoga jog run train pilates aerobics treadmill weightlifting muscle cardio trainer 锻炼
健身 瑜伽 晨跑 夜跑 慢跑 训练 体能 肌肉 散步 快走;
outdoor hike camp picnic trail forest mountain tent nature campfire kayak canoe park lake river waterfall backpack
fishing hunt climb summit valley wilderness 户外 远足 露营 野餐 爬山 登山 公园 森林 徒步 春游 郊游 秋游 帐篷 草地 草坪
夏令营 钓鱼 湖边 河边 大自然 攀岩;
beach sea ocean island coast swim surf snorkel dive shore sail boat lifeguard seaside yacht cruise 海边 海滩 沙滩 大海
海洋 海岛 冲浪 潜水 游泳 帆船 海浪 贝壳 泳池;
travel trip vacation flight hotel tourist tourism abroad roadtrip cruise passport luggage suitcase airport sightseeing
destination hostel resort itinerary overseas backpacking museum landmark 旅游 旅行 度假 出国 酒店 机票 景点 行李 出差
游玩 民宿 机场 护照 签证 飞机 自驾 古镇 名胜 旅途 博物馆;
art paint draw sketch pottery sculpture canvas watercolor artist gallery clay exhibition drawing mural portrait
ceramic artwork illustration brush easel palette doodle design 艺术 美术 画画 绘画 素描 油画 水彩 国画 陶艺 雕塑 画展
书法 涂鸦 插画 作品 画家 展览 颜料 设计;
craft handmade knit sew crochet embroidery woodwork quilt origami carpentry weave pottery diy scrapbook bead yarn 手工
编织 刺绣 折纸 剪纸 木工 制作 毛线 缝纫 陶艺 手作 模型;
book novel read library author poem literature story bookstore poetry magazine chapter writer write memoir biography
fiction bookshelf reader comic manga bestseller 书籍 小说 读书 看书 阅读 图书馆 图书 作家 诗歌 诗词 故事 漫画 杂志
绘本 书店 文学 名著 散文 科幻;
film movie cinema cartoon series television documentary actor actress director netflix episode show sitcom anime
thriller comedy screenwriter screenplay hollywood trailer binge 电影 动画 电视 电视剧 动画片 纪录片 演员 导演 影院
剧集 综艺 追剧 动漫 影片 明星;
theater stage drama musical performance ballet opera perform audience rehearsal rehearse actor comedian standup circus
magic magician 话剧 剧院 舞台 表演 演出 歌剧 演员 京剧 相声 戏剧 排练 观众 杂技 魔术;
dance dancer ballet salsa tango hiphop choreography waltz ballroom 跳舞 舞蹈 芭蕾 街舞 广场舞 舞者 舞团 民族舞;
game videogame console chess puzzle boardgame playstation nintendo xbox gaming gamer tetris arcade dice lego
hideandseek playground 游戏 象棋 围棋 下棋 拼图 捉迷藏 桌游 积木 电竞 打牌 麻将 秋千 滑梯 游乐园 过山车 玩耍 手游
扑克;
toy doll lego puppet teddy kite stuffed balloon robot puzzle 玩具 积木 玩偶 毛绒 风筝 娃娃 木偶 气球 布偶 机器人 模型;
school class teacher exam homework student classroom lesson grade semester math test classmate curriculum tutor
assignment pupil principal kindergarten textbook highschool teach education essay quiz 学校 老师 考试 作业 同学 上课
课堂 期末 成绩 复习 数学 教室 班级 课程 学习 测试 同桌 班主任 校园 小学 中学 高中 语文 测验 补课 期中;
university college degree graduate major diploma phd bachelor master study campus thesis scholarship professor
undergraduate doctorate education academic dissertation alumni faculty 大学 学历 毕业 硕士 博士 专业 学位 本科 研究生
文凭 论文 教授 考研 奖学金 导师 留学;
job work career salary occupation profession employer employee interview hire promotion resume internship intern
unemployed retire 工作 职业 公司 工资 面试 升职 岗位 就业 辞职 跳槽 实习 退休 失业 简历;
office boss colleague coworker deadline workplace manager overtime 上班 老板 同事 领导 加班 下班 职场 办公室 上司;
meeting conference presentation agenda seminar lecture 开会 会议 讲座 研讨 演讲 汇报;
occupation teacher nurse doctor baker engineer lawyer farmer programmer chef accountant banker carpenter dentist
journalist plumber waiter pilot mechanic architect electrician firefighter policeman soldier scientist designer
hairdresser barber librarian photographer psychologist counselor therapist veterinarian cashier tailor 职业 教师 护士
医生 工程师 律师 农民 程序员 厨师 会计 司机 记者 店员 木匠 牙医 设计师 警察 消防员 军人 科学家 建筑师 理发师 飞行员
教练 作家 演员 歌手;
business company startup entrepreneur store customer investor brand venture client founder franchise marketing
advertise profit revenue retail boutique 生意 创业 公司 开店 店铺 投资 品牌 市场 客户 顾客 营销 利润 老板 推广 网店
销售;
illness ill disease flu fever cough diabetes headache cancer asthma doctor hospital clinic medicine symptom surgery
pain infection migraine stomachache arthritis pneumonia diagnose prescription pill vaccine nurse nausea dizzy 生病
患病 疾病 发烧 感冒 咳嗽 医院 医生 头疼 头痛 糖尿病 哮喘 手术 吃药 治疗 癌症 肚子疼 胃疼 高血压 住院 看病 诊断 症状
打针 疫苗 头晕 牙疼 不舒服;
allergy rash itch swell nut peanut pollen hives antihistamine sneeze throat lactose gluten shellfish intolerant 过敏
花粉 花生 皮疹 发痒 坚果 打喷嚏 红肿 乳糖 麸质;
injury hurt accident wound bruise sprain ankle crash bleed fracture knee bandage scar concussion limp crutch 受伤 摔倒
车祸 扭伤 骨折 事故 流血 伤口 摔伤 烫伤 撞到 磕破;
parent mother father family stepmother stepfather 父母 妈妈 爸爸 母亲 父亲 家人 爸妈 家长;
sibling brother sister twin family 哥哥 姐姐 弟弟 妹妹 兄弟 姐妹 家人 双胞胎;
grandparent grandmother grandfather family 爷爷 奶奶 外公 外婆 家人 姥姥 姥爷 祖父 祖母;
relative uncle aunt cousin nephew niece family inlaw 亲戚 叔叔 阿姨 舅舅 姑姑 表哥 表妹 表弟 表姐 堂弟 堂哥 堂妹 伯伯
侄子 外甥 姨妈 家人;
child baby toddler newborn pregnant kindergarten birth pregnancy adopt adoption infant diaper daycare nursery
parenting stroller teenager 孩子 婴儿 宝宝 怀孕 幼儿园 出生 领养 收养 小孩 儿童 育儿 生娃 孕妇 小朋友 son daughter kid
儿子 女儿;
friend buddy pal friendship roommate neighbor classmate mate bff companion acquaintance 朋友 好友 伙伴 友谊 室友 邻居
同学 闺蜜 哥们 友情 同伴;
spouse marriage husband wife fiance fiancee divorce bride groom partner girlfriend boyfriend relationship breakup
married widow proposal honeymoon dating romantic valentine 结婚 丈夫 妻子 婚礼 离婚 老公 老婆 女朋友 男朋友 单身 恋爱
分手 对象 订婚 相亲 求婚 未婚 已婚 蜜月 女友 男友 婚姻;
religion church god pray prayer bible mosque temple buddhist christian muslim faith priest jewish catholic religious
spiritual worship hindu islam synagogue sermon baptize pastor monk 宗教 教堂 信教 佛教 祈祷 寺庙 信仰 基督 圣经 教徒
拜佛 烧香 和尚 清真;
vehicle car bus tram train subway bicycle commute drive driver metro motorcycle taxi truck ride scooter van railway
license highway traffic parking garage suv convertible 交通 汽车 公交 地铁 自行车 开车 火车 高铁 摩托 出租车 通勤 骑车
坐车 打车 驾照 电动车 卡车 堵车 停车 单车 买车;
clothing shirt dress shoe jacket coat hat sweater jeans skirt boot scarf wear fashion outfit sock sneaker pants hoodie
glove uniform blouse wardrobe costume sandal 衣服 裙子 鞋子 外套 帽子 毛衣 裤子 围巾 衬衫 穿着 时尚 球鞋 袜子 校服
西装 皮鞋 手套 短袖 牛仔裤 羽绒服 打扮;
color red blue green yellow purple pink black white brown orange gray violet turquoise beige navy colorful teal 颜色
红色 蓝色 绿色 黄色 紫色 粉色 黑色 白色 棕色 金色 银色 彩色 橙色 灰色 五彩 色彩 粉红;
home house apartment room furniture kitchen bedroom rent landlord couch bathroom garage mortgage tenant roommate
neighborhood condo studio basement attic balcony renovate lease carpet 房子 公寓 搬家 房间 家具 卧室 租房 房东 沙发
房租 装修 买房 小区 阳台 客厅 合租 厨房 新家 住处;
weather rain snow storm sunny wind cloud typhoon hurricane temperature forecast thunder heatwave flood humid drought
天气 下雨 下雪 台风 晴天 暴雨 气温 刮风 雨天 阴天 打雷 大雪 降温 雾霾;
plant flower garden tree rose tulip seed grow sunflower herb leaf orchid cactus bouquet blossom lily daisy lawn soil
gardener bloom succulent 植物 种花 花园 花草 菊花 园艺 玫瑰 种菜 盆栽 采花 种树 大树 开花 鲜花 花朵 向日葵 绿植 多肉
树叶 兰花 牡丹 浇水 赏花;
holiday christmas halloween easter thanksgiving newyear valentine hanukkah diwali santa festive ramadan 节日 圣诞 春节
元旦 中秋 国庆 端午 万圣节 过年 元宵 新年 除夕 清明 情人节 假期 过节;
party birthday celebrate celebration guest festival reunion anniversary invitation cake banquet toast barbecue 派对
聚会 生日 庆祝 晚会 纪念日 宴会 庆典 联欢 请客 庆生;
gift present receive surprise wrap gifted souvenir 礼物 礼品 收到 送给 惊喜 奖励 纪念品 红包;
money price cost budget debt loan bank save afford invest mortgage pay cheap expensive income dollar euro tax
financial finance savings rich salary 价格 预算 贷款 银行 存钱 投资 还债 花钱 便宜 太贵 挣钱 赚钱 工资 收入 理财 股票
零花钱 欠钱 费用 房贷 省钱;
computer laptop software program code app website internet phone tablet device gadget programming developer javascript
python server online download printer macbook ipad algorithm 电脑 软件 编程 代码 手机 网站 网络 程序 平板 设备 开发
算法 键盘 笔记本电脑 上网 数码;
shopping buy mall market return refund purchase grocery discount bargain supermarket store amazon 购物 商场 网购 退货
超市 下单 网上 逛街 退款 打折 快递 买到 产品 商店 换货;
happy joy excited cheerful delight thrilled pleased ecstatic joyful happiness excitement 高兴 开心 快乐 愉快 兴奋 喜悦
幸福 激动 欢乐 愉悦 欣喜;
sad upset disappoint cry depressed unhappy heartbroken grief tear sorrow miserable gloomy depression hopeless 难过
伤心 失望 悲伤 沮丧 失落 哭了 委屈 低落 心情不好 痛苦 抑郁 不开心 流泪;
afraid anxious nervous worry fear stress panic anxiety phobia tense terrify frighten overwhelm dread uneasy pressure
害怕 焦虑 紧张 担心 恐惧 压力 不安 可怕 慌张 担忧 吓到 忧虑 恐怖 胆小;
angry mad annoyed furious rage frustrated irritate resent temper outrage 生气 愤怒 气愤 恼火 讨厌 烦躁 发火 发脾气
不满 火大;
lonely alone isolated homesick ignored abandon loneliness neglect excluded leftout 孤独 孤单 寂寞 忽视 抛弃 遗忘 想家
冷落 没人陪 孤立 没人理;
tired exhausted sleep sleepy nap insomnia fatigue rest bed wake dream pillow nightmare burnout drowsy mattress snore
overwork 疲惫 睡觉 失眠 疲倦 休息 熬夜 好累 很累 累了 困了 做梦 噩梦 睡眠 午睡 早起 疲劳;
relax calm destress meditate meditation yoga selfcare unwind peaceful soothing massage stress spa mindfulness serene
放松 冥想 瑜伽 平静 解压 减压 舒适 惬意 安静 安逸 按摩 泡澡 静下心 缓解;
hobby interest pastime collect passion collection leisure stamp 爱好 兴趣 收藏 消遣 业余 邮票 喜好 迷上 集邮;
conflict argue fight quarrel misunderstanding disagreement argument dispute apologize apology reconcile 吵架 争吵 争执
误会 误解 矛盾 冲突 打架 道歉 和好 和解 翻脸;
tease bully mock laugh criticize insult gossip harass discriminate judgmental 嘲笑 批评 欺负 坏话 取笑 炫耀 指责 讥笑
霸凌 骂人 八卦 责怪 歧视;
praise compliment encourage proud support applaud admire supportive recognition appreciate encouragement 表扬 夸奖
夸我 赞美 称赞 鼓励 支持 认可 喝彩 骄傲 自豪 赞扬 掌声;
help volunteer charity donate shelter community fundraise nonprofit mentor donation homeless assist youth outreach
帮助 帮忙 志愿 慈善 捐款 公益 助人 社区 义工 捐赠 救助 爱心;
failure fail mistake setback error struggle flunk reject rejection 失败 做错 错误 失误 搞砸 落选 倒数 失利 犯错 挫折
没考好 出错;
success succeed achieve accomplish achievement accomplishment milestone improve breakthrough 成功 成就 进步 实现 取得
提高 顺利 突破 达成 优秀;
science experiment astronomy planet physics chemistry space biology scientist lab research star telescope universe
galaxy rocket astronaut nasa dinosaur fossil 科学 实验 太空 星际 物理 化学 天文 太阳系 生物 宇宙 研究 望远镜 星星 火箭
恐龙 化石 航天 地球;
language english spanish french german chinese japanese italian portuguese russian korean arabic fluent translate
bilingual mandarin vocabulary grammar duolingo latin 语言 英语 法语 德语 日语 西班牙语 中文 韩语 俄语 外语 英文 单词
翻译 口语 普通话 粤语;
country france germany italy spain japan china canada australia mexico brazil india england america sweden switzerland
greece ireland thailand portugal abroad uk usa egypt turkey poland netherlands norway vietnam korea russia nationality
immigrant citizen homeland 国家 法国 德国 意大利 西班牙 日本 中国 加拿大 美国 英国 泰国 韩国 国外 澳大利亚 俄罗斯
新加坡 印度 越南 瑞士 国籍 外国 祖国;
city town london paris berlin tokyo beijing shanghai york boston chicago seattle rome barcelona sydney toronto vienna
amsterdam hometown village suburb downtown 城市 北京 上海 广州 深圳 杭州 成都 南京 武汉 西安 重庆 苏州 厦门 香港 台北
三亚 家乡 老家 故乡 县城 农村 籍贯 homeland;
photo camera picture photographer selfie lens portrait snapshot photography album 照片 拍照 相机 摄影 合照 合影 自拍
镜头 相册 拍摄;
politics vote election government conservative liberal protest activist campaign political democrat republican
president senator mayor policy congress justice equality 政治 选举 投票 政府 抗议 权利 总统 议员 政策 平等;
law court judge lawyer police crime criminal thief arrest jail prison illegal lawsuit robbery theft fraud scam 法律
法院 律师 警察 犯罪 小偷 偷走 报警 监狱 违法 合同 诈骗 被骗 罚款;
gender transgender gay lesbian lgbtq queer trans bisexual nonbinary pronoun 性别 同性恋 跨性别 性取向 变性;
death die funeral grief grave mourn widow cemetery memorial 去世 过世 葬礼 死亡 逝世 离世 墓地 死了 悼念;
jewelry necklace bracelet earring pendant diamond gem watch brooch 首饰 项链 戒指 手链 耳环 手表 珠宝 钻石;
team teamwork group club member association society cooperate cooperation collaborate partner 团队 小组 社团 俱乐部
队友 成员 合作 集体 协会 组员 兴趣小组;
health diet healthy vitamin nutrition calorie weight lifestyle wellness obese slim protein 健康 减肥 饮食 体重 营养
养生 瘦了 体检 作息 维生素;
plan goal dream ambition future wish aspiration resolution aim 计划 目标 梦想 未来 打算 理想 愿望 规划 志愿;
memory childhood nostalgia keepsake souvenir nostalgic memorable 回忆 童年 纪念 小时候 难忘 往事 怀念;
lost lose missing misplace disappear 丢失 弄丢 不见了 找不到 丢了 遗失 走失 迷路 走错;
break broken damage repair fix crack shatter spill destroy 打碎 弄坏 坏了 修理 损坏 破了 打破 维修 打倒;
cleaning clean tidy chore laundry wash vacuum housework declutter 打扫 家务 洗碗 洗衣 卫生 整理 收拾 清洁 扫地;
personality shy kind brave honest patient introvert extrovert confident outgoing generous optimistic confidence
courage 性格 害羞 善良 勇敢 诚实 耐心 内向 外向 自信 大方 乐观 开朗 勇气;
appearance hair haircut beard blond curly glasses makeup tattoo handsome 外貌 头发 理发 胡子 个子 身高 眼镜 化妆 纹身
漂亮 长相;
appointment schedule calendar reservation booking reschedule slot 预约 日程 安排 约好 挂号 预订 改期;
address street postcode zip avenue 地址 住址 街道 门牌 住在 搬到;
phone telephone number email contact wechat whatsapp 电话 号码 邮箱 微信 手机号 联系方式 邮件;
age birthday born birthdate 年龄 岁数 几岁 出生 年纪 生日 属相;
height tall centimeter cm inch 身高 个子 厘米 高个;
medicine medication pill ibuprofen antibiotic insulin aspirin dose vitamin supplement inhaler 吃药 药片 抗生素 胰岛素
阿司匹林 药物 用药 服药 中药;
tooth dentist brace cavity filling 牙齿 牙医 拔牙 补牙 牙套 蛀牙;
tool hammer drill screwdriver wrench ladder nail screw 工具 锤子 电钻 螺丝刀 梯子 扳手;
bag backpack purse wallet suitcase handbag 背包 书包 钱包 手提包 行李箱 包包;
news newspaper radio podcast magazine article headline 新闻 报纸 广播 播客 报道;
smoke cigarette tobacco vape smoking cigar 抽烟 吸烟 戒烟 香烟;
appliance fridge dishwasher microwave heater dryer oven toaster 家电 冰箱 洗衣机 空调 微波炉 暖气 烤箱 热水器;
taste flavor spicy sour bitter salty spice 口味 辣的 很辣 太甜 很酸 太咸 味道 吃辣;
subject math physics chemistry history geography biology literature 科目 数学 物理 化学 历史 地理 生物 语文 英语;
farm farmer tractor crop harvest barn orchard 农场 农民 拖拉机 庄稼 丰收 果园 种地;
army military soldier navy war veteran 军队 军人 士兵 当兵 战争 退伍 海军
"""
"""Each class consists of English and then Chinese words; its first word is its name. A word that mostly means something
else, such as ``fine``, is missing. After a change raise ``index_files.SCHEMA``."""

FIRST_CLASS, LAST_CLASS = "\ue200", "\ue3ff"
"""The search terms of classes are characters for private use, with which no term of a text begins."""

CLASSES_MAX = 12
"""Of a query: each of them costs a look at the index."""

_of_term: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
"""By the first search term of a word: its other terms, and the term of the class."""
for _number, _members in enumerate(_CLASSES.split(";")):
    for _word in _members.split():
        _its = (stem(_word),) if _word.isascii() else tuple(map("".join, pairwise(_word))) or (_word,)
        _of_term[_its[0]] = (*_of_term.get(_its[0], ()), (_its[1:], chr(ord(FIRST_CLASS) + _number)))


def is_class(term: str) -> bool:
    """Whether a search term is that of a class."""
    return FIRST_CLASS <= term[:1] <= LAST_CLASS


def classes_of(terms: Iterable[str]) -> dict[str, set[str]]:
    """The search terms of the classes to which words belong, each with the terms of these words.

    Args:
        terms: of a text.
    """
    given, found = dict.fromkeys(terms), dict[str, set[str]]()
    for term in given:
        for others, of_class in _of_term.get(term, ()):
            if all(other in given for other in others):
                found.setdefault(of_class, set()).update((term, *others))
    return found
