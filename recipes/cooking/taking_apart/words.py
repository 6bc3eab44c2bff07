"""The words by which English recipes are taken apart: verbs of kitchens, tools, what sums several ingredients up."""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What one is told to do, in the infinitive.
VERBS = _set("""
    add adjust allow arrange assemble bake barbecue baste batter beat bind blanch blend blitz blot boil braise bread
    break brine bring broil brown brush bundle butter caramelize char check chill chop churn clean close coat
    combine cook cool core cover crack cream crimp crisp crumble crush cube cure cut debone decorate deglaze devein
    dice dilute dip discard dissolve distribute divide drain dredge dress drizzle drop dry dunk dust emulsify enjoy
    fashion ferment fill fillet filter finish flake flatten flavor flip flour fluff foam fold form freeze fry
    garnish glaze grate grease grill grind half halve hang heat hull incorporate infuse insert invert julienne juice
    keep knead knock ladle lay layer leave let lift line liquidize loosen lower macerate marinate mash massage
    measure melt microwave mince mist mix moisten mold mould oil open overlap pack parboil pat peel pepper pickle
    pierce pinch pipe pit place plate plunge poach portion pound pour prebake preheat prepare press prick proof
    prove puree purée push put quarter raise reduce refrigerate reheat remove repeat reserve rest return rice rinse
    ripen roast roll rotate rub salt sauté saute save scald scatter scoop score scramble scrape scrub seal sear
    season seed separate serve set shake shape shave shell shred sieve sift simmer skewer skim skin slather slice
    slide smear smoke smooth smother snip soak soften spice spoon spread sprinkle squeeze stack stamp steam steep
    stew stir stir-fry store strain stretch strip stuff sweat sweeten swirl taste temper tenderize thaw thicken thin
    thread tie tilt tip toast top toss transfer trim truss tuck turn twist unmold unroll warm wash weigh wet whip
    whisk wilt work wrap zest
""")
# Of these, the ones that are things as well: after "and" or a comma they are verbs only before an object, or, where
# they are no food, before a preposition or an adverb.
FOODS_TOO = _set("""
    batter bread brine butter core cream flour foam glaze juice oil pepper rice rub salt sauce seed shell skin spice
    stew zest
""")
THINGS_TOO = FOODS_TOO | _set("""
    crisp cube cut dice dress dust fillet flavor grease grill half heat mash mince mix pinch pit plate puree purée
    quarter rest roast roll sauté slice smoke spread strip thin top warm brown cool dry wet smooth clean open close
    set work char garnish season
""")
# Verbs that move something: the word for where to belongs to them.
MOVES = _set("""
    add arrange drop drizzle fold insert ladle lay layer lift pack place plunge pour press push put return roll
    scatter scoop scrape shape slide spoon spread sprinkle squeeze stir sift tip toss transfer tuck turn rub work
    beat blend mix whisk cut divide remove
""")
PARTICLES = _set("aside away back down in into off on onto out over through together up")
WHERE_TO = _set("into onto from over through")
# May stand before the verb of a sentence.
ADVERBS = _set("""
    also again afterwards carefully continuously constantly finally first firmly generously gently gradually
    immediately just lastly lightly meanwhile next now occasionally once please quickly secondly simply slowly
    slightly then thoroughly thinly finely roughly evenly well always to start begin by you can will should may need
    want must simultaneously vigorously
""")
DETERMINERS = _set(
    "a an the this these those each every all both half your some any it them one two three four five six remaining"
)
PRONOUNS = _set("it them this these those everything")
PREPOSITIONS = _set("""
    with in into on onto over under from to for at by until till about around between through as of if when while
    before after during using without per so that which where or and then but against along across within inside
""")

# The last word of a tool, and what may stand before it.
TOOLS = _set("""
    appliance bag barbecue basket beater beaters blade blender board bottle bowl bowls broiler brush bucket can
    casserole cauldron cheesecloth chopper chopsticks cleaver cloth colander container cooker cooktop cup cups
    cutter dish dishes dispenser fan foil fork freezer fridge fryer funnel glass grater griddle grill jar jug juicer
    kettle knife knives ladle lid mallet mandoline masher microwave mill mixer mold mould mortar muslin needle oven
    pan pans paper parchment peeler pestle piercer pin pitcher plate plates platter pot pots press processor rack
    ramekin ramekins refrigerator ricer rolling-pin saucepan saucepans scale scissors scoop shaker sheet sheets
    shears sieve sifter skewer skewers skillet skillets slicer smoker spatula spoon spoons steamer stove stovetop
    strainer stockpot syringe tablespoon teaspoon thermometer timer tin tins toaster tong tongs toothpick torch
    towel towels tray trays turner twine vessel whisk wok wrap zester
""")
OF_TOOLS = _set("""
    air airtight baking bamboo bottomed bread bread-baking bundt cake candy cast cast-iron ceramic chef's chef’s
    chopping clean cookie cooling cutting deep deep-fat dry dutch electric fine fine-mesh flat food freezer-safe
    frying glass greased grill hand heatproof heat-proof heavy heavy-bottomed heavy-based hot immersion instant iron
    kitchen knife large lined loaf long measuring medium medium-sized mesh metal mixing muffin non-stick nonstick
    oiled oven oven-proof ovenproof oven-safe paper paring parchment pastry perforated pie pizza plastic potato
    prepared pressure ridged rimmed roasting rolling round rubber salad sauce sauté saute separate serrated serving
    shallow sharp sheet silicone slotted slow small soup springform square stand steamer steel stick stock storage
    sturdy tall tart tea-towel tea vegetable warm wax wide wire wooden ziplock zip-top cling plastic-wrap aluminum
    aluminium tin cheese box microplane square-bottomed second another ungreased preheated damp same big 9-inch
    8-inch 12-inch 10-inch 13-inch lidded heated
""")
# Of these, what a recipe measures with or eats from does not count where an amount stands before it.
MEASURES = _set("cup cups tablespoon teaspoon can glass bottle jar bag tin plate plates spoon spoons")
# What stays no part of a tool's name.
NOT_OF_TOOLS = _set(
    "another same second separate clean hot warm prepared preheated heated oiled greased lined ungreased damp dry"
)

