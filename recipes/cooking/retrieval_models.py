"""Searches, their hits, and the runs that fetch them: tables of `recipes.cooking.models`."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from annotation.models import Column, Sheet, Study
from recipes.cooking.web import engines
from work import models as work


class Search(models.Model):
    """One query to one engine, with the results as they came. What is asked again later is a search of its own."""

    sheet = models.ForeignKey(Sheet, models.CASCADE, related_name="searches")
    column = models.ForeignKey(
        Column, models.CASCADE, null=True, blank=True, related_name="searches", help_text=_("Of a search for one item.")
    )
    engine = models.CharField(max_length=40)
    query = models.CharField(max_length=400)
    depth = models.PositiveIntegerField(default=0, help_text=_("How many results were asked for."))
    recorded = models.BooleanField(default=False, help_text=_("Its results were recorded elsewhere."))
    results = models.JSONField(default=list, help_text=_("As they came: rank, address, title."))
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    asked_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["sheet__position", "pk"]
        indexes = [models.Index(fields=["sheet", "engine", "query"], name="search_by_query")]

    def __str__(self) -> str:
        return f"{self.engine_label}: {self.query}"

    @property
    def engine_label(self) -> str:
        return engines.label_of(self.engine)


class Hit(models.Model):
    """One result of a search, and what became of it."""

    class State(models.TextChoices):
        WAITING = "waiting", _("not needed yet")
        DOCUMENT = "document", _("document")
        NO_RECIPE = "no_recipe", _("no recipe")
        DUPLICATE = "duplicate", _("there already")
        DEAD = "dead", _("dead")
        REFUSED = "refused", _("refused")

    search = models.ForeignKey(Search, models.CASCADE, related_name="hits")
    rank = models.PositiveIntegerField()
    url = models.TextField()
    canonical = models.TextField(help_text=_("What addresses of one page have in common."))
    title = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    reason = models.TextField(blank=True)
    same_as = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="duplicates")
    document = models.OneToOneField(
        "Document", models.SET_NULL, null=True, blank=True, related_name="hit"
    )  # stays where a person overrules: its row is withdrawn
    near = models.ForeignKey("Document", models.SET_NULL, null=True, blank=True, related_name="near_hits")
    resemblance = models.FloatField(default=0, help_text=_("To `near`: the share of runs of words in common."))
    opt_outs = models.JSONField(default=list, help_text=_("What says that the page is not to be mined or trained on."))
    looked_at = models.DateTimeField(null=True, help_text=_("When it was visited last."))
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", help_text=_("Who agreed or overruled.")
    )
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["search__sheet__position", "search", "rank"]
        constraints = [
            models.UniqueConstraint(fields=["search", "rank"], name="hit_rank_once_a_search"),
        ]

    def __str__(self) -> str:
        return f"{self.search.engine_label} {self.rank}"

    @property
    def stands(self) -> bool:
        """Whether it has a row that is labelled, whatever was said of it before: a row is withdrawn, and brought back,
        on other pages too. One query where document and row are not loaded."""
        return self.document is not None and self.document.row.withdrawn_at is None


class Fetched(models.Model):
    """The page behind a hit as a server sent it, whether or not it became a document."""

    hit = models.OneToOneField(Hit, models.CASCADE, related_name="fetched")
    url = models.TextField(help_text=_("Where it was in the end, after all redirects."))
    canonical = models.TextField()
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField()
    hops = models.JSONField(default=list, help_text=_("The redirects that led there: address and status."))
    record = models.BinaryField(help_text=_("A WARC response record, gzipped."))
    sha256 = models.CharField(max_length=64, help_text=_("Of the unpacked page."))
    n_bytes = models.PositiveIntegerField(help_text=_("Of the unpacked page."))
    n_ingredients = models.PositiveIntegerField(default=0, help_text=_("Lines that the reader found."))
    n_steps = models.PositiveIntegerField(default=0)
    fetched_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "fetched pages"
        ordering = ["hit"]

    def __str__(self) -> str:
        return self.url


class Site(models.Model):
    """What a host asks of programs, and when it may be visited next: all workers share the pause."""

    origin = models.CharField(max_length=300, unique=True, help_text=_("Scheme, host and port."))
    robots = models.TextField(blank=True)
    closed = models.TextField(blank=True, help_text=_("Why nothing of it may be fetched at the moment."))
    tdmrep = models.JSONField(default=list, help_text=_("The rules of its /.well-known/tdmrep.json."))
    asked_at = models.DateTimeField(null=True, help_text=_("When its robots.txt was read last."))
    free_at = models.DateTimeField(null=True, help_text=_("When it may be visited again."))

    class Meta:
        ordering = ["origin"]

    def __str__(self) -> str:
        return self.origin


class Retrieval(work.Run):
    """Searches, and the fetching of what they found, until each has its documents."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="retrievals")
    documents = models.PositiveIntegerField(help_text=_("That are wanted of each engine for each query."))
    searches = models.ManyToManyField(Search, related_name="retrievals")
    raters = models.JSONField(
        default=list, help_text=_("Who is given the new documents: the code of a rater, and sections; none means all.")
    )

    class Meta:
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(fields=["study"], condition=Q(state="running"), name="retrieval_one_at_a_time"),
            *work.run_constraints("retrieval"),
        ]

    def __str__(self) -> str:
        return f"{self.maker} · {self.study}"

    def get_absolute_url(self) -> str:
        return reverse("recipes:retrieval", args=[self.study.slug, self.pk])

    @property
    def maker(self) -> str:
        return str(_("search and fetch"))


class Visit(work.Item):
    """One step of a retrieval: an engine is asked, or, with a `hit`, its page is fetched."""

    run = models.ForeignKey(Retrieval, models.CASCADE, related_name="items")
    search = models.ForeignKey(Search, models.CASCADE, related_name="visits")
    hit = models.ForeignKey(Hit, models.CASCADE, null=True, related_name="visits")

    class Meta:
        ordering = ["run", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["run", "hit"], name="visit_hit_once_a_run"),
            models.UniqueConstraint(fields=["run", "search"], condition=Q(hit=None), name="visit_search_once_a_run"),
            *work.item_constraints("visit"),
        ]
        indexes = work.item_indexes("visit")

    def __str__(self) -> str:
        return f"{self.hit or self.search} ({self.state})"
