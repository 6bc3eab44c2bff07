"""The vocabulary that tells recipe text apart: headings, quantities, units and labels, in some twenty languages.

Only what decides a line's part in a page lives here; nothing translates. Patterns are matched on casefolded text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Section = Literal["ingredients", "steps", "other"]

_INGREDIENTS = (
    r"ingredients?|what (?:you(?:[’']ll)?|we) need|you(?:[’']ll| will) need|"
    r"zutaten(?:liste)?|(?:das )?brauch(?:st du|en sie|t man)|du brauchst|"
    r"ingrédients?|ce qu[’']il (?:vous |te )?faut|il vous faut|"
    r"ingredientes|(?:qué )?necesit(?:as|amos)|você vai precisar|ingredienti|occorrente|"
    r"ingrediënten|benodigdheden|(?:dit |wat )?heb je nodig|ingrediente(?:le)?|"
    r"ingredience|suroviny|(?:co )?bud(?:ete|eme) potřebovat|ingrediencie|prísady|potrebujeme|"
    r"składnik(?:i|ów)|hozzávalók|alapanyagok|aine(?:kset|sosat)|tarvitset|"
    r"ingrediens(?:er(?:ne)?|lista)|du (?:behöver|skal bruge|trenger)|det(?:te)? (?:skal du bruge|trenger du)|"
    r"det här behöver du|hráefni|malzemeler|malzeme listesi|υλικά|συστατικά|τι χρειαζόμαστε|"
    r"ингредиенты|продукты|(?:вам|нам) понадобится|інгредієнти|складники|(?:необходими )?продукти|съставки|"
    r"sastojci|sestavine|састојци|ingredientai|sastāvdaļas|koostisosad|koostisained|nguyên liệu|bahan(?:-bahan)?|"
    r"ส่วนผสม|วัตถุดิบ|सामग्री|材料|食材|配料|用料|原料|主料|재료|준비물|ה?מצרכים|ה?מרכיבים|ה?רכיבים|"
    r"(?:ال)?مكونات|(?:ال)?مقادير|مواد لازم"
)
_STEPS = (
    r"instructions?|directions?|method|preparation|procedure|steps|cooking (?:instructions|directions|method|steps)|"
    r"how to (?:make|prepare|cook|bake)|how (?:it[’']s|to) (?:made|do it)|let[’']s (?:make|cook|get cooking)|"
    r"making (?:it|the)|"
    r"zubereitung(?:sschritte)?|anleitung|so geht[’']?s|so wird[’']?s gemacht|schritt für schritt|"
    r"préparation|étapes|réalisation|la recette|comment (?:faire|préparer)|"
    r"preparación|elaboración|instrucciones|pasos|(?:cómo|como) (?:hacer|preparar|fazer)|"
    r"modo de (?:preparo|preparação|preparación|fazer|hacer)|preparação|preparo|"
    r"confeção|preparació|elaboració|preparazione|procedimento|esecuzione|come (?:preparare|fare)|istruzioni|"
    r"bereiding(?:swijze)?|bereiden|werkwijze|zo maak je (?:het|ze)|aan de slag|"
    r"mod(?:ul)? de preparare|preparare(?:a)?|instrucțiuni|"
    r"postup(?: přípravy)?|příprava|pracovní postup|jak na to|postup prípravy|príprava|ako na to|"
    r"przygotowanie|sposób (?:przygotowania|wykonania)|wykonanie|"
    r"elkészítése?(?: menete)?|így készül|valmistus(?:ohje)?|(?:valmistus)?ohjee?t?|valmista näin|tee näin|"
    r"gör så här|så (?:här )?gör du|tillagning|instruktioner|fr[ae]mgangsm[åa][dt]e|sådan gør du|slik gjør du|"
    r"tilberedning|aðferð|yapılışı|yapilişi|hazırlanışı|hazirlanişi|nasıl yapılır|εκτέλεση|παρασκευή|οδηγίεσ|"
    r"приготовление|способ приготовления|(?:пошаговый )?рецепт приготовления|пошаговый рецепт|как приготовить|"
    r"приготування|спосіб приготування|приготвяне|начин на приготвяне|"
    r"priprema|priprava|postopek|припрема|gaminimas|paruošimas|pagatavošana|valmistamine|"
    r"cách làm|cara (?:membuat|memasak)|วิธีทำ|विधि|作り方|つくり方|手順|做法|作法|步骤|步驟|制作方法|"
    r"만드는 ?(?:법|방법)|조리 ?(?:순서|방법|법)|"
    r"(?:אופן )?ה?הכנה|הוראות הכנה|(?:طريقة |خطوات )?(?:ال)?(?:تحضير|عمل)|طرز تهیه"
)
_OTHER = (
    r"(?:recipe |cook[’']?s |chef[’']?s |expert |my |top |pro )?(?:notes?|tips?|hints?)|tips? (?:and|&|for|to)|"
    r"nutrition\w*|(?:special )?equipment|tools|utensils|video|watch|faqs?|frequently asked|storage|storing|"
    r"how to (?:store|freeze|serve|reheat)|substitut\w+|variations?|did you|have you|more recipes|more \w+ recipes|"
    r"related|you (?:may|might) (?:also )?(?:like|love|enjoy)|what to serve|serving suggestions?|serve with|"
    r"\d* ?(?:comments?|reviews?)|leave a|reader|share|about|tags|keywords?|rate|rating|pin|print|subscribe|"
    r"newsletter|disclaimer|disclosure|why (?:you|this|i)|explore|popular|trending|author|"
    r"tipps?|nährwerte?|hinweise?|utensilien|kommentare|conseils?|astuces?|valeurs nutritionnelles|ustensiles|"
    r"commentaires|consejos?|notas?|trucos|utensilios|comentarios|información nutricional|consigli|commenti|"
    r"valori nutrizionali|strumenti|dicas?|comentários|informação nutricional|voedingswaarden?|reacties|"
    r"poznámk[ay]|nutriční hodnoty|komentáře|diskuze|porady|wskazówki|wartości odżywcze|komentarze|"
    r"megjegyzés(?:ek)?|hozzászólások|tippek|näringsvärde|kommentarer|næringsindhold|ravintosisältö|vinkit|kommentit|"
    r"besin değerleri|yorumlar|püf noktaları?|comentarii|sfaturi|savjeti|komentari|συμβουλέσ|σχόλια|"
    r"советы|примечания|комментарии|отзывы|пищевая ценность|инвентарь|поради|коментарі|коментари|"
    r"コツ(?:・ポイント)?|ポイント|小贴士|小技巧|贴士|팁|댓글|טיפים|הערות|نصائح|ملاحظات"
)
_OTHER += (
    r"|anmerkung(?:en)?|tipps? und tricks|das könnte (?:dir|ihnen) auch|variante[ns]?|remarques?|à savoir|variation|"
    r"también te puede|recetas relacionadas|te recomendamos|ti potrebbe|note|varianti|receitas relacionadas|"
    r"variatie(?:tip)?s?|notities|lekker met|meer recepten|näring|fler recept|gode råd|noter|næring\w*|"
    r"flere oppskrifter|flere opskrifter|andre læste|huom(?:io)?|tipy?|rady|další recepty|ďalšie recepty|mohlo by|"
    r"poznámk\w+|uwagi|zobacz (?:też|także)|további receptek|jó tanács|alte rețete|napomen\w+|savjet\w*|nasvet\w*|"
    r"ipuçları|"
    r"другие рецепты|совет|вам может|συμβουλή|περισσότερ\w+"
)
# Words of an article or of another section may stand before and after: "For the Brownie Ingredients (serves 4)".
_INGREDIENTS_HEADING = re.compile(rf"(?<!\w)(?:{_INGREDIENTS})(?!\w)")
_STEPS_HEADING = re.compile(rf"(?<!\w)(?:{_STEPS})(?!\w)")
_OTHER_HEADING = re.compile(rf"(?:{_OTHER})(?!\w)")
_LEADING = re.compile(
    r"^(?:(?:the|recipe|die|das|der|les?|la|los|las|el|il|gli|de|het|az|para|pour|lista|recipe for|key|main|full|"
    r"step by step)\s+)+"
)

_NUMBER = r"(?:\d+(?:[.,/⁄]\d+)?|[¼½¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])"
_UNITS = (
    r"g|gr|gm|gms|grams?|gramm|grammes?|gramos?|gramas?|grammi|gram|kg|kgs|kilo\w*|mg|dkg|dag|ml|mls|cl|"
    r"dl|l|ltr|lit\w+|"
    r"oz|ozs|ounces?|fl|lbs?|pounds?|cups?|c|tbsp?s?|tbs|tblsp|tablespoons?|tbl|tsps?|teaspoons?|pints?|quarts?|qts?|"
    r"pinch(?:es)?|dash(?:es)?|handfuls?|bunch(?:es)?|cloves?|cans?|tins?|jars?|packets?|packages?|pkgs?|"
    r"packs?|sticks?|"
    r"slices?|stalks?|sprigs?|heads?|pieces?|inch|cm|small|medium|large|"
    r"el|tl|esslöffel|teelöffel|prisen?|stück|dose|bund|päckchen|pck|zehen?|becher|msp|tasse|"
    r"cuill[eè]r\w*|cs|cc|càs|càc|pincée|gousses?|sachets?|tranches?|verres?|brins?|"
    r"cucharad\w+|cda|cdas|cdta|cdtas|tazas?|dientes?|pizca|cucchiai\w*|spicchi\w*|tazz\w+|pizzico|bustin\w+|"
    r"colher\w*|xícaras?|dentes?|pitada|copo|eetlepels?|theelepels?|snufje|teentjes?|stuks?|bosje|"
    r"lžíc\w*|lžičk\w*|lž|hrnk\w*|stroužk\w*|ks|szt\w*|łyż\w*|szklank\w*|ząb\w*|opakowan\w*|szczypt\w*|"
    r"msk|tsk|krm|st|stk|spsk|ss|ts|fed|klyft\w*|rkl|rkl|kpl|prk|evőkanál|teáskanál|ek|tk|db|gerezd|"
    r"su bardağı|yemek kaşığı|çay kaşığı|adet|diş|ст|ч|г|кг|мл|л|шт|κ\.?σ|κ\.?γ|γρ|大さじ|小さじ|グラム|"
    r"克|毫升|컵|큰술|작은술|個|本|枚|片|杯|束|缶|丁|个|只|勺|汤匙|茶匙|개|장|대|쪽|줌|"
    r"scheiben?|knivspids|håndfuld|bundt|dåser?|nypa|knippe|burk|förp|påse|ripaus|kynttä|csipet|fej|szál|csomag|bögre|"
    r"lyžic\w*|lyžičk\w*|hrnček\w*|strúčik\w*|štipk\w*|hrst|špetk\w*|plátk\w*|pl|čl|kl|garść|plastr\w*|pęczek|"
    r"linguri\w*|c[aă]ni|cana|căței|fire|buc\w*|pachet\w*|žlic\w*|žličk\w*|čaš\w*|šalic\w*|kom|prstohvat|češ\w*|"
    r"glavic\w*|vrećic\w*|skodelic\w*|ščep\w*|ст\.? ?л|ч\.? ?л|с\.л|ч\.ч|бр|стакан\w*|щепот\w*|зуб\w*|пуч\w+|"
    r"склян\w*|ложк\w*|φλ\w*|κούπ\w*|κιλ\w*|σκελίδ\w*|τεμ\w*|כוס\w*|כפ\w*|גרם|שיני|יחידות|"
    r"كوب|أكواب|ملعقة|ملاعق|غرام|جرام|كيلو|حبة|حبات|رشة|فص\w*"
)
_QUANTITY = re.compile(rf"^\W*(?:(?:about|approx\w*|ca|circa|optional:?|plus)\W+)?{_NUMBER}")
_QUANTITY_WORD = re.compile(
    r"^\W*(?:an?|half|one|two|three|four|five|six|pinch|dash|handful|juice|zest|eine?|etwas|un[eoa]?|demi|"
    r"mezz[oa]|een)\b"
)
# Japanese spoons and cups come before the number.
_UNIT = re.compile(rf"{_NUMBER}\s*-?\s*(?:{_UNITS})(?![\w])|(?:さじ|カップ)\s*{_NUMBER}")
_BARE_UNIT = re.compile(rf"(?:{_UNITS})\.?")
_BARE_AMOUNT = re.compile(rf"{_NUMBER}(?:\s*(?:[-–+x]|to|bis|à)?\s*{_NUMBER})*\s*(?:{_UNITS})?\.?")
# Labels around a recipe that begin like quantities or look like short list items.
_META = re.compile(
    r"^\W*(?:(?:(?:total|prep\w*|cook\w*|bak\w+|chill\w*|rest\w*|active|hands[- ]on|additional|inactive|"
    r"freez\w+|marinat\w+)[ -]?)?"
    r"time|serv(?:es|ings?)|yields?|makes|portion\w*|calories|kcal|energ\w+|course|cuisine|category|"
    r"author|difficulty|skill|level|"
    r"cost|keyword|diet|rating|carb\w*|protein|fib(?:er|re)|sodium|cholesterol|saturated(?: fat)?|"
    r"nutrition|"
    r"zubereitungszeit|arbeitszeit|gesamtzeit|portionen|schwierigkeit|temps de \w+|tiempo de \w+|"
    r"tempo de \w+|tempo|tiempo|rendimento|"
    r"bereidingstijd|doba \w+|czas \w+|porcj\w+|personen|personnes|personas|persone)\s*(?:(?:for|"
    r"per)\b.{0,20})?(?:$|:|\W*\d)|"
    r"^\W*(?:prep\w*|cook\w*|bak\w+|total|chill\w*|rest\w*|ready in|difficulty)\s*:\s*\d|"
    r"^\W*\d+[\d.,]*\s*(?:min|mins|minutes?|minuten|hours?|hrs?|h|servings?|people|personen|personnes|"
    r"calories|kcal|votes?|reviews?|"
    r"comments?|ratings?|stars?|shares?)\b\W*$|"
    r"\b(?:from|out of) \d+ (?:votes?|reviews?|ratings?)|^\W*\d{1,2}[./ -](?:\d{1,2}|"
    r"\w{3,9})[./, -]+\d{2,4}\W*$|^[×x\d\s./½]+$"
)
_SERVINGS = (
    r"(?:portion\w*|porzion[ei]|person\w*|pessoas?|porç(?:ão|ões)|porcion\w*|raciones|porc\w+|porsjon\w*|porties|osob\w*|osôb|"
    r"adag(?:hoz)?|fő(?:re)?|annosta|hlö|henkilö\w*|bitar|servings?|people|commensa(?:is|les)|kişi(?:lik)?|порц\w+|персон\w*|"
    r"μερίδες|άτομα|oseb\w*|人分|人份|인분)"
)
_SERVES = re.compile(
    rf"^\W*(?:(?:für|for|pour|per|para|voor|til|till|na|pro|dla|za|ca|circa|cca|około|serves|makes|ergibt|(?:ingr|zut)\w+)\W+){{0,3}}"
    rf"\d+(?:\s*(?:[-–/x]|bis|à|a|do|to)\s*\d+)?\s*{_SERVINGS}\W*$|^\W*{_SERVINGS}\W+\d+\W*$"
)
# A label that names a time, and a time: never an ingredient, hardly a step.
_TIME = re.compile(
    r"^\W*(?:[^\W\d]+\W+){0,3}(?:\w*zeit|temps|durée|tiempo|tempo|\w*tijd|\w*tid|czas|doba|čas|\w*aika|idő|\w*time|время|час|"
    r"χρόνος|süre\w*|vrijeme|timp|cottura|cuisson|repos)(?:\W+[^\W\d]+){0,3}\W*\d[\d\s.,:/–-]*"
    r"(?:m|min\w*|perc|std|stund\w*|h|hod\w*|tim\w*|t|or[ae]|heures?|horas?|uur|godz\w*|мин\w*|λεπτά|dakika|sek\w*)?\W*$"
)
_LABELLED_OTHER = re.compile(rf"^\W*(?:{_OTHER})\s*[:：]\s*\S")
_NOISE = re.compile(
    r"^\W*(?:cook(?:ing)? mode.*|.*support cook(?:ing)? mode.*|prevent your screen|keep (?:your |"
    r"the )?screen|advertisements?|ad|sponsored|image|photos?(?: (?:by|credit).*)?|"
    r"print(?: recipe)?|save(?: recipe)?|pin(?: recipe| it)?|share|jump to recipe|get ingredients.*|"
    r"add to (?:cart|shopping list|list)|"
    r"shop (?:now|ingredients).*|powered by.*|us customary|metric|copy(?: to clipboard)?|learn more|"
    r"see more|show more|read more|"
    r"scale|\d+(?:/\d+)?x|video|click (?:here|for).*|tap (?:to|on).*|text ingredients|anzeige|werbung|"
    r"publicité|publicidad)\W*$"
)
# What sites must say of a link that earns them money, in brackets behind it.
_DISCLOSURE = re.compile(
    r"\s*[\[(]\s*\*?(?:(?:paid|sponsored|commissionable)(?: links?)?|commissions? earned|ad|werbung|anzeige|"
    r"publicité|publicidad|"
    r"(?:\w+[ -]){0,2}(?:affil|afili)\w*(?:[ -]\w+)?|(?:annons|reklam)\w*|mainos\w*|partner(?:link|odkaz)\w*|"
    r"spons?or\w* link\w*|gesponsord\w*|lien (?:sponsorisé|rémunéré))\W*[\])]",
    re.IGNORECASE,
)
_PART = re.compile(
    r"^\W*(?:for (?:the|your|a)|für (?:den|die|das)|pour (?:la|le|les|l[’'])|para (?:la|el|los|las|o|a|os|"
    r"as)|per (?:la|il|lo|i|gli|le|l[’'])|"
    r"voor (?:de|het)|na|till|til|pro|do) .*"
)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\u0e00-\u0e7f]")
_STEP_LABEL = re.compile(
    r"^\W*(?:steps?|schritt|étape|paso|passo|passaggio|krok|stap|steg|trin|vaihe|adım|шаг|крок|lépés|第)?\s*\d*\W*$"
)
_STEP_PREFIX = re.compile(
    r"^(?:steps?|schritt|étape|paso|passo|krok|stap|steg|trin)\s*\d+\s*(?:of \d+|/\s*\d+)?\s*[:.)–-]*\s*", re.IGNORECASE
)
_VERB = re.compile(
    r"^\W*(?:\d+\W+)?(?:to |in an? |using |for the |while |when |once |meanwhile|carefully |gently |then |"
    r"next |now |first |finally )?"
    r"(?:add|allow|arrange|assemble|bake|beat|blend|boil|bring|brush|chill|chop|combine|cook|cool|cover|"
    r"cream|crush|cut|dice|dip|divide|"
    r"drain|drizzle|drop|dust|fill|flip|fold|fry|garnish|grate|grease|grill|heat|knead|layer|leave|let|"
    r"line|lower|make|mash|measure|"
    r"melt|mince|mix|peel|place|pour|preheat|prepare|press|process|pulse|put|reduce|refrigerate|remove|"
    r"repeat|rest|return|rinse|roast|"
    r"roll|rub|saut[eé]|scoop|sear|season|separate|serve|set|shape|sift|simmer|slice|spoon|spray|spread|"
    r"sprinkle|stir|store|strain|"
    r"taste|tip|toast|top|toss|transfer|turn|warm|wash|whip|whisk|wrap|"
    r"\w+en sie|den|die|das|faites|mettre|mélanger|ajouter|préchauffer|verser|couper|cuire|mezclar|añadir|"
    r"cortar|calentar|poner|"
    r"precalentar|mescolare|aggiungere|tagliare|versare|unire|cuocere|misture|adicione|coloque|leve|bata|"
    r"verwarm|meng|voeg|snijd|"
    r"smíchejte|přidejte|nakrájejte|wymieszać|dodać|pokroić|dodaj|wymieszaj)\b"
)

# Names that sites and recipe plugins give to the parts of their pages (class and id attributes), casefolded.
INGREDIENT_HINT = re.compile(
    r"ingred|indgred|benodigd|zutat|ingrédient|składnik|skladnik|surovin|hozzaval|ainekset|malzeme|sastojc|sestavin|(?:^|"
    r"[-_])ingr?s?(?:$|[-_])"
)
STEP_HINT = re.compile(
    r"instruc|direction|method|prepara|(?:^|[-_])prep(?:$|[-_])|zubereit|anleitung|steps?(?:$|[-_\d])|"
    r"(?:^|[-_])step|proced|elabora|preparo|"
    r"przygot|wykonanie|postup|priprav|elkeszit|bereid|tillag|fremgang|how-?to|recipe-process|recipesteps?|etapes?|yapilis|"
    r"hazirlan|valmistus"
)
# Class names whose text is not the recipe's own: comments of readers, text for screen readers, tools of the page.
NOT_CONTENT = re.compile(
    r"^(?:comments?(?:-?(?:list|area|section|body|content|wrap\w*))?|respond|disqus\w*|sr-only|"
    r"screen-reader-text|visually-?hidden|"
    r"breadcrumbs?|cookie-?\w*|wprm-recipe-instruction-ingredients|wprm-toggle-container|"
    r"wprm-recipe-equipment-container|"
    r"nutrition(?:al)?(?:-?\w+)?|tasty-recipes-nutrition|tasty-recipes-equipment|mv-create-nutrition|"
    r"wprm-nutrition-label-container)$"
)


@lru_cache(maxsize=8192)  # asked for each line of a page several times
def section_of(text: str, *, heading: bool) -> Section | None:
    """Which part of a recipe `text` announces, if it reads like a heading.

    In a heading the word may stand anywhere ("Brownie ingredients"); elsewhere it has to be nearly all of the text.
    """
    if not heading and _LABELLED_OTHER.match(text.casefold()):
        return "other"
    words = re.sub(r"^\W+|\W+$", "", text.casefold())
    if not words or len(words) > 90:
        return None
    bare = _LEADING.sub("", words)
    found: Section | None = None
    sections: tuple[tuple[Section, re.Pattern[str]], ...]
    sections = (("ingredients", _INGREDIENTS_HEADING), ("steps", _STEPS_HEADING))
    for name, pattern in sections:
        match = pattern.search(bare) if heading else pattern.match(bare)
        if match is None:
            continue
        if name == "ingredients" and (_STEP_PREFIX.match(bare) or _is_order(bare[: match.start()])):
            return None  # "Step 1: combine the dry ingredients"
        rest = re.sub(r"\(.*\)|\[.*\]|[\d:：]+", "", bare[match.end() :]).strip()
        if heading or len(rest.split()) <= 2:
            found = name
            break
    if _OTHER_HEADING.match(bare) if heading else _OTHER_HEADING.fullmatch(bare):
        return "other"
    return found


def _is_order(words: str) -> bool:
    # A single word may as well be a noun: "Dip ingredients"
    return len(words.split()) > 1 and begins_with_order(words)


def names_a_part(text: str) -> bool:
    """Whether `text` titles a part of a recipe: "For the sauce", "Für den Teig"."""
    return len(text.split()) <= 7 and bool(_PART.match(text.casefold())) and not has_quantity(text)


@lru_cache(maxsize=8192)
def has_quantity(text: str) -> bool:
    """Whether `text` begins with an amount or holds one with its unit."""
    folded = text.casefold()
    if _QUANTITY.match(folded) or _UNIT.search(folded):
        return True
    return bool(_QUANTITY_WORD.match(folded)) and count(text) <= 8 and not text.endswith(".")


def begins_with_quantity(text: str) -> bool:
    return bool(_QUANTITY.match(text.casefold()))


def has_unit(text: str) -> bool:
    """Whether `text` holds a number with a unit of the kitchen."""
    return bool(_UNIT.search(text.casefold()))


def is_amount(text: str) -> bool:
    """Whether `text` is a number and perhaps a unit, and nothing else: "1 ½", "100-150 g"."""
    return len(text) < 30 and bool(_BARE_AMOUNT.fullmatch(text.casefold()))


def is_unit(text: str) -> bool:
    return len(text) < 20 and bool(_BARE_UNIT.fullmatch(text.casefold()))


def count(text: str) -> int:
    """Words of `text`; three signs count as a word where words are written without spaces."""
    return max(len(text.split()), len(_UNSPACED.findall(text)) // 3)


def nouns(text: str) -> list[str]:
    """The longer words of `text`, casefolded: of four letters, or of two where words are written without spaces."""
    found = re.findall(r"[^\W\d_]+", text.casefold())
    return [word for word in found if len(word) >= (2 if _UNSPACED.search(word) else 4)]


def is_noise(text: str) -> bool:
    """Buttons and advertisements that stand inside recipe cards."""
    return bool(_NOISE.match(text.casefold())) or not any(c.isalnum() for c in text)


def is_meta(text: str) -> bool:
    """Times, yields, nutrition and ratings: short labelled numbers that are no ingredients."""
    folded = text.casefold()
    return len(text) < 80 and bool(_META.search(folded) or _SERVES.match(folded) or _TIME.match(folded))


def is_step_label(text: str) -> bool:
    """ "Step 3", "3." and the like, alone on a line."""
    return len(text) < 20 and bool(_STEP_LABEL.match(text.casefold()))


def without_disclosures(text: str) -> str:
    """`text` without what is said of its links in brackets: "[paid link]", "(Affiliate-Link)"."""
    return _DISCLOSURE.sub("", text) if "[" in text or "(" in text else text


def without_step_label(text: str) -> str:
    return _STEP_PREFIX.sub("", text)


def begins_with_order(text: str) -> bool:
    """Whether `text` begins as a cook is told what to do ("Whisk …", "In a large bowl, …")."""
    return bool(_VERB.match(text.casefold()))
