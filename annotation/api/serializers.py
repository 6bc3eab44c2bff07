"""What the API says and takes. Raters appear by their code only: no serializer here reads a user."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.settings import api_settings

from annotation.models import Assignment, Label, Role, Row
from annotation.scheme.spec import QuestionSpec, SectionSpec

MAX_LABELS_A_PAGE = 1000
MAX_ID = 2**63 - 1  # what a column of the database holds; beyond it SQLite fails instead of finding nothing


class OptionSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    hotkey = serializers.CharField()
    value = serializers.IntegerField(allow_null=True, help_text=_("The number on a scale."))
    blank = serializers.BooleanField(help_text=_("Means that there is nothing to annotate."))
    definition = serializers.CharField()
    example = serializers.CharField()


class QuestionSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.CharField(help_text=_("choice, scale, flag, number, text, items or transitions"))
    about = serializers.CharField(allow_null=True, help_text=_("The facet of the column that is looked for."))
    help = serializers.CharField()
    ask_unless = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text=_("Not asked while that question of the same column has one of these answers."),
    )
    optional = serializers.BooleanField(help_text=_("Its cells may stay open where a row is submitted."))
    options = OptionSerializer(many=True)
    takes = serializers.SerializerMethodField(
        help_text=_("What the scheme says of values under the question's kind, such as min, max, step and unit; null "
                    "where it has options.")
    )  # fmt: skip
    preset = serializers.SerializerMethodField(
        help_text=_("The “option” or “value” that the cell has where its column has no word for “when_empty”; or null.")
    )

    @extend_schema_field({"type": "object", "additionalProperties": {}, "nullable": True})
    def get_takes(self, question: QuestionSpec) -> dict[str, Any] | None:
        return None if question.has_options else getattr(question, question.kind).model_dump(mode="json")

    @extend_schema_field({"type": "object", "additionalProperties": {}, "nullable": True})
    def get_preset(self, question: QuestionSpec) -> dict[str, Any] | None:
        return question.preset.model_dump(mode="json") if question.preset else None


class SectionSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    title = serializers.CharField()
    facets = serializers.ListField(child=serializers.CharField(), source="column.facets")
    guideline = serializers.CharField()
    checks = serializers.SerializerMethodField(
        help_text=_("Rules over the answers of a table, as the scheme has them.")
    )
    questions = QuestionSerializer(many=True)

    @extend_schema_field({"type": "array", "items": {"type": "object", "additionalProperties": {}}})
    def get_checks(self, section: SectionSpec) -> list[dict[str, Any]]:
        return [check.model_dump(mode="json") for check in section.checks]


class RowFacetSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    title = serializers.CharField(source="name")
    hidden = serializers.BooleanField(help_text=_("No rater is shown it."))


class StudySerializer(serializers.Serializer[Any]):
    slug = serializers.SlugField()
    title = serializers.CharField()
    scheme = serializers.SlugField(source="scheme.slug")
    scheme_version = serializers.IntegerField(source="scheme.version")
    roles = serializers.ListField(child=serializers.ChoiceField(Role.choices), help_text=_("Yours in this study."))


class CountsSerializer(serializers.Serializer[Any]):
    sheets = serializers.IntegerField()
    rows = serializers.IntegerField()
    columns = serializers.IntegerField()
    raters = serializers.IntegerField()


class StudyDetailSerializer(StudySerializer):
    archived_at = serializers.DateTimeField(
        allow_null=True, help_text=_("Since then nothing is changed in it; null where it is not archived.")
    )
    guideline = serializers.CharField()
    contact = serializers.CharField(help_text=_("A person or a role that people of this study write to, or empty."))
    contact_address = serializers.CharField(help_text=_("Its e-mail or web address, or empty."))
    counts = CountsSerializer()
    row_facets = RowFacetSerializer(
        many=True, help_text=_("What rows are described by; hidden ones for managers and researchers.")
    )
    sections = SectionSerializer(many=True, source="scheme.parsed.sections")


class SheetSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    title = serializers.CharField()
    rows = serializers.IntegerField(source="n_rows")
    columns = serializers.IntegerField(source="n_columns")
    closed_at = serializers.DateTimeField(
        allow_null=True, help_text=_("Since then its people change nothing; null where it is open.")
    )
    archived_at = serializers.DateTimeField(
        allow_null=True, help_text=_("Since then it is on nobody's list of work; null where it is not archived.")
    )
    shows_gold = serializers.BooleanField(
        help_text=_("Whether its people see where their answers differ from the gold, once it is closed.")
    )


class ColumnSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    section = serializers.CharField(source="section.key")
    name = serializers.CharField()
    facets = serializers.DictField(child=serializers.CharField())


class RowSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    title = serializers.CharField()
    url = serializers.CharField()
    language = serializers.CharField()
    withdrawn_at = serializers.DateTimeField(
        allow_null=True, help_text=_("Since then nobody else is asked to label it; null where it is not withdrawn.")
    )
    withdrawn_reason = serializers.SerializerMethodField(
        "reason_of", help_text=_("Why it is withdrawn, for managers and researchers; else empty.")
    )
    facets = serializers.SerializerMethodField(
        "facets_of",
        help_text=_("A text or a list of texts by the key of the facet; hidden ones for managers and researchers."),
    )

    def reason_of(self, row: Row) -> str:
        return row.withdrawn_reason if self.context.get("hidden") else ""

    @extend_schema_field(OpenApiTypes.OBJECT)
    def facets_of(self, row: Row) -> dict[str, Any]:
        """The context says whether the reader may see `hidden` ones."""
        spec = row.sheet.study.scheme.parsed.row
        facets = spec.facets if self.context.get("hidden") else spec.shown
        return {facet.key: row.facets[facet.key] for facet in facets if facet.key in row.facets}


class SheetDetailSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    study = serializers.SlugField(source="study.slug")
    title = serializers.CharField()
    columns = ColumnSerializer(many=True)
    rows = RowSerializer(many=True)


class BlockSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    text = serializers.CharField()


class RowDetailSerializer(RowSerializer):
    sheet = serializers.IntegerField(source="sheet_id")
    evidence = BlockSerializer(many=True, source="blocks")


class RaterSerializer(serializers.Serializer[Any]):
    code = serializers.CharField(source="rater.code")
    kind = serializers.CharField(source="rater.kind", help_text=_("person, judge or gold"))
    simulated = serializers.BooleanField(source="rater.simulated")
    active = serializers.BooleanField(source="rater.active")
    paused_at = serializers.DateTimeField(
        source="rater.paused_at", allow_null=True, help_text=_("Since then a person gets no more work; else null.")
    )
    rows = serializers.IntegerField()
    submitted = serializers.IntegerField()
    failed = serializers.IntegerField()
    labels = serializers.IntegerField()


class AssignmentSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    study = serializers.SlugField(source="row.sheet.study.slug")
    sheet = serializers.IntegerField(source="row.sheet_id")
    sheet_title = serializers.CharField(source="row.sheet.title")
    row = serializers.IntegerField(source="row_id")
    row_name = serializers.CharField(source="row.name")
    repeat = serializers.IntegerField()
    sections = serializers.ListField(child=serializers.CharField(), help_text=_("Empty means all."))
    state = serializers.ChoiceField(Assignment.State.choices)
    started_at = serializers.DateTimeField(allow_null=True)
    submitted_at = serializers.DateTimeField(allow_null=True)


class LongFormSerializer(serializers.Serializer[Any]):
    """Whose cell it is and where."""

    sheet = serializers.IntegerField(source="column.sheet_id")
    sheet_title = serializers.CharField(source="assignment.row.sheet.title")
    row = serializers.IntegerField(source="assignment.row_id")
    row_name = serializers.CharField(source="assignment.row.name")
    section = serializers.CharField(source="question.section.key")
    column = serializers.IntegerField(source="column_id")
    column_name = serializers.CharField(source="column.name")
    facets = serializers.DictField(child=serializers.CharField(), source="column.facets")
    question = serializers.CharField(source="question.key")
    rater = serializers.CharField(source="assignment.rater.code")
    rater_kind = serializers.CharField(source="assignment.rater.kind", help_text=_("person, judge or gold"))
    simulated = serializers.BooleanField(source="assignment.rater.simulated")
    repeat = serializers.IntegerField(source="assignment.repeat")
    state = serializers.ChoiceField(
        Assignment.State.choices, source="assignment.state", help_text=_("Of the rater's work on the row.")
    )


class LabelSerializer(LongFormSerializer):
    """One answer, in long form: a line says all that a table of labels needs."""

    option = serializers.CharField(
        source="option.key", allow_null=True, help_text=_("Null where the answer is a value and no option.")
    )
    option_label = serializers.CharField(source="option.label", allow_null=True)
    value = serializers.SerializerMethodField(
        "value_of",
        help_text=_(
            "The answer where it is no option: a number, a text or a list. Of an option the number on a scale."
        ),
    )
    scores = serializers.JSONField(allow_null=True, help_text=_("A judge's log-probabilities of all options."))
    note = serializers.CharField()
    preset = serializers.BooleanField(help_text=_("Follows from the column; nobody chose it."))
    exposed = serializers.BooleanField(help_text=_("Its rater had seen other raters' labels of the sheet before."))
    drafted_from = serializers.CharField(
        source="drafted_from.code",
        default=None,
        allow_null=True,
        help_text=_("The rater whose answer it began as, where it began as a draft."),
    )
    confirmed_at = serializers.DateTimeField(
        allow_null=True, help_text=_("Of a draft, when its rater changed or confirmed it; null: not yet.")
    )
    updated_at = serializers.DateTimeField()

    @extend_schema_field(OpenApiTypes.ANY)
    def value_of(self, label: Label) -> Any:
        return label.option.value if label.option is not None else label.value


class SkipSerializer(LongFormSerializer):
    """A cell whose rater cannot tell."""

    reason = serializers.CharField()
    at = serializers.DateTimeField()


class PageSerializer(serializers.Serializer[Any]):
    """A part of a long list."""

    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)


class PageFilterSerializer(serializers.Serializer[Any]):
    """The query string of a long list."""

    limit = serializers.IntegerField(required=False, min_value=1, max_value=MAX_LABELS_A_PAGE, default=100)
    offset = serializers.IntegerField(required=False, min_value=0, max_value=MAX_ID, default=0)


class LabelPageSerializer(PageSerializer):
    results = LabelSerializer(many=True)


class SkipPageSerializer(PageSerializer):
    results = SkipSerializer(many=True)


class SubmitSerializer(serializers.Serializer[Any]):
    confirm = serializers.BooleanField(default=False, help_text=_("What is still a draft is confirmed with it."))


class LabelFilterSerializer(serializers.Serializer[Any]):
    """The query string of a list of labels."""

    sheet = serializers.IntegerField(required=False, min_value=1, max_value=MAX_ID, help_text=_("Number of a sheet."))
    rater = serializers.CharField(required=False, help_text=_("Code of a rater."))
    question = serializers.CharField(
        required=False, help_text=_("Key of a question, or section.question where two sections share a key.")
    )
    limit = serializers.IntegerField(required=False, min_value=1, max_value=MAX_LABELS_A_PAGE, default=100)
    offset = serializers.IntegerField(required=False, min_value=0, max_value=MAX_ID, default=0)


class AnswerSerializer(serializers.Serializer[Any]):
    column = serializers.IntegerField(min_value=1, max_value=MAX_ID)
    question = serializers.SlugField(max_length=60, help_text=_("Key of a question of the column's section."))
    option = serializers.SlugField(
        max_length=60, required=False, allow_null=True, help_text=_("Key of an option; null clears.")
    )
    value = serializers.JSONField(
        required=False, allow_null=True, help_text=_("The answer instead, where the question has no options.")
    )
    note = serializers.CharField(required=False, default=None, allow_null=True, allow_blank=True, max_length=4000)
    skip = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=500,
        help_text=_("Why you cannot tell, with option null: the cell is skipped."),
    )

    def validate(self, answer: dict[str, Any]) -> dict[str, Any]:
        if "option" not in answer and "value" not in answer:
            raise serializers.ValidationError({"option": [self.fields["option"].error_messages["required"]]})
        answer = {"option": None, "value": None, **answer}
        if answer["option"] is not None and answer["value"] is not None:
            raise serializers.ValidationError({"value": [_("A cell is answered by an option or a value, not both.")]})
        if answer["skip"] and (answer["option"] is not None or answer["value"] is not None):
            raise serializers.ValidationError({"skip": [_("A cell is answered or skipped, not both.")]})
        return answer


class ChangeSerializer(serializers.Serializer[Any]):
    """Answers that are written together, all or none. The same key sent again is acknowledged and changes nothing."""

    key = serializers.UUIDField()
    answers = AnswerSerializer(many=True, allow_empty=False)

    def validate_answers(self, answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        cells = [(answer["column"], answer["question"]) for answer in answers]
        if len(set(cells)) < len(cells):
            sentence = _("A cell is answered twice in one request.")
            raise serializers.ValidationError({str(api_settings.NON_FIELD_ERRORS_KEY): [sentence]})
        return answers


class CellSerializer(serializers.Serializer[Any]):
    column = serializers.IntegerField(source="column_id")
    question = serializers.CharField()
    option = serializers.CharField(allow_null=True)
    value = serializers.JSONField(allow_null=True, help_text=_("The answer where it is no option."))
    asked = serializers.BooleanField(help_text=_("False where another answer switched the question off."))
    skip = serializers.CharField(help_text=_("Why the rater cannot tell; empty where they do not say so."))


class RecordedSerializer(serializers.Serializer[Any]):
    """What now stands in the columns that were touched, the consequences of the scheme's rules included."""

    key = serializers.UUIDField()
    state = serializers.ChoiceField(Assignment.State.choices)
    cells = CellSerializer(many=True)


class SeededSerializer(serializers.Serializer[Any]):
    seed = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, default=1, help_text=_("The same seed draws the same.")
    )


class ToDrawSerializer(SeededSerializer):
    """What a draw of who gets what is asked by, whatever is drawn."""

    digest = serializers.CharField(
        required=False, help_text=_("Of what was shown: nothing is changed where it would be something else now.")
    )


class DrawnSerializer(serializers.Serializer[Any]):
    """Who would get what, or got it."""

    digest = serializers.CharField(help_text=_("Send it on to have done what is shown, and nothing else."))


class RefusalSerializer(serializers.Serializer[Any]):
    detail = serializers.CharField(help_text=_("A sentence for people: what cannot be done, and why."))
