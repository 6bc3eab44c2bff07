# ruff: noqa: E501  (each line of a recipe stays one line)
"""Recipes written for `benchmarks.made_pages`, in the words that sites of each language use around them.

Each: dish; heading of the ingredients, of the steps; servings; titles of two parts; lines of the first part and of the
second; steps of the first and of the second; heading and sentence of a hint; a label of time; a teaser of others.
"""

from __future__ import annotations

from typing import NamedTuple


class Made(NamedTuple):
    language: str
    dish: str
    headings: tuple[str, str]
    servings: str
    parts: tuple[str, str]
    lines: tuple[tuple[str, ...], tuple[str, ...]]
    steps: tuple[tuple[str, ...], tuple[str, ...]]
    hint: tuple[str, str]
    time: str
    more: str


def _made(text: str) -> Made:
    """A recipe out of lines: fields in the order above, "|" between the entries of one."""
    rows = [tuple(part.strip() for part in line.split("|")) for line in text.strip().splitlines()]
    head, servings, parts, first, second, steps, further, hint, last = rows
    return Made(
        head[0], head[1], (head[2], head[3]), servings[0], (parts[0], parts[1]),
        (first, second), (steps, further), (hint[0], hint[1]), last[0], last[1],
    )  # fmt: skip


RECIPES = [
    _made(text)
    for text in (
        """
        en | Plum crumble | Ingredients | Method
        Serves 6
        For the filling | For the crumble
        900 g ripe plums | 80 g caster sugar | 1 cinnamon stick | juice of half a lemon
        150 g plain flour | 1/2 tsp salt | 90 g cold butter, cubed | a handful of flaked almonds
        Heat the oven to 190 °C and halve the plums. | Toss the plums with the sugar, the cinnamon and the lemon juice in a deep dish.
        Rub the butter into the flour and the salt until it looks like crumbs. | Stir in the almonds and scatter everything over the fruit. | Bake for 40 minutes, until the top is golden.
        Tips | Pears work as well, if they are not too soft.
        Prep time: 20 mins | More puddings you will love
        """,
        """
        de | Kartoffelsuppe mit Würstchen | Zutaten | Zubereitung
        Für 4 Portionen
        Für die Suppe | Für die Einlage
        800 g mehligkochende Kartoffeln | 2 Möhren | 1 l Gemüsebrühe | 1 Stange Lauch | Salz und Pfeffer
        4 Wiener Würstchen | 2 EL Butter | 1 Bund Petersilie
        Kartoffeln und Möhren schälen und in Würfel schneiden. | Den Lauch putzen, in Ringe schneiden und mit der Brühe und dem Gemüse 25 Minuten kochen. | Die Suppe fein pürieren und kräftig abschmecken.
        Würstchen in Scheiben schneiden und in der Butter anbraten. | Suppe mit Würstchen und gehackter Petersilie servieren.
        Tipp | Wer mag, gibt noch einen Löffel Schmand dazu.
        Arbeitszeit 30 Min. | Das könnte dir auch schmecken
        """,
        """
        fr | Gratin de courgettes | Ingrédients | Préparation
        Pour 4 personnes
        Pour le gratin | Pour la sauce
        1 kg de courgettes | 2 gousses d’ail | 100 g de comté râpé | sel, poivre
        25 cl de crème fraîche | 3 œufs | 1 pincée de muscade
        Préchauffez le four à 180 °C. | Lavez les courgettes, coupez-les en rondelles et faites-les revenir avec l’ail pendant 10 minutes. | Disposez-les dans un plat beurré.
        Battez les œufs avec la crème et la muscade. | Versez sur les courgettes, parsemez de fromage et enfournez 30 minutes.
        Astuces | Vous pouvez remplacer le comté par de l’emmental.
        Temps de préparation : 20 min | Vous aimerez aussi
        """,
        """
        es | Lentejas con chorizo | Ingredientes | Elaboración
        4 personas
        Para el guiso | Para el sofrito
        400 g de lentejas pardinas | 1 chorizo fresco | 2 zanahorias | 1 hoja de laurel
        1 cebolla | 2 dientes de ajo | 3 cucharadas de aceite de oliva | 1 cucharadita de pimentón dulce
        Ponemos las lentejas en una olla con el laurel y las cubrimos de agua fría. | Añadimos el chorizo y las zanahorias en rodajas y cocemos 35 minutos a fuego lento.
        Picamos la cebolla y el ajo y los pochamos en el aceite. | Fuera del fuego agregamos el pimentón. | Volcamos el sofrito en la olla y dejamos reposar diez minutos.
        Consejos | De un día para otro están todavía más ricas.
        Tiempo de preparación: 15 min | También te puede gustar
        """,
        """
        it | Risotto ai funghi | Ingredienti | Preparazione
        Per 4 persone
        Per il risotto | Per la mantecatura
        320 g di riso Carnaroli | 300 g di funghi porcini | 1 scalogno | 1 l di brodo vegetale | mezzo bicchiere di vino bianco
        40 g di burro | 60 g di parmigiano grattugiato | sale q.b.
        Pulite i funghi e tagliateli a fettine. | Fate appassire lo scalogno tritato, unite il riso e tostatelo per due minuti. | Sfumate con il vino e portate a cottura con il brodo caldo.
        A fuoco spento mantecate con il burro e il parmigiano. | Lasciate riposare un minuto e servite.
        Consigli | Il brodo deve essere sempre bollente.
        Tempo di preparazione: 15 min | Ti potrebbe interessare anche
        """,
        """
        pt | Bolo de cenoura | Ingredientes | Modo de preparo
        12 porções
        Massa | Cobertura
        3 cenouras médias | 4 ovos | 1 xícara de óleo | 2 xícaras de farinha de trigo | 1 colher de sopa de fermento
        1 lata de leite condensado | 4 colheres de sopa de chocolate em pó | 1 colher de sopa de manteiga
        Bata no liquidificador as cenouras, os ovos e o óleo. | Misture com a farinha e o fermento e despeje em uma forma untada. | Asse em forno médio por cerca de 40 minutos.
        Leve todos os ingredientes ao fogo e mexa até engrossar. | Espalhe sobre o bolo ainda morno.
        Dicas | Use cenouras bem frescas.
        Tempo de preparo: 20 min | Receitas relacionadas
        """,
        """
        nl | Hachee met rodekool | Ingrediënten | Bereidingswijze
        Voor 4 personen
        Voor de hachee | Voor de rodekool
        800 g runderlappen | 4 uien | 2 laurierblaadjes | 3 kruidnagels | 50 g boter | 4 el azijn
        1 rodekool | 2 appels | snufje kaneel
        Snijd het vlees in blokjes en braad het bruin in de boter. | Voeg de gesnipperde uien, het laurier en de kruidnagels toe. | Blus af met de azijn en een halve liter water en laat 3 uur zachtjes stoven.
        Schaaf de kool fijn en kook hem met de appels en de kaneel in 40 minuten gaar. | Serveer de hachee met de rodekool.
        Tips | Lekker met aardappelpuree.
        Bereidingstijd: 30 min | Meer stoofpotjes
        """,
        """
        sv | Kladdkaka med hallon | Ingredienser | Gör så här
        8 bitar
        Kaka | Till servering
        2 ägg | 3 dl strösocker | 1,5 dl vetemjöl | 4 msk kakao | 1 krm salt | 100 g smör
        2 dl vispgrädde | 1 ask hallon
        Sätt ugnen på 175 grader och smörj en form med löstagbar kant. | Smält smöret och rör ner sockret och äggen. | Blanda mjöl, kakao och salt och vänd ner det i smeten. | Grädda kakan mitt i ugnen i 20 minuter.
        Vispa grädden och bjud den till med hallonen.
        Tips | Kakan blir godast om den får stå i kylen över natten.
        Tid: 40 min | Fler kakor
        """,
        """
        da | Frikadeller med agurkesalat | Ingredienser | Fremgangsmåde
        4 personer
        Frikadeller | Agurkesalat
        500 g hakket svinekød | 1 løg | 1 æg | 3 spsk hvedemel | 1,5 dl mælk | salt og peber
        1 agurk | 2 dl eddike | 4 spsk sukker
        Riv løget fint og rør det sammen med kødet, ægget og melet. | Tilsæt mælken lidt ad gangen og krydr med salt og peber. | Lad farsen hvile i køleskabet i en halv time. | Form farsen til frikadeller og steg dem i smør på begge sider.
        Skær agurken i tynde skiver. | Kog eddike og sukker op og hæld lagen over.
        Gode råd | Frikadellerne kan fryses.
        Arbejdstid: 45 min | Andre læste også
        """,
        """
        nb | Fiskegrateng | Ingredienser | Slik gjør du
        4 porsjoner
        Grateng | Topping
        400 g torsk | 200 g makaroni | 3 ss smør | 4 ss hvetemel | 6 dl melk | 3 egg
        4 ss griljermel | 50 g revet ost
        Kok makaronien nesten mør og del fisken i biter. | Smelt smøret, rør inn melet og spe med melken. | Bland sausen med eggeplommene, makaronien og fisken. | Vend inn stivpiskede eggehviter og hell alt i en ildfast form.
        Strø over griljermel og ost. | Stek gratengen i 45 minutter ved 200 grader.
        Tips | Server med kokte poteter.
        Tid: 60 min | Flere oppskrifter
        """,
        """
        fi | Lohikeitto | Ainekset | Valmistusohje
        4 annosta
        Keitto | Pinnalle
        600 g lohifileetä | 8 perunaa | 1 sipuli | 1 l kalalientä | 2 dl ruokakermaa
        1 nippu tilliä | 2 rkl voita
        Kuori perunat ja kuutioi ne. | Keitä perunoita ja sipulia liemessä noin 15 minuuttia. | Lisää kala paloina ja kerma ja hauduta viisi minuuttia.
        Hienonna tilli ja lisää se keittoon voin kanssa. | Tarjoa ruisleivän kanssa.
        Vinkit | Keitto maistuu myös seuraavana päivänä.
        Valmistusaika: 35 min | Lisää keittoja
        """,
        """
        cs | Bramboráky s kysaným zelím | Suroviny | Postup přípravy
        4 porce
        Těsto | Na smažení
        1 kg brambor | 2 vejce | 4 stroužky česneku | 5 lžic hladké mouky | 1 lžička majoránky | sůl
        200 ml sádla | 150 g kysaného zelí
        Brambory oloupeme a nastrouháme najemno. | Slijeme vodu, přidáme vejce, utřený česnek, mouku a majoránku. | Těsto osolíme a promícháme.
        Na pánvi rozehřejeme sádlo a lžící tvoříme placky. | Smažíme z obou stran dozlatova a podáváme se zelím.
        Tip | Nejlepší jsou hned z pánve.
        Doba přípravy: 40 min | Další recepty
        """,
        """
        sk | Bryndzové halušky | Ingrediencie | Postup
        4 porcie
        Cesto | Na vrch
        1 kg zemiakov | 300 g polohrubej múky | 1 vajce | 1 lyžička soli
        250 g bryndze | 150 g slaniny | 1 hrsť pažítky
        Zemiaky očistíme a nastrúhame na jemno. | Pridáme vajce, soľ a múku a vymiešame cesto. | Cesto hádžeme cez haluškár do vriacej vody a varíme, kým nevyplávajú.
        Slaninu nakrájame na kocky a opražíme. | Halušky zmiešame s bryndzou a polejeme slaninou.
        Poznámky | Podávame s kyslým mliekom.
        Čas prípravy: 50 min | Ďalšie recepty
        """,
        """
        pl | Placki z jabłkami | Składniki | Przygotowanie
        4 porcje
        Ciasto | Do podania
        250 g mąki pszennej | 2 jajka | 1 szklanka mleka | 1 łyżka cukru | 3 jabłka | szczypta soli
        2 łyżki cukru pudru | 4 łyżki oleju
        Jabłka obrać i pokroić w cienkie plasterki. | Wymieszać mąkę, jajka, mleko, cukier i sól na gładkie ciasto. | Dodać jabłka i odstawić na kwadrans.
        Smażyć placki na rozgrzanym oleju z obu stron. | Podawać posypane cukrem pudrem.
        Porady | Najlepsze są kwaśne jabłka.
        Czas przygotowania: 30 min | Zobacz też
        """,
        """
        hu | Gulyásleves | Hozzávalók | Elkészítés
        6 adag
        A leveshez | A csipetkéhez
        600 g marhalábszár | 2 fej hagyma | 2 evőkanál pirospaprika | 4 db burgonya | 2 szál sárgarépa
        1 db tojás | 100 g liszt | csipet só
        A hagymát apróra vágjuk és zsíron megdinszteljük. | Hozzáadjuk a kockára vágott húst és a pirospaprikát, majd felöntjük vízzel. | Amikor a hús puha, beletesszük a zöldségeket.
        A tojást a liszttel és a sóval kemény tésztává gyúrjuk. | A levesbe csipkedjük és tíz percig főzzük.
        Tippek | Másnap még finomabb.
        Elkészítési idő: 90 perc | További receptek
        """,
    )
]
