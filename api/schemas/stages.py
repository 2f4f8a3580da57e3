"""Stages as they are sent and taken: the parts that the composer writes, as JSON."""

from rest_framework import serializers as s

from api.schemas.problems import ProblemEntry

MOST_CAMPAIGNS = 100
PLAIN = "[{code, label: {language: text}}]"


class StageContent(s.Serializer):
    """What the composer writes. Each part is checked as there; docs/reference/sheets.md says what a sheet holds."""

    name = s.CharField(max_length=120, required=False)
    display = s.CharField(max_length=40, required=False, help_text="What is shown, such as image or words.")
    pictures = s.CharField(max_length=8, required=False, allow_blank=True, help_text="none, optional, one, named, set.")
    sheet = s.DictField(required=False, help_text="fields, checks and score.")
    skip_reasons = s.ListField(required=False, help_text=PLAIN)
    retire_after_skips = s.IntegerField(required=False, allow_null=True, min_value=1, max_value=1000)
    target_answers = s.IntegerField(required=False, min_value=0, max_value=1000)
    has_target = s.BooleanField(required=False, help_text="Each cohort is asked about its own culture.")
    target_in_all = s.BooleanField(required=False, help_text="The answers are wanted of all cohorts together.")
    own_items_only = s.BooleanField(required=False, help_text="A cohort gets only items of its own culture.")
    staffing = s.CharField(max_length=14, required=False, help_text="anyone, others, contributors or not_own.")
    acceptance = s.CharField(max_length=12, required=False, help_text="on_submit, by_rule or by_review.")
    acceptance_rule = s.DictField(required=False, help_text="clauses, over, least and score.")
    review_reasons = s.ListField(required=False, help_text=PLAIN)
    derivation = s.DictField(required=False, help_text="kind, from, of and params; empty: items are imported.")
    layout = s.DictField(required=False, help_text="show, fold, fold_label, gate, references and culture.")
    instructions = s.DictField(required=False, help_text="{language: text}")
    coverage = s.DictField(required=False, help_text="What is wanted of each cell.")


class StageSerializer(StageContent):
    id = s.IntegerField()
    key = s.CharField()
    position = s.IntegerField()
    version = s.IntegerField(help_text="Grows with every published change; 0: nothing is published yet.")
    filters = s.ListField(help_text="See filters/.")
    has_draft = s.BooleanField()


class NewStage(s.Serializer):
    """The last stage of the benchmark: blank, like another one, or as a draft of its own after that."""

    name = s.CharField(max_length=120)
    like = s.CharField(max_length=60, required=False, help_text="Key of a stage of the benchmark to copy.")


class StageProblemEntry(ProblemEntry):
    blocks = s.BooleanField(help_text="Whether it cannot be published so; else a warning.")


class DraftSerializer(s.Serializer):
    revision = s.CharField(help_text="Grows with every save and every publishing.")
    saved_at = s.DateTimeField(allow_null=True, help_text="Null: there is no draft; the content is what is published.")
    content = StageContent()
    problems = StageProblemEntry(many=True)


class Publishing(s.Serializer):
    campaigns = s.ListField(
        child=s.IntegerField(min_value=1, max_value=2**53), required=False, max_length=MOST_CAMPAIGNS,
        help_text="Running campaigns that get the new texts, where only texts changed.",
    )  # fmt: skip


class StageVersionSerializer(s.Serializer):
    number = s.IntegerField()
    published_at = s.DateTimeField()
    content = StageContent()


class FilterLine(s.Serializer):
    key = s.CharField(max_length=60, help_text="Names it in results.")
    kind = s.CharField(max_length=60, help_text="Such as aspect, shortest_side, fact, same_picture.")
    params = s.DictField(required=False)
    returns = s.BooleanField(required=False, help_text="What it drops goes back to who brought it.")


class StageFilters(s.Serializer):
    version = s.IntegerField(help_text="0: the stage never had filters.")
    filters = FilterLine(many=True)
    kept = s.IntegerField()
    dropped = s.IntegerField()
    waiting = s.IntegerField()
    by_hand = s.IntegerField(help_text="Decided by a person.")
    job = s.IntegerField(allow_null=True, help_text="That judges the items now.")


class NewFilters(s.Serializer):
    filters = FilterLine(many=True, max_length=30)


class CellLine(s.Serializer):
    row = s.CharField()
    column = s.CharField(allow_blank=True)
    cohort = s.IntegerField(allow_null=True)
    wanted = s.IntegerField()
    done = s.IntegerField()
    gap = s.CharField(allow_null=True, help_text="Why it is not full.")
    accepted = s.IntegerField(help_text="Items, as the next five.")
    in_work = s.IntegerField()
    left = s.IntegerField()
    waiting = s.IntegerField()
    retired = s.IntegerField()
    rejected = s.IntegerField()
    counted = s.IntegerField(help_text="Answers.")


class StageCoverage(s.Serializer):
    cells = CellLine(many=True, help_text="Empty where the stage wants nothing of cells.")
    wanted = s.IntegerField()
    done = s.IntegerField()
    full = s.IntegerField(help_text="Cells.")
    outside = s.IntegerField(help_text="Items that no cell is for.")
