"""Names of the commonest foods in many languages: what tells a recipe from a manual that has numbers and orders too.

Beginnings of words, casefolded; one of them in a whole list is enough, so that each language needs few.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

# Languages whose commonest foods stand below; a recipe in them has one of these words, or is strange.
COVERED = frozenset(
    [
        "en",
        "de",
        "fr",
        "es",
        "ca",
        "gl",
        "it",
        "pt",
        "nl",
        "af",
        "sv",
        "da",
        "nb",
        "no",
        "nn",
        "fi",
        "cs",
        "sk",
        "pl",
        "hu",
        "ro",
        "hr",
        "sr",
        "sl",
        "bs",
        "ru",
        "uk",
        "bg",
        "el",
        "tr",
        "is",
    ]
)

_FOODS = """
    salt pepper sugar butter oil flour egg milk cream cheese onion garlic lemon lime rice pasta noodle chicken beef
    pork lamb fish salmon shrimp prawn tomato potato carrot apple banana berr strawberr blueberr raspberr cranberr
    blackberr cherr peach plum pear orange mango avocado chocolate cocoa vanilla cinnamon honey yeast yogh yogurt
    bread oat almond walnut pecan peanut bean lentil chickpea spinach mushroom cabbage celery parsley basil thyme
    oregano ginger chili chile turmeric cumin paprika vinegar mayonnaise mustard soy tofu broth stock wine rum gin
    vodka whisk bourbon vermouth juice syrup coconut corn tortilla bacon ham sausage turkey duck tuna zucchini
    courgette eggplant aubergine pumpkin squash cucumber lettuce kale broccoli cauliflower leek quinoa couscous
    coffee espresso tea salz pfeffer zucker öl mehl ei eier milch sahne käse zwiebel knoblauch zitrone reis nudel
    hähnchen huhn rind schwein fisch tomate kartoffel möhre karotte apfel äpfel schokolade kakao zimt honig hefe
    joghurt brot hafer mandel bohne linse spinat pilz petersilie basilikum ingwer essig senf brühe wein speck
    schinken wurst quark schmand gurke kürbis lauch erdbeer himbeer sel poivre sucre beurre huile farine oeuf œuf
    lait crème fromage oignon ail citron riz pâte poulet boeuf bœuf porc agneau poisson saumon pomme carotte
    chocolat cannelle miel levure yaourt pain amande haricot lentille champignon persil moutarde vinaigre bouillon
    vin lardon jambon courgette poireau fraise framboise sal pimienta azúcar azucar mantequilla aceite harina huevo
    leche nata queso cebolla ajo limón limon arroz pollo ternera cerdo pescado salmón tomate patata papa zanahoria
    manzana plátano canela miel levadura pan almendra judía garbanzo lenteja espinaca champiñón perejil vinagre
    caldo vino jamón chorizo maíz sale pepe zucchero burro olio farina uov uova latte panna formaggio parmigiano
    cipolla aglio limone riso pollo manzo maiale pesce pomodor patat carot mela mele cioccolato cannella miele
    lievito pane mandorle fagioli ceci funghi prezzemolo basilico aceto brodo prosciutto pancetta zucchin açúcar
    acucar manteiga óleo azeite farinha ovo leite creme queijo alho limão frango carne peixe batata cenoura maçã
    fermento pão feijão cogumelo salsa coentro presunto abóbora zout peper suiker boter olie bloem ei eieren melk
    room kaas ui uien knoflook citroen rijst kip rund varken vis tomaat tomaten aardappel wortel appel chocolade
    kaneel honing gist brood amandel boon bonen linzen spinazie paddenstoel peterselie azijn mosterd bouillon wijn
    spek ham salt peppar socker smör olja mjöl vetemjöl ägg mjölk grädde ost lök vitlök citron ris kyckling nötfärs
    fläsk fisk lax tomat potatis morot äpple choklad kanel honung jäst bröd mandel bönor linser spenat svamp
    persilja vinäger buljong vin skinka peber sukker smør olie mel hvedemel æg mælk fløde ost løg hvidløg citron
    kylling oksekød svinekød hakket laks kartof gulerod gulerødder æble chokolade gær brød mandler bønner svampe
    persille eddike bouillon pepper olje hvetemel egg melk fløte løk hvitløk sitron ris kjøtt torsk potet gulrot
    eple sjokolade gjær sopp suola pippuri sokeri voi voita öljy jauho vehnäjauho muna kananmuna maito kerma juusto
    sipuli valkosipuli sitruuna riisi kana liha kala lohi tomaatti peruna porkkana omena suklaa kaneli hunaja hiiva
    leipä manteli papu sieni persilja etikka liemi kinkku sůl soli pepř cukr máslo másla olej mouk vejce vajec mléko
    mléka smetan sýr cibul česnek česneku citron rýž kuře maso hovězí vepřové ryba rajč brambor mrkev jabl čokolád
    kakao skořic med droždí jogurt chléb mandle fazole čočka špenát houb petržel ocet vývar víno slanin šunk soľ
    soli korenie cukor maslo olej múk vajce vajíčk mlieko smotan syr cesnak citrón ryž kurac mäso hoväd bravč
    paradajk zemiak mrkv jablk čokolád škoric droždie chlieb mandľ fazuľ šošovic bryndz slanin hríb sól pieprz
    cukier cukru masło masła olej oliw mąk jajk jaj mlek śmietan ser cebul czosn cytryn ryż kurczak mięso wołow
    wieprz ryb pomidor ziemniak marchew jabł czekolad cynamon miód drożdż chleb migdał fasol soczewic szpinak
    pieczark natk bulion boczek só bors cukor vaj olaj liszt tojás tej tejszín tejföl sajt hagyma vöröshagyma
    fokhagyma citrom rizs csirke marha sertés hal paradicsom burgonya krumpli répa alma csokoládé fahéj méz élesztő
    kenyér mandula bab lencse gomba petrezselyem ecet szalonna sare piper zahăr zahar unt ulei făin fain ou ouă oua
    lapte smântân smantan brânz branz ceap usturoi lămâie orez pui carne pește roșii rosii cartof morcov mere
    ciocolat scorțișoar miere drojdie pâine fasole ciuperci pătrunjel oțet sol papar šećer secer maslac ulje brašno
    brasno jaj mlijeko mleko vrhnje sir luk češnjak češanj limun riža piletin meso riba rajčic krumpir mrkv jabuk
    čokolad cimet med kvasac kruh mandul grah gljiv peršin ocat slanin čebul česen sladkor moka соль соли перец
    сахар масло масла мук яйц молок сливк сметан сыр лук чеснок лимон рис куриц мясо говядин свинин рыб помидор
    картоф морков яблок шоколад какао кориц мед дрожж хлеб миндал фасол чечевиц гриб петруш уксус бульон сіль солі
    цукор олі борошн яйце молоко вершк сир цибул часник м'яс свинин яловичин риб помідор моркв яблу дріжджі хліб
    квасол сол пипер захар олио брашн яйца мляко сирене чесън ориз пиле месо домат ябълк хляб αλάτι πιπέρι ζάχαρη
    βούτυρο λάδι ελαιόλαδο αλεύρι αυγ αβγ γάλα κρέμα τυρί φέτα κρεμμύδ σκόρδο λεμόνι ρύζι κοτόπουλο κρέας ψάρι
    ντομάτ πατάτ καρότ μήλα σοκολάτα κανέλα μέλι μαγιά ψωμί αμύγδαλ μαϊντανό ξύδι tuz karabiber şeker tereyağ yağ un
    yumurta süt krema peynir soğan sarımsak limon pirinç tavuk kıyma et balık domates patates havuç elma çikolata
    tarçın bal maya ekmek badem fasulye mercimek ıspanak mantar maydanoz sirke salt pipar sykur smjör olía hveiti
    egg mjólk rjómi ostur laukur hvítlaukur sítrón hrísgrjón kjúkling kartöfl
