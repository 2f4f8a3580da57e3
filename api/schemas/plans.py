"""Runs that are planned and started together, as they are sent and taken."""

from rest_framework import serializers as s

from api.schemas.runs import BIG, CostRange

MOST_ROWS = 100


class ModelConditionLine(s.Serializer):
    key = s.CharField()
    name = s.DictField(child=s.CharField(), help_text="By language.")
    stage = s.CharField()
    prompt = s.CharField()
    setting = s.CharField(allow_blank=True, help_text="Prompt variant.")
    campaign = s.IntegerField(allow_null=True, help_text="Whose items are asked; null: the stage is not open.")
    ready = s.BooleanField(help_text="Whether models can be asked under it now.")


class ModelConditions(s.Serializer):
    conditions = ModelConditionLine(many=True)


class PlannedModel(s.Serializer):
    endpoint = s.IntegerField(min_value=1, max_value=BIG, required=False)
    endpoint_name = s.CharField(
        max_length=80, required=False, help_text="In place of `endpoint`: as the team calls it, or its first word."
    )
    model = s.CharField(max_length=200)
    conditions = s.ListField(child=s.CharField(max_length=120), max_length=MOST_ROWS, help_text="Keys.")


class NewPlan(s.Serializer):
    """As the form *Ask models*: a run for each model and condition, with one budget and one seed."""

    models = PlannedModel(many=True, max_length=MOST_ROWS)
    budget = s.DecimalField(max_digits=12, decimal_places=4, required=False, help_text="US dollars, of all runs.")
    seed = s.IntegerField(required=False, help_text="0 without it.")
    asked_about = s.CharField(max_length=20, required=False, help_text="Where the recipe does not say it: cohorts.")
    confirmed = s.IntegerField(
        min_value=0, max_value=BIG, required=False,
        help_text="How many items cannot be asked, as the preview said; 0 without it.",
    )  # fmt: skip


class PlannedRunLine(s.Serializer):
    model = s.CharField()
    endpoint = s.IntegerField()
    condition = s.CharField()
    run = s.IntegerField(allow_null=True, help_text="That exists already and is not started again.")
    refused = s.CharField(allow_blank=True, help_text="Why it cannot start.")
    units = s.IntegerField(allow_null=True, help_text="Null, as the next two, where it exists or is refused.")
    to_ask = s.IntegerField(allow_null=True)
    cannot_be_asked = s.DictField(child=s.IntegerField(), allow_null=True, help_text="By reason.")
    dollars = CostRange(allow_null=True, help_text="Null where the model has no price.")


class PlanPreview(s.Serializer):
    new = s.IntegerField(help_text="Runs that would start.")
    existing = s.IntegerField()
    requests = s.IntegerField(help_text="That would be sent.")
    cannot_be_asked = s.IntegerField(help_text="Items, over all runs; `confirmed` of a new plan.")
    dollars = CostRange(allow_null=True)
    runs = PlannedRunLine(many=True)


class PlanSerializer(s.Serializer):
    id = s.IntegerField()
    state = s.CharField(help_text="What was last wanted of it: running, paused or cancelled.")
    budget = s.CharField(allow_null=True, help_text="US dollars.")
    seed = s.IntegerField()
    created_at = s.DateTimeField()
    runs = s.ListField(child=s.IntegerField())


class PlanChange(s.Serializer):
    budget = s.DecimalField(max_digits=12, decimal_places=4, help_text="US dollars, more than before.")


class PlanCost(s.Serializer):
    state = s.CharField(help_text="What its runs do: running, paused, cancelled, budget, waiting, attention or done.")
    answered = s.IntegerField()
    total = s.IntegerField()
    ended = s.IntegerField()
    failed = s.IntegerField(help_text="Runs.")
    dollars = s.CharField(help_text="As far as they are known.")
    unaccounted = s.CharField(help_text="What requests of unknown cost may have cost at most.")
    has_unknown_cost = s.BooleanField()
