"""Irregular forms of words, and synonyms.

Only such as mean the same nearly always; what is merely near is for vectors to find.
"""

_SYNONYMS = """
buy purchase purchased; big large huge; sick ill; doctor physician; begin start started starting; sofa couch;
dinner supper; trash rubbish garbage; lawyer attorney; colleague coworker coworkers; baby infant; trip journey;
taxi cab; afraid scared frightened; happy glad; soccer football; cookie biscuit; pants trousers; luggage baggage;
store shop shops; fall autumn; telephone cellphone smartphone; pharmacist chemist; small tiny; allergy allergic;
birth born; marry marriage wedding married wed; die dead died dies dying death; tall height; weigh weight;
grow growth; choose choice; decide decision; advise advice; believe belief; lose loss; sell sale sales;
fly flight flights; gift present presents
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

_CHINESE = """
妈妈 母亲 老妈 妈咪; 爸爸 父亲 老爸 爸; 爷爷 祖父; 奶奶 祖母; 外公 姥爷 外祖父; 外婆 姥姥 外祖母;
妻子 老婆 太太 媳妇; 丈夫 老公; 孩子 小孩 儿童 小朋友; 医生 大夫; 老师 教师; 手机 电话; 电脑 计算机;
自行车 单车 脚踏车; 汽车 轿车; 出租车 的士 计程车; 公交车 公交 巴士; 餐厅 餐馆 饭店 饭馆; 电影 影片; 照片 相片;
房子 住宅; 家里 家中; 工作 职业; 名字 姓名; 喜欢 喜爱; 讨厌 厌恶; 高兴 开心 快乐; 难过 伤心; 害怕 恐惧; 生气 愤怒;
漂亮 美丽 好看; 周 星期 礼拜; 早上 早晨 清晨; 晚上 夜里 夜晚; 中午 正午; 周末 双休日; 价格 价钱; 地址 住址;
生日 寿辰; 结婚 成婚; 去世 过世 逝世; 生病 患病; 医院 诊所; 超市 超级市场; 衣服 衣裳; 西红柿 番茄; 土豆 马铃薯;
酸奶 优格; 朋友 好友; 同事 同僚; 狗狗 小狗; 猫咪 小猫; 旅游 旅行; 购买 买; 打算 计划; 帮忙 帮助; 开始 起初;
学习 念书; 睡觉 入睡; 洗澡 沐浴; 吵架 争吵; 软件 软体; 网络 网路; 地铁 捷运; 信息 资讯; 打印 列印;
质量 品质; 幼儿园 幼稚园; 摩托车 机车; 酒店 旅馆
"""
SAID_OTHERWISE = {
    word: tuple(other for other in words if other != word)
    for words in (same.split() for same in _CHINESE.replace("\n", " ").split(";"))
    for word in words
}
"""From a Chinese word to others for the same. A text is indexed as it stands; they are asked for as well."""
