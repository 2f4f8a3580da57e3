"""The runs whose answers a stage judges, as they are sent and taken."""

from rest_framework import serializers as s

MOST_RUNS = 1000


class StageInputCounts(s.Serializer):
    answers = s.IntegerField(help_text="That count.")
    waiting = s.IntegerField(help_text="Of them those without an item.")
    items = s.IntegerField(help_text="Of the stage.")
    judged = s.IntegerField()
    unreadable = s.IntegerField(help_text="The judge's reply had no value.")
    renewed = s.IntegerField(help_text="Another version was judged.")
    without_answer = s.IntegerField(allow_null=True, help_text="Calls; null where the answers are of no run.")


class StageInputLine(StageInputCounts):
    id = s.CharField(help_text="Of the model and its run together.")
    model = s.CharField(help_text="Name in the tables.")
    setting = s.CharField(allow_blank=True)
    run = s.IntegerField(allow_null=True, help_text="Null: its answers came in a file.")
    chosen = s.BooleanField()


class StageInputsReply(s.Serializer):
    judges = s.BooleanField(help_text="Whether the stage judges or rates answers; else there is nothing to choose.")
    runs = StageInputLine(many=True)
    people = StageInputCounts(allow_null=True, help_text="Null: people's answers are not judged.")
    by_setting = s.ListField(child=s.CharField(), help_text="Runs of these prompt variants are chosen by themselves.")


class NewStageInputs(s.Serializer):
    chosen = s.ListField(
        child=s.CharField(max_length=60), max_length=MOST_RUNS, help_text="Each `id` that is chosen; no other run is."
    )
