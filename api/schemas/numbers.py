"""What the answers look like: for the OpenAPI description alone. tests/api/test_numbers.py holds answers to it."""

from rest_framework import serializers as s


class BenchmarkName(s.Serializer):
    slug = s.CharField()
    name = s.CharField()


class EstimateSerializer(s.Serializer):
    """A number with its interval, or the reason there is none. All digits; `level` is the interval's confidence."""

    value = s.FloatField(allow_null=True)
    low = s.FloatField(allow_null=True)
    high = s.FloatField(allow_null=True)
    level = s.FloatField()
    resampled = s.CharField(help_text="The population the interval speaks of.")
    method = s.CharField()
    n_units = s.IntegerField()
    n_raters = s.IntegerField()
    n_ratings = s.IntegerField()
    missing_share = s.FloatField(allow_null=True)
    reason = s.CharField(allow_null=True, help_text="Why there is no value: a code.")
    reason_text = s.CharField(allow_null=True)
    interval_reason = s.CharField(allow_null=True)
    interval_reason_text = s.CharField(allow_null=True)
    extras = s.DictField()


class OptionLine(s.Serializer):
    key = s.CharField()
    label = s.CharField()
    values = s.DictField(child=s.CharField(), help_text="Value to words. The first is the default.")


class TableLine(s.Serializer):
    key = s.CharField()
    number = s.CharField(allow_blank=True, help_text="The paper's own.")
    title = s.CharField()
    needs = s.CharField()
    options = OptionLine(many=True)
    lacking = s.CharField(allow_blank=True, help_text="What is missing; empty where there is data.")
    address = s.CharField()


class Tables(s.Serializer):
    benchmark = BenchmarkName()
    tables = TableLine(many=True)


class RoundingSerializer(s.Serializer):
    decimals = s.IntegerField()
    scale = s.FloatField(help_text="100: the table shows percent.")
    cut = s.BooleanField(help_text="Further decimals are left off, not rounded.")


class Printed(s.Serializer):
    text = s.CharField()
    known = s.CharField(allow_blank=True, help_text="Why another number is right, where that is known.")


class ReasonSchema(s.Serializer):
    title = s.CharField(allow_blank=True)
    words = s.CharField(allow_blank=True)


class Cell(s.Serializer):
    shown = s.CharField(allow_blank=True, help_text="As the table shows it; empty without a value.")
    shown_interval = s.CharField(allow_blank=True)
    estimate = EstimateSerializer(allow_null=True)
    resampled = s.CharField(allow_blank=True, help_text="What the interval takes as drawn, in words.")
    left_out = s.CharField(allow_blank=True, help_text="How many of what a mean is over have no number, in words.")
    why = ReasonSchema(allow_null=True)
    rounding = RoundingSerializer(allow_null=True)
    empty = s.BooleanField(help_text="The table has no such cell.")
    printed = Printed(allow_null=True)
    mark = s.ChoiceField(["same", "rounding", "differs", ""], help_text="Beside the paper's number.")


class Row(s.Serializer):
    label = s.CharField()
    group = s.CharField(allow_blank=True)
    cells = Cell(many=True)


class RunLine(s.Serializer):
    id = s.IntegerField()
    model = s.CharField()
    setting = s.CharField(allow_blank=True)
    task = s.CharField()
    query_set = s.CharField(allow_blank=True)
    system_prompt = s.CharField(allow_blank=True)
    collection = s.CharField(allow_null=True, help_text="Key of what was searched; none of a linking run.")
    version = s.CharField(allow_null=True, help_text="Of the collection.")
    knowledge_base = s.CharField(allow_null=True, help_text="Key and version of what a linking run linked to.")
    digest = s.CharField(allow_blank=True)


class ChoiceLine(s.Serializer):
    key = s.CharField(help_text="The parameter of the address: collection, runs, campaigns, settings, ...")
    label = s.CharField()
    values = s.DictField(child=s.CharField(), help_text="All that can be chosen, with their labels.")
    chosen = s.ListField(child=s.CharField(), help_text="What this table was made from.")
    several = s.BooleanField(help_text="Whether several may be chosen: the parameter is repeated.")


class SignificanceMarks(s.Serializer):
    same = s.IntegerField()
    rounding = s.IntegerField()
    differs = s.IntegerField()


class TableSerializer(s.Serializer):
    benchmark = BenchmarkName()
    key = s.CharField()
    number = s.CharField(allow_blank=True)
    title = s.CharField()
    corner = s.CharField()
    columns = s.ListField(child=s.CharField())
    rows = Row(many=True)
    words = s.ListField(child=s.CharField())
    options = s.DictField(child=s.CharField(), help_text="Every choice in force, also of what was read.")
    choices = ChoiceLine(many=True, help_text="What there is to read, and what was read of it.")
    counted = s.ListField(child=s.CharField(), help_text="What was counted, in sentences.")
    selections = s.ListField(child=s.DictField(), help_text="The same for machines.")
    runs = RunLine(many=True)
    beside_the_paper = SignificanceMarks()
    stored = s.BooleanField(help_text="Large data: kept as it was at computed_at. fresh=1 makes it anew.")
    newer = s.IntegerField(help_text="Answers that came since.")
    changed = s.BooleanField(help_text="Whether anything has changed since: answers, or what is known of items.")
    asked = s.BooleanField(help_text="Whether fresh=1 has a worker make it anew: look again in a minute.")
    watermark = s.IntegerField()
    computed_at = s.DateTimeField()


class AgreementSerializer(s.Serializer):
    """As the page's JSON: `questions` are those of the sheet, by cohort; `rows` are cohorts, cells conditions.
    `estimates` are by measure."""

    benchmark = BenchmarkName()
    selection = s.DictField()
    counted = s.ListField(child=s.CharField())
    warnings = s.ListField(child=s.CharField())
    watermark = s.IntegerField()
    computed_at = s.DateTimeField()
    n_ratings = s.IntegerField()
    conditions = s.ListField(child=s.CharField())
    questions = s.ListField(child=s.DictField(), help_text="Every question of the sheet, by cohort.")
    rows = s.ListField(child=s.DictField())
    second_opinion = s.ListField(child=s.DictField(), required=False)


class ReportLine(s.Serializer):
    key = s.CharField()
    title = s.CharField()
    forms = s.ListField(child=s.CharField(), help_text="json, csv, tex: as suffixes of the address.")
    address = s.CharField()


class Reports(s.Serializer):
    reports = ReportLine(many=True)


class ReportSerializer(s.Serializer):
    """The members differ by report; each has what its page gives as JSON."""

    watermark = s.IntegerField(required=False)
    computed_at = s.DateTimeField(required=False)


class RefreshSerializer(s.Serializer):
    requested = s.BooleanField(help_text="False: nothing is kept for this selection; it is computed at every request.")


class FigureLine(s.Serializer):
    key = s.CharField()
    number = s.CharField(allow_blank=True, help_text="The paper's own.")
    title = s.CharField()
    needs = s.CharField()
    address = s.CharField()


class Figures(s.Serializer):
    figures = FigureLine(many=True)


class FigureSerializer(s.Serializer):
    """The data that is drawn, whole and not rounded."""

    key = s.CharField()
    title = s.CharField()
    alt = s.CharField(help_text="What is seen, with the main numbers.")
    columns = s.ListField(child=s.CharField())
    rows = s.ListField(child=s.ListField(), help_text="By columns: texts, numbers and null.")
    words = s.ListField(child=s.CharField(), help_text="What was counted.")
    watermark = s.IntegerField()