# Words for several ingredients together, or for what has become of them.
SUMS = _set("""
    mixture dough batter sauce filling marinade dressing broth stock soup stew syrup paste cream glaze icing
    frosting custard crust crumbs meringue caramel ganache topping crumble roux emulsion brine rub seasoning coating
    pastry patties meatballs dumplings pancakes noodles vegetables veggies spices herbs ingredients liquid juice
    juices water meat steak cake cookies brownies loaf buns rolls chili curry salad rice pasta potatoes stuffing
""")
# Objects of verbs that are no food.
NO_FOOD = _set("""
    overnight aside boil degrees edge edges end ends excess fire flame half heat hand hands hour hours inch layer
    lid middle minute minutes more oven pieces portions rest second seconds side sides simmer surface temperature
    time times top way well strips rounds thickness slices size sizes lumps bubbles center centre bottom paper room
    touch inside outside piece process step steps bit moisture air foam speed flavor flavour flavors taste
    consistency golden recipe moment color colour amount work day night places place skins skin cover seams
    crust-side gas medium low high
""")
# Verbs of sentences that are no task.
NO_TASK = _set("enjoy make keep measure save start begin")
# Words of names of ingredients by which alone nobody knows them.
NEVER_ALONE = _set("""
    fresh ground dried white black red green yellow large small whole powder sauce extract all-purpose baking heavy
    plain brown dark light hot cold of and to for taco fillet breast clove leaf seed paste juice mix stick style in the
    half
""")

# An amount, with what makes it an inexact one.
AMOUNT = (
    r"(?:(?:about|approx(?:imately|\.)?|around|~|up to|at least|a few|few|several|another)\s+)?"
    r"(?:(?:\d+(?:[.,/]\d+)?(?:\s*[½¼¾⅓⅔⅛⅜⅝⅞])?|[½¼¾⅓⅔⅛⅜⅝⅞])(?:\s+\d+/\d+)?"
    r"(?:\s*(?:-|–|—|to|or|x|×)\s*(?:\d+(?:[.,/]\d+)?(?:\s+\d+/\d+)?|[½¼¾⅓⅔⅛⅜⅝⅞]))?"
    r"|(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|some)\b(?:\s+(?:a|an|dozen))?)"
)
UNITS = _set("""
    g gr gram grams kg kilo kilos mg ml milliliter milliliters millilitres cl dl l liter liters litre litres oz
    ounce ounces lb lbs pound pounds cup cups c tbsp tbsps tbs tbsp. tablespoon tablespoons tsp tsps teaspoon
    teaspoons tsp. pint pints quart quarts gallon gallons inch inches cm mm stick sticks pinch pinches dash dashes
    drop drops handful handfuls clove cloves slice slices piece pieces bunch bunches sprig sprigs stalk stalks head
    heads can cans tin tins jar jars bottle bottles package packages packet packets pkg bag bags box boxes container
    knob knobs splash drizzle sheet sheets cube cubes fluid fl rib ribs ear ears leaf scoop scoops squeeze
""")
# Before a name, and no part of it.
BEFORE_NAMES = _set("""
    of the large medium small big medium-sized heaping heaped scant level generous good freshly finely roughly
    coarsely thinly thickly lightly very well chopped diced minced sliced grated shredded crushed crumbled cubed
    halved quartered torn peeled trimmed washed rinsed drained cored seeded deseeded pitted beaten melted softened
    chilled cooled cooked uncooked packed sifted toasted cold warm hot lukewarm ripe boneless skinless fresh
    optional additional extra more your favorite favourite juicy plus about each long thick thin and or
    room-temperature firmly loosely good-quality a an
""")
# These are part of the name of what comes in a tin: crushed tomatoes, diced tomatoes.
TINNED = _set("can cans tin tins jar jars")
PREPARED = _set("chopped diced minced sliced grated shredded crushed crumbled peeled cooked packed")
# Names that keep their capital.
CAPITALS = _set("""
    Italian Parmesan Worcestershire Greek French Dijon Thai Chinese Mexican Japanese Korean Indian Spanish Turkish
    Swiss Cheddar Gruyère Gouda Kalamata Yukon Roma Sichuan Szechuan Shaoxing Kosher English Cajun Creole Monterey
    Colby Tabasco Sriracha Arborio Basmati Granny Savoy Napa Medjool Marsala Kahlúa Nutella
""")
