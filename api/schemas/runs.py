"""Runs of models as they are sent and taken."""

from rest_framework import serializers as s

BIG = 2**53


class NewRun(s.Serializer):
    """As the form of the page; what is left out is as the form proposes it."""

    campaign = s.IntegerField(min_value=1, max_value=BIG, required=False)
    stage = s.CharField(max_length=60, required=False, help_text="In place of `campaign`: key; its latest campaign.")
    endpoint = s.IntegerField(min_value=1, max_value=BIG, required=False)
    endpoint_name = s.CharField(
        max_length=80, required=False, help_text="In place of `endpoint`: as the team calls it, or its first word."
    )
    model = s.CharField(max_length=200, required=False, help_text="May be left out where the endpoint has one model.")
    revision = s.CharField(max_length=100, required=False, allow_blank=True)
    prompt = s.CharField(max_length=120, required=False, help_text="Key; the first that fits without it.")
    options = s.DictField(required=False, help_text="What the prompt takes, by its keys.")
    name = s.CharField(max_length=200, required=False, allow_blank=True, help_text="Of the rater, in the tables.")
    setting = s.CharField(max_length=60, required=False, allow_blank=True, help_text="Prompt variant.")
    temperature = s.FloatField(required=False)
    top_p = s.FloatField(required=False)
    max_tokens = s.IntegerField(required=False)
    decoding_seed = s.IntegerField(required=False)
    longest = s.IntegerField(required=False, help_text="Longest side of pictures, in pixels.")
    fresh = s.BooleanField(required=False, help_text="Cached replies are not used.")
    ways = s.ListField(child=s.CharField(), required=False, help_text="Answer methods.")
    conditions = s.ListField(child=s.CharField(), required=False)
    targets = s.ListField(child=s.CharField(), required=False)
    concepts = s.ListField(child=s.CharField(), required=False)
    asked_about = s.CharField(required=False)
    label_set = s.CharField(required=False)
    labels = s.ListField(child=s.CharField(), required=False)
    others = s.IntegerField(required=False)
    sample = s.IntegerField(required=False)
    draw = s.CharField(required=False)
    seed = s.IntegerField(required=False)
    repeats = s.IntegerField(required=False)
    budget = s.DecimalField(max_digits=12, decimal_places=4, required=False, help_text="US dollars.")
    follows = s.BooleanField(required=False, help_text="Items that come later are asked, too.")
    confirmed = s.IntegerField(
        min_value=0, max_value=BIG, required=False,
        help_text="How many units cannot be asked, as the plan said; 0 without it.",
    )  # fmt: skip


class CostRange(s.Serializer):
    low = s.CharField()
    high = s.CharField()


class RunPlanReply(s.Serializer):
    """`requests`: of the first unit, exactly as they would be sent; pictures by their SHA-256."""

    prompt = s.CharField()
    model = s.CharField()
    units = s.IntegerField()
    calls = s.IntegerField()
    cached = s.IntegerField()
    to_ask = s.IntegerField()
    cannot_be_asked = s.DictField(child=s.IntegerField(), help_text="By reason.")
    tokens_in = s.ListField(child=s.IntegerField(), help_text="At least, at most.")
    tokens_out = s.ListField(child=s.IntegerField(), help_text="At least, at most.")
    dollars = CostRange(allow_null=True, help_text="Null where the model has no price.")
    exact = s.BooleanField(help_text="Every unit was looked at; else it is scaled up.")
    item = s.CharField(help_text="Key of the first unit's item.")
    target = s.CharField(allow_blank=True)
    requests = s.ListField(child=s.DictField())


class RunSerializer(s.Serializer):
    id = s.IntegerField()
    task = s.CharField()
    state = s.CharField(help_text="draft, running, paused, cancelled, done or failed.")
    stopped_because = s.CharField(allow_blank=True)
    campaign = s.IntegerField(allow_null=True)
    endpoint = s.IntegerField(allow_null=True, help_text="Null where the answers came in a file.")
    rater = s.CharField(help_text="Name in the tables.")
    setting = s.CharField(allow_blank=True)
    model = s.CharField(allow_blank=True)
    revision = s.CharField(allow_blank=True)
    prompt = s.CharField(allow_blank=True)
    prompt_version = s.CharField(allow_blank=True)
    prompt_options = s.DictField()
    decoding = s.DictField()
    selection = s.DictField()
    repeats = s.IntegerField()
    seed = s.IntegerField()
    budget = s.CharField(allow_null=True)
    follows = s.BooleanField()
    job = s.IntegerField(allow_null=True)
    created_at = s.DateTimeField()
    started_at = s.DateTimeField(allow_null=True)
    finished_at = s.DateTimeField(allow_null=True)
    withdrawn_at = s.DateTimeField(allow_null=True)


class RunCost(s.Serializer):
    """`dollars`: as far as it is known; `calls_of_unknown_cost` says where it is not."""

    total = s.IntegerField()
    ended = s.IntegerField()
    in_flight = s.IntegerField()
    by_state = s.DictField(child=s.IntegerField())
    cached = s.IntegerField()
    tokens_in = s.IntegerField()
    tokens_out = s.IntegerField()
    dollars = s.CharField()
    unaccounted = s.CharField(help_text="What requests of unknown cost may have cost at most.")
    calls_of_unknown_cost = s.IntegerField()
    calls_a_minute = s.FloatField(allow_null=True)
    seconds_left = s.FloatField(allow_null=True)


class CallSerializer(s.Serializer):
    id = s.IntegerField()
    item = s.CharField()
    target = s.CharField(allow_blank=True)
    label_set = s.CharField(allow_blank=True)
    repeat = s.IntegerField()
    state = s.CharField()
    reason = s.CharField(allow_blank=True)
    how = s.CharField(allow_blank=True)
    order = s.ListField()
    answers = s.JSONField(allow_null=True)
    notes = s.DictField()
    cached = s.BooleanField()
    cost = s.CharField(allow_null=True)
    ended_at = s.DateTimeField(allow_null=True)
    replies = s.ListField(help_text="As they came.")
    attempts = s.ListField(child=s.DictField())
