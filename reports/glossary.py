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
    """`key` is its anchor. `names`: the beginnings of headings and lines of tables that lead to it."""

    key: str
    title: Words
    says: Words
    formula: Words
    source: str
    names: Sequence[Words] = ()


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
            "have quadratic weights, w = (a − b)²: κ = 1 − Σ w p_ab / Σ w p_a p_b."
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
        (_("Human ceiling"), _("The judge beside it")),
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
        "numbers",
        _("Differences and correlations of numbers"),
        _(
            "The mean of the absolute differences of two answers to a cell; the limits within which 95 % of the "
            "differences lie; and of each two raters Pearson’s r and Spearman’s ρ, r of the ranks, averaged over pairs."
        ),
        "mean |a − b|;  ± 1.96 √(mean (a − b)²);  r = Σ (a − ā)(b − b̄) / √(Σ (a − ā)² Σ (b − b̄)²)",
        "Bland & Altman (1986), The Lancet 327; Spearman (1904), American Journal of Psychology 15",
        (_("Mean absolute difference"), _("Limits of agreement"), _("Pearson's r"), _("Spearman's ρ")),
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
        _("Accuracy, precision, recall, F1"),
        _("Precision: of what the judge gave this option, the share that people did too. Recall: of what people gave "
          "it, the share that the judge found. F1 is their harmonic mean; macro F1 and macro recall are means over "
          "options. Accuracy is the share of all comparisons in which both gave the same."),
        "P = TP/(TP+FP),  R = TP/(TP+FN),  F1 = 2PR/(P+R)",
        "van Rijsbergen (1979), Information Retrieval",
        (_("Accuracy"), _("Precision"), _("Recall"), "F1", _("Macro F1"), _("Macro-F1"), _("Macro recall")),
    ),
    Entry(
        "average-precision",
        _("Average precision; recall at a set precision"),
        _("An option counts as found where its probability reaches a threshold. Average precision is the mean of the "
          "precision over all thresholds, each weighed by the recall that it adds. Recall at a set precision is the "
          "highest that any threshold has with at least that precision."),
        "AP = Σ_n (R_n − R_{n−1}) P_n",
        "Manning, Raghavan & Schütze (2008), Introduction to Information Retrieval, chapter 8",
        (_("Average precision"), _("At precision")),
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
            *(_("Wrong cells have more doubt"), _("Error left to the judge, mean over coverage")),
            *("AUROC", _("AUROC of uncertainty"), _("Area under the risk-coverage curve")),
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
        "icc",
        _("Intraclass correlation"),
        _("How much of the variance of numbers lies between cells, not between raters."),
        "ICC(1,1) = (MS_b − MS_w) / (MS_b + (k−1) MS_w)",
        "Shrout & Fleiss (1979), Psychological Bulletin 86; McGraw & Wong (1996), Psychological Methods 1",
        (_("Intraclass correlation"), "ICC"),
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
    Entry(
        "text-metrics",
        _("Exact match, ROUGE-L, BLEU, METEOR, BERTScore"),
        _("How near a text comes to others that say the same: by the longest words in common order, by runs of words, "
          "by words with their stems and synonyms, by the cosine of their hidden states. Each table names its variant; "
          "values of two variants do not compare."),
        "BLEU = (∏_n p_n)^(1/N) e^(min(0, 1 − r/c))",
        "Lin (2004), ROUGE; Papineni et al. (2002), ACL; Lavie & Agarwal (2007), WMT; Zhang et al. (2020), ICLR",
        (_("Exact match"), _("F1 of parts"), "ROUGE-L", "BLEU", "sacreBLEU", "METEOR", "BERTScore"),
    ),
    Entry(
        "bradley-terry",
        _("Bradley and Terry’s strengths"),
        _("How strong each of several is by who was preferred to whom: of two, the first is preferred with a "
          "probability that is its share of both strengths."),
        "P(i before j) = s_i / (s_i + s_j)",
        "Bradley & Terry (1952), Biometrika 39",
        (_("Bradley-Terry"),),
    ),
    Entry(
        "concordance",
        _("Lin’s concordance"),
        _("Correlation of two raters’ numbers that is 1 only where the numbers are the same."),
        "ρ_c = 2 s_ab / (s_a² + s_b² + (ā − b̄)²)",
        "Lin (1989), Biometrics 45",
        (_("Lin's concordance"),),
    ),
    Entry(
        "rank-correlation",
        _("Kendall’s τ_b"),
        _("How far two figures put things into the same order: pairs in the same order less those in the reverse "
          "one, over all pairs that are not tied."),
        "τ_b = (n_c − n_d) / √((n_0 − n_a)(n_0 − n_b))",
        "Kendall (1945), Biometrika 33",
        (_("Kendall's τ_b"),),
    ),
)  # fmt: skip


def entry_of(name: str) -> str:
    """The key of the entry that a heading or the first text of a line leads to, or ""."""
    return _entry_of(name.strip(), get_language() or "en")


def entries_of(names: Iterable[str]) -> list[Entry]:
    """The entries that these lead to, whatever language a report was frozen in."""
    keys = set()
    different = set(names)
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            keys |= {entry_of(name) for name in different}
    return [entry for entry in ENTRIES if entry.key in keys]


@lru_cache(maxsize=2000)
def _entry_of(name: str, language: str) -> str:
    best = ("", "")
    for entry in ENTRIES:
        for start in map(str, entry.names):
            if len(start) <= len(best[0]) or not name.startswith(start):
                continue
            after = name[len(start) : len(start) + 1]
            if not after.isalnum():  # "ρ" is no beginning of a word
                best = start, entry.key
    return best[1]