"""
# Words that begin others which are no foods ("pane": panels) count only as a whole.
_AMBIGUOUS = frozenset(
    re.findall(
        r"\w+",
        "pane pain papa time cream room corn stock bean beans pasta creme tea mela mele mere moka rund wort pois boon "
        "side rice wine broth squash turkey juice date mint",
    )
)
_NOT_SAFE = frozenset(re.findall(r"\w+", "un et ou med bal hal sol vis voi bab room time mere"))
_WHOLE = frozenset(word for word in _FOODS.split() if len(word) <= 3 or word in _AMBIGUOUS) - _NOT_SAFE
_BEGINNINGS = frozenset(_FOODS.split()) - _WHOLE - _NOT_SAFE
# Compounds of Germanic languages, of Finnish and of Hungarian end in the food: "Gemüsebrühe", "kalvfärs".
_ENDINGS = frozenset(
    re.findall(
        r"\w+",
        "mehl zucker butter milch sahne käse öl brühe fleisch kartoffel kartoffeln zwiebel zwiebeln mjöl socker grädde "
        "mjölk färs lök sukker mel fløde kød olie mælk suiker boter bloem melk kaas vlees lappen sokeri jauho jauhoja "
        "kerma kermaa maitoa juusto liha filé filet filee fileetä liszt cukor hagyma szár",
    )
)
_UNSPACED = re.compile(r"[\u0590-\u08ff\u0900-\u0fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Measures of kitchens alone; grams and litres are those of machines and materials too.
_MEASURE = re.compile(
    r"(?:\d|[¼-¾⅐-⅞])\s*(?:cups?|tbsp?s?|tbs|tablespoons?|tsps?|teaspoons?|oz|ounces?|cloves?|pinch|el|tl|esslöffel|teelöffel|"
    r"prisen?|zehen?|cs|cc|càs|càc|cuill\w+|gousses?|pincée|cucharad\w+|cdas?|cdtas?|dientes|pizca|cucchiai\w*|spicchi\w*|"
    r"colher\w*|xícaras?|eetlepels?|theelepels?|snufje|teentjes?|lžic\w*|lžičk\w*|stroužk\w*|lyžic\w*|lyžičk\w*|strúčik\w*|"
    r"łyż\w*|szklank\w*|msk|tsk|krm|spsk|rkl|evőkanál|teáskanál|gerezd|linguri\w*|žlic\w*|стакан\w*|ст\.? ?л|ч\.? ?л|"
    r"κ\.?σ|κ\.?γ|"
    r"yemek kaşığı|çay kaşığı|su bardağı|大さじ|小さじ)(?!\w)"
)


def count(lines: Iterable[str]) -> int:
    """How many of the lines name a food that is known here."""
    return sum(any(map(_is_food, re.findall(r"[^\W\d_]+", text.casefold()))) for text in lines)


@lru_cache(maxsize=8192)
def _is_food(word: str) -> bool:
    if word in _WHOLE or any(word.endswith(end) and word.removesuffix(end) in _WHOLE for end in ("s", "en", "er")):
        return True
    return any(word[:length] in _BEGINNINGS or word[-length:] in _ENDINGS for length in range(2, len(word) + 1))


def measured(lines: Iterable[str]) -> bool:
    """Whether one of the lines holds a measure of kitchens alone (a spoon, a cup, a pinch)."""
    return any(_MEASURE.search(text.casefold()) for text in lines)


def is_covered(language: str, lines: Iterable[str]) -> bool:
    """Whether the foods of a text's language stand here, so that their absence says something."""
    if any(_UNSPACED.search(text) for text in lines):
        return False
    return not language or language.casefold()[:2] in COVERED
