"""What is told once in English; every sentence was written for this."""

from benchmarks.recall_telling import Fact, Way

ENGLISH_FACTS = (
    Fact(
        ways=(
            Way(
                says="I can't eat {a}, my throat swells up within minutes.",
                asked="What makes my throat swell up?",
                turned="Which food must you leave out when you suggest something to eat?",
            ),
            Way(
                says="The doctor says I'm allergic to {a}.",
                asked="What am I allergic to?",
                turned="Which allergies did the doctor tell me about?",
            ),
        ),
        noted="must not eat {a}, an allergy",
        near=(
            "{who} eats {b} all day long and never gets ill.",
            "My throat is sore, the doctor says it's the dry air.",
        ),
        answers=("walnuts", "shellfish", "sesame", "kiwi", "celery", "lupin flour", "mustard"),
    ),
    Fact(
        ways=(
            Way(
                says="My sister has moved to {a} with her two kids.",
                asked="Which city did my sister move to?",
                turned="Where do my nephew and my niece live with their mother, my sister?",
            ),
            Way(
                says="My sister lives in {a} now, right behind the station.",
                asked="Where does my sister live now?",
                turned="In which town would I visit my sister?",
            ),
        ),
        noted="has a sister in {a}",
        near=("{who} has moved to {b}, the kids hate it.", "My sister called about the kids again, two hours!"),
        answers=("Ghent", "Aarhus", "Porto", "Graz", "Leeds", "Turku", "Brno"),
    ),
    Fact(
        ways=(
            Way(
                says="I started as a {a} with the harbour authority this spring.",
                asked="What did I start as with the harbour authority?",
                turned="What is my job at the harbour?",
            ),
            Way(
                says="My contract as a {a} was extended for two more years.",
                asked="What is my contract that was extended?",
                turned="As what am I employed until the contract runs out?",
            ),
        ),
        noted="works as a {a}",
        near=("{who} works as a {b} and never stops complaining.", "The harbour was closed, some authority was there."),
        answers=("crane operator", "dispatcher", "customs clerk", "surveyor", "welder", "marine biologist"),
    ),
    Fact(
        ways=(
            Way(
                says="We called the puppy {a}, the children voted on it.",
                asked="What did we call the puppy?",
                turned="What's our dog called, the one the children named?",
            ),
            Way(
                says="The dog we adopted from the shelter answers to {a}.",
                asked="What does the dog from the shelter answer to?",
                turned="What name has the pet we were adopting?",
            ),
        ),
        noted="has a dog named {a}",
        near=("{who} has a dog as well, a huge one, {b} or so it is called.", "The children want to vote on dinner."),
        answers=("Biscuit", "Nimbus", "Pretzel", "Waffle", "Marzipan", "Gizmo", "Truffle"),
    ),
    Fact(
        ways=(
            Way(
                says="For my mother's seventieth birthday I ordered {a}.",
                asked="What did I order for my mother's seventieth birthday?",
                turned="Which present does mum get when her birthday comes?",
            ),
            Way(
                says="We're giving my mother {a} when she turns seventy.",
                asked="What are we giving my mother?",
                turned="What was our idea for a gift to mother?",
            ),
        ),
        noted="gives the mother {a} for her birthday",
        near=("{who} gave me {b}, what am I to do with it?", "My mother forgot my birthday, imagine that."),
        answers=("a weaving loom", "a balloon flight", "a fountain pen", "a telescope", "a rocking chair"),
    ),
    Fact(
        ways=(
            Way(
                says="The code of the bicycle cellar is {a}.",
                asked="What is the code of the bicycle cellar?",
                turned="How do I unlock the cellar with the bikes?",
            ),
            Way(
                says="To get into the bicycle cellar you have to type {a}.",
                asked="What do I have to type to get into the bicycle cellar?",
                turned="What's the number for the door down to the bicycles?",
            ),
        ),
        noted="has the bicycle cellar's code {a}",
        near=("The code of the copier at work is {b}, of all things.", "There is water in the cellar again."),
        answers=("4471", "9036", "2258", "7719", "6380", "5142"),
    ),
    Fact(
        ways=(
            Way(
                says="I'm halfway through {a} and can't put it down.",
                asked="What am I halfway through and can't put down?",
                turned="Which novel has me hooked so that I read half of it?",
            ),
            Way(
                says="The book that made me cry on the train was {a}.",
                asked="Which book made me cry on the train?",
                turned="What was I reading when I had tears in my eyes on the train?",
            ),
        ),
        noted="reads {a}",
        near=("{who} wants to give me {b}, but I have no time for a book.", "I cried with laughter on the train."),
        answers=("The Salt Ledger", "Winter Orchard", "A Map of Small Hours", "The Beekeeper's Proof", "Lowland"),
    ),
    Fact(
        ways=(
            Way(
                says="We had our anniversary dinner at {a}, the duck was superb.",
                asked="Where did we have our anniversary dinner?",
                turned="Which restaurant serves that wonderful duck?",
            ),
            Way(
                says="At {a} they put us at the window table for our anniversary.",
                asked="Where did they put us at the window table?",
                turned="In which restaurant did we celebrate being married so long?",
            ),
        ),
        noted="had the anniversary dinner at {a}",
        near=("{who} says the dinner at {b} was cold.", "There was a duck on our window sill this morning."),
        answers=("Casa Ruivo", "The Tin Lantern", "Zum Hecht", "Okra House", "Little Samarkand"),
    ),
    Fact(
        ways=(
            Way(
                says="Since January I've been taking {a} lessons from an old neighbour.",
                asked="Which lessons have I been taking since January?",
                turned="Which instrument does the neighbour teach me?",
            ),
            Way(
                says="I practise the {a} an hour a day, to the sorrow of the neighbours.",
                asked="What do I practise an hour a day?",
                turned="Which music do the neighbours suffer from because of me?",
            ),
        ),
        noted="learns the {a}",
        near=("{who} plays the {b} in a band.", "The neighbour has been drilling since eight, an hour a day!"),
        answers=("cello", "accordion", "oboe", "banjo", "clarinet", "harp"),
    ),
    Fact(
        ways=(
            Way(
                says="The garage replaced the {a} of our old van, it cost a fortune.",
                asked="What did the garage replace on our old van?",
                turned="Which repair of the van was so expensive?",
            ),
            Way(
                says="It was the {a} that broke when we drove the van over the pass.",
                asked="What broke when we drove the van over the pass?",
                turned="Why did the car let us down in the mountains, which part was breaking?",
            ),
        ),
        noted="had trouble with the van's {a}",
        near=("{who} had the {b} of the motorbike stolen.", "Our van is so old that it knows the way by itself."),
        answers=("gearbox", "alternator", "clutch", "fuel pump", "radiator", "exhaust"),
    ),
    Fact(
        ways=(
            Way(
                says="Ever since I was a child I've been terrified of {a}.",
                asked="What have I been terrified of since I was a child?",
                turned="What am I afraid of since childhood?",
            ),
            Way(
                says="I can't enter a room with {a} in it, my knees go weak.",
                asked="What makes my knees go weak when I enter a room?",
                turned="What scares me so that I will not go into a room?",
            ),
        ),
        noted="is afraid of {a}",
        near=("{who}'s child is terrified of {b}.", "My knee hurts since I ran too far."),
        answers=("moths", "clowns", "thunder", "lifts", "geese", "balloons"),
    ),
    Fact(
        ways=(
            Way(
                says="In autumn we're going to cycle along the {a} with a tent.",
                asked="Where are we going to cycle in autumn?",
                turned="Which river did we plan for the cycling holiday?",
            ),
            Way(
                says="Our next holiday takes us down the {a} by bike.",
                asked="Where does our next holiday take us by bike?",
                turned="Where are we travelling on our bikes next?",
            ),
        ),
        noted="plans a bicycle holiday along the {a}",
        near=("{who} wants to see the {b}, at last.", "The tent from last autumn smells of mould."),
        answers=("Loire", "Drava", "Vistula", "Moselle", "Tagus", "Inn"),
    ),
    Fact(
        ways=(
            Way(
                says="The new tablets for my blood pressure are called {a}.",
                asked="What are the tablets for my blood pressure called?",
                turned="Which medicine do I take so that the pressure goes down?",
            ),
            Way(
                says="I take {a} in the mornings, half an hour before breakfast.",
                asked="What do I take half an hour before breakfast?",
                turned="Which pill do I swallow in the morning?",
            ),
        ),
        noted="takes {a} against high blood pressure",
        near=("{who} swears by {b}, my doctor laughed.", "I'm under such pressure that I skip breakfast."),
        answers=("Cardolin", "Vasoprene", "Tensilar", "Amlovex", "Presoril"),
    ),
    Fact(
        ways=(
            Way(
                says="I planted {a} along the south wall of the garden.",
                asked="What did I plant along the south wall?",
                turned="What grows in my garden on the sunny side, at the wall?",
            ),
            Way(
                says="Snails have eaten all the {a} I sowed in April.",
                asked="What have the snails eaten that I sowed?",
                turned="Which of my vegetables did the snail problem destroy?",
            ),
        ),
        noted="planted {a} in the garden",
        near=("{who} brought us {b} from the allotment.", "The wall in the garden is leaning to the south."),
        answers=("artichokes", "hollyhocks", "fennel", "runner beans", "lavender", "chard"),
    ),
    Fact(
        ways=(
            Way(
                says="My thesis is about {a}, my supervisor finds that too broad.",
                asked="What is my thesis about?",
                turned="Which subject am I researching that my supervisor doesn't like?",
            ),
            Way(
                says="I've handed in two chapters on {a}, the rest is due in July.",
                asked="What are the two chapters about that I handed in?",
                turned="What am I writing on at university, with the next chapter in July?",
            ),
        ),
        noted="writes a thesis about {a}",
        near=("{who} gave a talk on {b} yesterday.", "My supervisor has two deadlines in July and is unbearable."),
        answers=("river dams", "medieval guilds", "sleep disorders", "bird migration", "tax havens"),
    ),
    Fact(
        ways=(
            Way(
                says="After lunch I only drink {a}, anything else keeps me awake.",
                asked="What do I only drink after lunch?",
                turned="Which beverage lets me sleep when I have it in the afternoon?",
            ),
            Way(
                says="My favourite drink in the evening is {a} with a slice of lemon.",
                asked="What is my favourite drink in the evening?",
                turned="What would I like to drink tonight?",
            ),
        ),
        noted="likes to drink {a}",
        near=("{who} spilled {b} over my keyboard at lunch.", "I was awake all night and drank far too much."),
        answers=("rooibos", "barley coffee", "ginger ale", "lime blossom tea", "oat milk"),
    ),
    Fact(
        ways=(
            Way(
                says="Our landlord, Mr {a}, wants eight percent more rent.",
                asked="What is our landlord called who wants more rent?",
                turned="Who owns the flat and is raising the rent?",
            ),
            Way(
                says="The letter from the landlord is signed by a certain {a}.",
                asked="Who signed the letter from the landlord?",
                turned="Whom should I answer about the landlord's letter?",
            ),
        ),
        noted="rents from {a}",
        near=("{who} knows a lawyer, {b}, who does nothing but rent.", "Eight percent of the letters are for others."),
        answers=("Hollenstein", "Abernathy", "Vukovic", "Delacourt", "Pemberton"),
    ),
    Fact(
        ways=(
            Way(
                says="I've supported {a} since my grandfather took me to the stadium.",
                asked="Whom have I supported since my grandfather took me to the stadium?",
                turned="Which football club is mine, because of my grandfather?",
            ),
            Way(
                says="I have a season ticket for {a}, north stand, row nine.",
                asked="What do I have a season ticket for?",
                turned="Which team do I watch all through the season?",
            ),
        ),
        noted="supports {a}",
        near=("{who} is a fan of {b}, poor soul.", "My grandfather never bought a ticket in his life."),
        answers=("Harwick Rovers", "Union Delft", "Sparta Mole", "Atletico Pino", "Kirkholm"),
    ),
    Fact(
        ways=(
            Way(
                says="I left my {a} on the night train to Vienna.",
                asked="What did I leave on the night train to Vienna?",
                turned="Which thing did I lose on the way to Vienna?",
            ),
            Way(
                says="The lost property office has found my {a}!",
                asked="What has the lost property office found?",
                turned="What had I been losing that turned up at an office?",
            ),
        ),
        noted="had lost the {a}",
        near=("{who} found somebody's {b} in the office.", "The night train was late, I slept in the waiting room."),
        answers=("camera", "umbrella", "violin case", "reading glasses", "passport", "headphones"),
    ),
    Fact(
        ways=(
            Way(
                says="I failed the exam in {a} and have to repeat it.",
                asked="Which exam did I fail?",
                turned="Which examination must I sit once more?",
            ),
            Way(
                says="I need a tutor for {a} before the exam in September.",
                asked="What do I need a tutor for before the exam?",
                turned="With which subject should a tutor be helping me?",
            ),
        ),
        noted="has to repeat the exam in {a}",
        near=("{who} passed the exam in {b} with top marks.", "We need to repeat the order in September."),
        answers=("statistics", "anatomy", "contract law", "thermodynamics", "accounting"),
    ),
    Fact(
        ways=(
            Way(
                says="I'm teaching myself {a} with an app on the bus.",
                asked="What am I teaching myself on the bus?",
                turned="Which language do I learn with the app?",
            ),
            Way(
                says="My partner's parents only speak {a}, so I'm learning it.",
                asked="What do my partner's parents speak?",
                turned="In which language should I write to my parents-in-law?",
            ),
        ),
        noted="learns {a}",
        near=("{who} speaks {b} fluently, I'm so jealous.", "The app of the bus company has crashed again."),
        answers=("Basque", "Welsh", "Georgian", "Tagalog", "Estonian", "Swahili"),
    ),
)
