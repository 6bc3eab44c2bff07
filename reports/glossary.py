"""What the figures of a report mean: each with its formula and its source. Tables lead to the entry of what they
name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

Words = Promise | str


@dataclass(frozen=True)
class Entry:
    """`key` is its anchor. `names`: the beginnings of headings and lines of tables that lead to it, up to what is
    filled in; `heads`: keys of columns that do whatever stands above them, since one sign may have two meanings."""

    key: str
    title: Words
    says: Words
    formula: Words
    source: str
    names: Sequence[Words] = ()
    heads: Sequence[str] = ()


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "percent-agreement",
        _("Percent agreement"),
        _("The share of equal answers among the comparisons of two raters. It does not know what chance would give."),
        "p = n(a = b) / n",
        "Artstein & Poesio (2008), Computational Linguistics 34(4)",
        (_("Percent agreement"), _("Share of equal answers")),
    ),
    Entry(
        "cohen-kappa",
        _("Cohen’s κ"),
        _(
            "Agreement of two raters beyond what their own shares of the options would give by chance. 1 is full "
            "agreement, 0 chance. The macro average is the mean over each sheet and each pair of its raters. Scales "
            "have quadratic weights, w = (a − b)²: κ = 1 − Σ w p_ab / Σ w p_a p_b; of two judges of a benchmark κ is "
            "also given unweighted, where any two different numbers are equally far apart."
        ),
        "κ = (p_o − p_e) / (1 − p_e),  p_e = Σ_k p_a(k) p_b(k)",
        "Cohen (1960), Educational and Psychological Measurement 20; Cohen (1968), Psychological Bulletin 70",
        (_("Cohen's κ"), "κ"),
    ),
    Entry(
        "prevalence",
        _("Most frequent option, imbalance, greatest κ"),
        _(
            "What makes κ low or high whatever raters do: the share of the most frequent option; how uneven the "
            "options are, 0 where all q are equally frequent, 1 where one has all answers; and the greatest κ that "
            "two raters reach who choose the options as often as these do."
        ),
        "max_k π_k;  (q Σ_k π_k² − 1) / (q − 1);  κ_max = (Σ_k min(p_a(k), p_b(k)) − p_e) / (1 − p_e)",
        "Feinstein & Cicchetti (1990), Journal of Clinical Epidemiology 43; Cohen (1960)",
        (_("Most frequent option"), _("Imbalance of the options"), _("Greatest κ that these margins allow")),
    ),
    Entry(
        "corrected-kappa",
        _("κ corrected for small sheets"),
        _(
            "In sheets of few documents κ comes out too low, since chance is taken within the sheet. Here chance is "
            "taken between different documents, which is unbiased."
        ),
        "κ_c = 1 − d_o / d_e,  d_e = mean_{i ≠ j} d(a_i, b_j)",
        "Hoeffding (1948), Annals of Mathematical Statistics 19 (U-statistics)",
        (_("Cohen's κ, macro average, corrected"),),
    ),
    Entry(
        "landis-koch",
        _("Levels of Landis and Koch"),
        _(
            "Names for ranges of κ: below 0 poor, 0–0.20 slight, 0.21–0.40 fair, 0.41–0.60 moderate, 0.61–0.80 "
            "substantial, 0.81–1 almost perfect. A convention, not a test."
        ),
        "–",
        "Landis & Koch (1977), Biometrics 33",
    ),
    Entry(
        "macro-accuracy",
        _("Macro accuracy A_h"),
        _(
            "How often two people gave the same answer: the share of equal answers of a pair in a sheet, averaged over "
            "sheets, then over pairs of places."
        ),
        "A_h = 1/m Σ_j 1/n Σ_i S_ij / T_ij",
        "Kvapil & Fajčík, section 6.1",
        ("A_h", _("Macro accuracy A_h")),
    ),
    Entry(
        "judge-accuracy",
        _("Judge accuracy A_m"),
        _(
            "How often the judge chose what a person chose: the share of cells in a sheet, averaged over sheets. Where "
            "several people answered, any of them will do. Pair by pair, one person at a time, it can be held "
            "against A_h."
        ),
        "A_m = 1/m Σ_i S_i / T_i",
        "Kvapil & Fajčík, section 7",
        ("A_m",),
    ),
    Entry(
        "human-ceiling",
        _("Human ceiling"),
        _(
            "What a person reaches under the judge’s rule: each person is left out in turn and measured by the "
            "others, on the cells that the judge labelled. The judge beside it is measured by the same people in the "
            "same cells."
        ),
        "H = 1/R Σ_r 1/m Σ_i S_i^(r) / T_i^(r)",
        "Calderon, Reichart & Dror (2025), ACL; leave-one-out as there",
        (_("Human ceiling"), _("The judge beside it"), _("On the same cells"), _("Against one person at a time")),
        ("ceiling", "ceiling_each"),
    ),
    Entry(
        "majority-baseline",
        _("Majority-class baseline"),
        _("What always answering people’s most frequent option would reach on the same cells under the same rule."),
        "A_0 = A_m( argmax_k n_k )",
        "Kvapil & Fajčík, section 7",
        (_("Majority-class baseline"), _("Always the commonest option")),
    ),
    Entry(
        "alternative-annotator-test",
        _("Alternative Annotator Test"),
        _(
            "May the judge stand in for one more person? Each person with at least 30 cells is left out in turn; ω is "
            "the share of them whom the judge is not worse than by ε, corrected for several tests, and 0.5 passes. ρ "
            "is how often the judge agrees with the others at least as well as the person. It needs three people or "
            "more."
        ),
        "ω = 1/R Σ_r 1[ H0_r: ρ_r^h − ρ_r^f ≥ ε is rejected ]",
        "Calderon, Reichart & Dror (2025), ACL",
        ("ω", "ρ"),
    ),
    Entry(
        "krippendorff-alpha",
        _("Krippendorff’s α"),
        _("Agreement of all raters at once beyond chance, with missing answers. 1 is full agreement, 0 chance."),
        "α = 1 − D_o / D_e",
        "Krippendorff (2011), Computing Krippendorff’s Alpha-Reliability",
        (_("Krippendorff's α"), "α"),
    ),
    Entry(
        "graph-agreement",
        _("Node F1 and Edge F1"),
        _(
            "How far two graphs of one row are alike: the things that steps made are matched step by step by the "
            "cosine of their names, as many as there can be. Node F1 is the share of matched ones, Edge F1 that of "
            "edges that both drew, between matched things or over all. The mean is over rows; 1 is full agreement, and "
            "chance is not taken out."
        ),
        "Node F1 = (|M₁| + |M₂|) / (|V₁| + |V₂|)",
        "Toyooka, Aizawa and Yamakata, Appendix B",
        ("Node F1", "Edge F1"),
    ),
    Entry(
        "ac1",
        _("Gwet’s AC1 and AC2"),
        _("Agreement beyond chance where chance is how hard the options are to guess: it stays high where one option "
          "has most answers. AC2 has weights."),
        "AC1 = (p_o − p_e) / (1 − p_e),  p_e = 1/(q−1) Σ_k π_k (1 − π_k)",
        "Gwet (2008), British Journal of Mathematical and Statistical Psychology 61",
        ("AC1", "AC2", _("Gwet's AC1"), _("Gwet's AC2")),
    ),
    Entry(
        "scott-fleiss",
        _("Scott’s π and Fleiss’ κ"),
        _("Like Cohen’s κ, with chance from the shares that all raters have together."),
        "p_e = Σ_k π_k²",
        "Scott (1955), Public Opinion Quarterly 19; Fleiss (1971), Psychological Bulletin 76",
        (_("Scott's π"), _("Fleiss' κ")),
    ),
    Entry(
        "pabak",
        "PABAK",
        _("κ as it would be if all options were equally frequent."),
        "PABAK = (q p_o − 1) / (q − 1)",
        "Byrt, Bishop & Carlin (1993), Journal of Clinical Epidemiology 46",
        ("PABAK",),
    ),
    Entry(
        "specific-agreement",
        _("Specific agreement"),
        _("Of the answers with this option, the share that the other rater gave too."),
        "p_s(k) = 2 n_kk / (n_k· + n_·k)",
        "Spitzer & Fleiss (1974), British Journal of Psychiatry 125",
        (_("Specific agreement"),),
    ),
    Entry(
        "interval",
        _("95 % interval"),
        _(
            "Where the figure would lie in 95 of 100 studies with other documents of the same kind: whole documents "
            "(or sheets) are drawn again with replacement, 2,000 times, with a seed. Under ten of them there is too "
            "little data."
        ),
        "[q(2.5 %), q(97.5 %)]",
        "Efron & Tibshirani (1993); Hesterberg (2015), The American Statistician 69",
        (_("95 % interval"),),
    ),
    Entry(
        "precision-recall",
        _("Precision, recall, F1"),
        _("Precision: of what the judge gave this option, the share that people did too. Recall: of what people gave "
          "it, the share that the judge found. F1 is their harmonic mean; macro F1 the mean over options."),
        "P = TP/(TP+FP),  R = TP/(TP+FN),  F1 = 2PR/(P+R)",
        "van Rijsbergen (1979), Information Retrieval",
        (_("Precision"), _("Recall"), "F1", _("Macro F1"), _("Macro-F1")),
    ),
    Entry(
        "span-f1",
        _("F1 of marked words: exact, overlapping, characters"),
        _("How far two raters mark the same words: the same from the first to the last character (exact), words that "
          "share a character (overlapping), or single characters. Nobody counts what neither marked, so there is no κ; "
          "F1 is the same whichever of the two is taken as right. Precision: of what a rater marked, the share that "
          "gold has; recall: of gold's, the share that the rater marked."),
        "F1 = 2 n(both) / (n_a + n_b)",
        "Hripcsak & Rothschild (2005), JAMIA 12; Tjong Kim Sang & De Meulder (2003), CoNLL",
        (),
        tuple(f"{of}_{rate}" for of in ("exact", "overlap", "characters") for rate in ("f1", "precision", "recall")),
    ),
    Entry(
        "accuracy",
        _("Accuracy and macro recall"),
        _("Accuracy: the share of comparisons in which the judge gave the person’s answer. Macro recall: the mean "
          "recall of the options that people gave, each counting alike."),
        "acc = Σ_k n_kk / n;  R̄ = 1/q Σ_k n_kk / n_k·",
        "Sokolova & Lapalme (2009), Information Processing & Management 45",
        (_("Accuracy"), _("Macro recall")),
    ),
    Entry(
        "average-precision",
        _("Recall at a set precision; average precision"),
        _("Which share of an option’s cells is found by the judge’s probability from where on so many of the found "
          "ones are right. Average precision is the mean of precision over recall, without interpolation."),
        "AP = Σ_t P_t (R_t − R_{t−1})",
        "Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval, section 8.4",
        (_("Average precision"), _("At precision %(precision)s")),
    ),
    Entry(
        "calibration",
        _("Calibration: ECE and Brier score"),
        _("Whether the judge is right as often as it is confident. ECE is the mean gap over ten bins of equally many "
          "cells; the Brier score is the mean squared error of the confidence."),
        "ECE = Σ_b n_b/n |acc_b − conf_b|",
        "Naeini et al. (2015), AAAI; Brier (1950), Monthly Weather Review 78",
        (_("Calibration error (ECE)"), _("Brier"), _("Mean confidence")),
    ),
    Entry(
        "uncertainty",
        _("AUROC of uncertainty; area under the risk-coverage curve"),
        _("AUROC: the probability that a wrong cell has more uncertainty than a right one, 0.5 being chance. The "
          "area under the risk-coverage curve is the mean error of what is left to the judge when the least certain "
          "cells go first."),
        "AUROC = P(u_wrong > u_right);  AURC = mean_c risk(c)",
        "Geifman & El-Yaniv (2017), NeurIPS",
        (
            _("Wrong cells have more doubt"),
            _("Error left to the judge, mean over coverage"),
            _("Area under the risk-coverage curve"),
            "AUROC",
            _("AUROC of uncertainty"),
            "AURC",
        ),
    ),
    Entry(
        "mcnemar",
        _("McNemar’s test"),
        _("Two judges on the same cells: whether the one is right where the other is not more often than the "
          "reverse. It takes cells as independent; read the interval of the difference first."),
        "χ² = (b − c)² / (b + c)",
        "McNemar (1947), Psychometrika 12",
        (_("p (McNemar)"), "McNemar"),
    ),
    Entry(
        "powered-share",
        _("Shares from many labels of a judge and few of people"),
        _("Prediction-powered inference: the judge’s share, mended by how it errs where people answered too."),
        "θ = mean(y − λ f) + λ mean(f all)",
        "Angelopoulos et al. (2023), Science 382; Angelopoulos, Duchi & Zrnic (2023), PPI++",
        (_("Estimate"),),
    ),
    Entry(
        "certified-error",
        _("Certified error of a judge"),
        _(
            "Of the cells that a judge accepts, no more than ε are wrong, with the confidence that the certificate "
            "says. The bound goes by whole documents (or sheets), whose errors come together; the thresholds are "
            "tested in an order that development documents set, so that none has to be corrected for the others."
        ),
        "U = CP_{1−δ}(n_wrong/d, n/d),  d = n Var(p̂) / (p̂ (1 − p̂)), the variance by documents",
        "Korn & Graubard (1998), Survey Methodology 24; Angelopoulos et al. (2021), Learn then Test",
    ),
    Entry(
        "confidence-sequence",
        _("Confidence sequence of a judge at work"),
        _(
            "Between which bounds the error of the accepted cells lies, by documents. It may be looked at after every "
            "document: that either bound by itself ever misses the error is no likelier than the certificate’s risk."
        ),
        "C_t = {m : K_t(m) < 1/α},  K_t(m) = Π_i (1 + λ_i (x_i − m))",
        "Waudby-Smith & Ramdas (2024), Journal of the Royal Statistical Society B 86",
    ),
    Entry(
        "flip-rate",
        _("Flip rate"),
        _("The share of cells in which a judge’s label changes with the order of the options, of the candidates, or "
          "with the words of the question."),
        "F = n(label in an arm ≠ label in the first) / n",
        "Wang et al. (2024), ACL; Zheng et al. (2023), NeurIPS",
        (_("Flipped"),),
    ),
    Entry(
        "coverage",
        _("Coverage"),
        _("The expected share of items found at least once in n documents drawn from those of their sheet."),
        "C(n) = mean_i [1 − C(N − k_i, n) / C(N, n)]",
        "Hypergeometric; Kvapil & Fajčík, Figures 1 to 4",
        (_("All items alike"),),
    ),
    Entry(
        "consensus",
        _("Majority and Dawid–Skene"),
        _("One answer a cell from several people: the most frequent one, or the most likely one under a model in "
          "which each person has error rates of their own."),
        "P(t | answers) ∝ p_t Π_r π^(r)_{t, answer}",
        "Dawid & Skene (1979), Applied Statistics 28",
        (_("Dawid and Skene"),),
    ),
    Entry(
        "ability",
        _("Ability of a rater"),
        _("An item-response model of people’s answers: how likely a rater is right depends on the rater’s ability and "
          "on how easy the document is. Who guesses has 0."),
        "P(right) = 1 / (1 + exp(−ability · ease))",
        "Whitehill et al. (2009), NIPS 22 (GLAD)",
        (_("Ability"),),
    ),
    Entry(
        "icc",
        _("Intraclass correlation"),
        _("How much of the variance of numbers lies between cells, not between raters."),
        "ICC(1,1) = (MS_b − MS_w) / (MS_b + (k−1) MS_w)",
        "Shrout & Fleiss (1979), Psychological Bulletin 86; McGraw & Wong (1996), Psychological Methods 1",
        (_("Intraclass correlation"), "ICC", _("Reliability of one"), _("Reliability of the mean")),
    ),
    Entry(
        "correlation",
        _("Pearson’s r, Spearman’s ρ, Kendall’s τ"),
        _("Whether two raters’ numbers rise together (r), their ranks do (ρ), and in how many more pairs they have the "
          "same order than the opposite one (τ). None says that the numbers are equal."),
        "r = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² Σ (y − ȳ)²);  ρ = r of ranks;  τ_b = (C − D) / √((n − T_x)(n − T_y))",
        "Spearman (1904), American Journal of Psychology 15; Kendall (1945), Biometrika 33",
        (_("Pearson's r"), _("Spearman's ρ"), _("Kendall's τ_b")),
        ("pearson", "spearman", "kendall"),
    ),
    Entry(
        "difference",
        _("Mean absolute difference, limits of agreement"),
        _("How far two numbers for one cell lie apart, and between which limits 95 of 100 differences lie."),
        "MAD = mean |x − y|;  ± 1.96 √(mean (x − y)²) of two people;  d̄ ± 1.96 s_d of a judge and people",
        "Bland & Altman (1986), The Lancet 327",
        (_("Mean absolute difference"), _("Limits of agreement")),
    ),
    Entry(
        "concordance",
        _("Lin’s concordance"),
        _("How near a judge’s numbers lie to people’s, not just to a line: 1 only where they are equal."),
        "ρ_c = 2 s_xy / (s_x² + s_y² + (x̄ − ȳ)²)",
        "Lin (1989), Biometrics 45",
        (_("Lin's concordance"),),
    ),
    Entry(
        "leniency",
        _("Leniency, spread, favour"),
        _("By how much a judge rates above the others on the same texts, how far apart its ratings lie, and what it "
          "gives its own family of models beyond both."),
        "x_jt = worth_t + leniency_j + e_jt",
        "Panickssery, Bowman & Feng (2024), NeurIPS (favour)",
        (_("Leniency"), _("Spread (SD)"), _("Favour for its own family")),
    ),
    Entry(
        "bradley-terry",
        _("Bradley and Terry’s strengths"),
        _("How strong each system is, from who was preferred to whom: the probability of being preferred grows with "
          "the difference of the strengths. Ties count half."),
        "P(a before b) = 1 / (1 + exp(θ_b − θ_a))",
        "Bradley & Terry (1952), Biometrika 39",
        (_("Bradley-Terry"),),
    ),
    Entry(
        "spa",
        _("Probability of being preferred (SPA)"),
        _("How likely a rater prefers an output of the first to one of the second for the same input, a tie counting "
          "half; 0.5 is no preference."),
        "SPA = mean over raters and inputs of P(first before second)",
        "Ethayarajh & Jurafsky (2022), EMNLP",
        (_("The first is preferred"), _("First is preferred")),
    ),
    Entry(
        "edit-rate",
        _("Edit rate"),
        _("How much of a draft its rater changed: the share of the answers that are others now; of lists, what was "
          "changed, dropped and added over the entries of both."),
        "n(changed) / n(drafted)",
        "Snover et al. (2006), AMTA",
        (_("Edit rate"), _("Mean edit distance")),
    ),
    Entry(
        "exact-match",
        _("Exact match, F1 of parts"),
        _("The share of texts that are the reference letter by letter, or as sets of parts; F1 of the parts in common. "
          "The line below a table says which variant it has."),
        "F1 = 2 common / (a + b)",
        "Rajpurkar et al. (2016), EMNLP",
        (_("Exact match"), _("F1 of parts")),
    ),
    Entry(
        "rouge-l",
        "ROUGE-L",
        _("F of the longest common subsequence of words of a text and its reference."),
        "F = (1 + β²) P R / (R + β² P)",
        "Lin (2004), Text Summarization Branches Out",
        ("ROUGE-L",),
        ("rouge-l", "rouge-l-f1"),
    ),
    Entry(
        "bleu",
        "BLEU",
        _("The geometric mean of the precision of runs of one to N words over all texts, less for texts that are too "
          "short. Its variants smooth, and take words apart, in different ways."),
        "BLEU = exp(min(0, 1 − r/c)) (Π_n p_n)^(1/N)",
        "Papineni et al. (2002), ACL; Post (2018), WMT",
        ("BLEU", "sacreBLEU"),
        ("bleu-1", "bleu-4", "bleu-sacre"),
    ),
    Entry(
        "meteor",
        "METEOR",
        _("F of the words of a text that its reference has too, as words, stems or synonyms, less for each break in "
          "their order."),
        "(1 − γ (chunks/matches)^β) P R / (α P + (1 − α) R)",
        "Banerjee & Lavie (2005), ACL workshop; Denkowski & Lavie (2014), WMT",
        ("METEOR",),
        ("meteor-stems", "meteor-wordnet", "meteor-1.5"),
    ),
    Entry(
        "bertscore",
        "BERTScore",
        _("F1 of the words of both texts, each matched with the nearest of the other by a language model’s vectors. "
          "Numbers of different models do not compare."),
        "P = mean_i max_j cos(x_i, y_j);  F1 = 2PR/(P+R)",
        "Zhang et al. (2020), ICLR",
        ("BERTScore",),
        ("bertscore",),
    ),
    Entry(
        "self-consistency",
        _("Self-consistency"),
        _("How far a judge agrees with itself when it labels the same cell several times: the share of pairs of its "
          "labels that are equal, and of cells in which all are."),
        "p = n(a = b) / n",
        "Wang et al. (2023), ICLR",
        (_("All labels equal"), _("Pairs of labels equal")),
    ),
)  # fmt: skip


_BY_HEAD = {head: entry.key for entry in ENTRIES for head in entry.heads}


def entry_of(name: str, head: str = "") -> str:
    """The key of the entry that a heading, of a column with the key `head`, or the first text of a line leads to, or
    ""."""
    return _BY_HEAD.get(head) or _entry_of(name.strip(), get_language() or "en")


def entries_of(names: Iterable[tuple[str, str]]) -> list[Entry]:
    """The entries that these lead to, each a name and the key of its column or "" (`entry_of`), whatever language a
    report was frozen in."""
    keys = set()
    different = set(names)
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            keys |= {entry_of(name, head) for name, head in different}
    return [entry for entry in ENTRIES if entry.key in keys]


@lru_cache(maxsize=2000)
def _entry_of(name: str, language: str) -> str:
    best = ("", "")
    for entry in ENTRIES:
        for start in (str(said).partition("%(")[0].rstrip() for said in entry.names):
            if len(start) <= len(best[0]) or not name.startswith(start):
                continue
            after = name[len(start) : len(start) + 1]
            if not after.isalnum():  # "ρ" is no beginning of a word
                best = start, entry.key
    return best[1]
