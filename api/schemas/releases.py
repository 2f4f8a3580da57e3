"""Releases and exports, as they are sent and taken."""

from typing import Any

from rest_framework import serializers as s

from releases.writers.registry import BY_KEY

BIG = 2**53
FORMATS = ["csv", "jsonl", "parquet"]
VERSION = r"^[0-9.]{1,20}$"


class ReleaseSerializer(s.Serializer):
    """A frozen version. `job` builds it."""

    id = s.IntegerField()
    version = s.CharField()
    state = s.CharField(help_text="draft, ready, published or withdrawn.")
    notes = s.CharField(allow_blank=True)
    stages = s.ListField(child=s.CharField(), help_text="Keys.")
    formats = s.ListField(child=s.CharField())
    images = s.CharField(help_text="none, names, licensed, stripped, licensed_originals or originals.")
    embed = s.BooleanField(help_text="Whether the files of pictures are inside the Parquet files of items.")
    splits = s.DictField(child=s.IntegerField(), help_text="Shares in percent; empty: one split, train.")
    group_by = s.CharField(help_text="What stays together in a split: item, concept, origin or source.")
    seed = s.IntegerField(help_text="Of the splits.")
    withheld = s.CharField(allow_blank=True, help_text="The split whose answers are not in the files.")
    versions = s.BooleanField(help_text="Whether replaced and withdrawn answers are in it.")
    vectors = s.BooleanField(help_text="Whether vectors of embedding runs are in it.")
    parent = s.CharField(allow_null=True, help_text="Version of the published release before it.")
    job = s.IntegerField(allow_null=True)
    watermark = s.IntegerField(allow_null=True)
    manifest_sha256 = s.CharField(allow_blank=True)
    created_at = s.DateTimeField()
    frozen_at = s.DateTimeField(allow_null=True)
    built_at = s.DateTimeField(allow_null=True)
    published_at = s.DateTimeField(allow_null=True)
    withdrawn_at = s.DateTimeField(allow_null=True)
    withdrawn_because = s.CharField(allow_blank=True)


class WithdrawnSinceSerializer(s.Serializer):
    people = s.IntegerField()
    answers = s.IntegerField()


class VersionNeedSerializer(s.Serializer):
    """Which version a release must have at least, by what changed since an earlier one."""

    change = s.CharField(help_text="major, minor or patch.")
    lowest = s.CharField(help_text="The lowest version that is taken.")
    reasons = s.ListField(child=s.CharField(), help_text="Sentences.")


class ReleaseDetailSerializer(ReleaseSerializer):
    """`errors` must be put right and `warnings` confirmed before it is published."""

    errors = s.ListField(child=s.CharField())
    warnings = s.ListField(child=s.CharField())
    withdrawn_since = WithdrawnSinceSerializer(
        allow_null=True, help_text="Consent withdrawn since it was frozen; null before it is published."
    )
    rows = s.DictField(child=s.IntegerField(), help_text="By table.")
    need = VersionNeedSerializer(
        allow_null=True, help_text="Since the release before it; null where there is none, or nothing is frozen yet."
    )
    files = s.CharField(help_text="Address of its files.")


class ReleaseShares(s.Serializer):
    """In percent. They add up to 100."""

    train = s.IntegerField(min_value=0, max_value=100, required=False)
    validation = s.IntegerField(min_value=0, max_value=100, required=False)
    test = s.IntegerField(min_value=0, max_value=100, required=False)


class NewRelease(s.Serializer):
    """A draft; `build` writes its files. As the form of the page."""

    version = s.RegexField(VERSION, required=False, help_text="Three numbers; the proposed one without it.")
    stages = s.ListField(child=s.CharField(max_length=60), required=False, help_text="Keys; all with items without it.")
    formats = s.ListField(child=s.ChoiceField(FORMATS), required=False, help_text="All without it.")
    images = s.ChoiceField(
        ["none", "names", "licensed", "stripped", "licensed_originals", "originals"],
        required=False,
        help_text="Nothing; names and checksums alone; files without metadata of pictures that have a licence, which is"
        " the default; files without metadata of all; or files as they came.",
    )
    embed = s.BooleanField(
        required=False,
        help_text="Files of pictures as a column of the Parquet files of items, where there are both. Without it, if"
        " the pictures are less than 2 GB.",
    )
    splits = ReleaseShares(required=False)
    group_by = s.ChoiceField(["item", "concept", "origin", "source"], required=False, help_text="item without it.")
    seed = s.IntegerField(min_value=0, max_value=2**31 - 1, required=False, help_text="Of the splits; 0 without it.")
    withhold = s.BooleanField(required=False, help_text="Leave the answers of the split test out of the files.")
    versions = s.BooleanField(required=False, help_text="With replaced and withdrawn answers, in a file of their own.")
    vectors = s.BooleanField(required=False, help_text="With vectors of embedding runs.")
    notes = s.CharField(max_length=5000, required=False, allow_blank=True, help_text="What changed.")


class ReleaseBuildRequest(s.Serializer):
    """Nothing is needed."""

    version = s.RegexField(VERSION, required=False, help_text="Another version, where what changed needs a higher one.")


class ReleasePublication(s.Serializer):
    confirmed = s.BooleanField(required=False, help_text="The warnings of the release were read.")
    reason = s.CharField(
        max_length=2000, required=False, allow_blank=True, help_text="Why it is published in spite of its warnings."
    )


class ReleaseWithdrawal(s.Serializer):
    reason = s.CharField(max_length=2000, help_text="It stays on the page of the release.")


class ReleaseFileSerializer(s.Serializer):
    path = s.CharField()
    sha256 = s.CharField()
    bytes = s.IntegerField()
    rows = s.IntegerField(allow_null=True, help_text="Of a file of rows.")
    media_type = s.CharField()
    address = s.CharField()


class ReleaseFiles(s.Serializer):
    files = ReleaseFileSerializer(many=True)


class StateChangeSerializer(s.Serializer):
    before = s.CharField(allow_blank=True)
    now = s.CharField(allow_blank=True)
    rows = s.IntegerField()


class TableChanges(s.Serializer):
    table = s.CharField()
    before = s.IntegerField()
    now = s.IntegerField()
    added = s.IntegerField()
    removed = s.IntegerField()
    restated = s.IntegerField(help_text="Another state, such as counted.")
    changed = s.IntegerField(help_text="The same state and another content.")
    content = s.IntegerField(help_text="Items with another content of their own, such as text, context or picture.")
    states = StateChangeSerializer(many=True)
    columns_added = s.ListField(child=s.CharField())
    columns_removed = s.ListField(child=s.CharField())


class FileChanges(s.Serializer):
    added = s.ListField(child=s.CharField())
    removed = s.ListField(child=s.CharField())
    changed = s.ListField(child=s.CharField())


class PrintedNumberSerializer(s.Serializer):
    value = s.FloatField(allow_null=True)
    low = s.FloatField(allow_null=True)
    high = s.FloatField(allow_null=True)
    shown = s.CharField(allow_blank=True, help_text="With the digits that pages show.")
    interval = s.CharField(allow_blank=True)
    reason = s.CharField(allow_blank=True, help_text="Why there is no value.")
    items = s.IntegerField()
    raters = s.IntegerField()


class MainNumberSerializer(s.Serializer):
    """Agreement of people on a question in a cohort, as both releases printed it; null where one has none."""

    stage = s.CharField()
    question = s.CharField()
    cohort = s.CharField()
    measure = s.CharField()
    before = PrintedNumberSerializer(allow_null=True)
    now = PrintedNumberSerializer(allow_null=True)


class ReleaseChanges(s.Serializer):
    """From the frozen rows of both."""

    before = s.CharField(help_text="Version.")
    now = s.CharField(help_text="Version.")
    need = VersionNeedSerializer()
    tables = TableChanges(many=True)
    files = FileChanges()
    numbers = MainNumberSerializer(many=True)


class NewExport(s.Serializer):
    """As the form of the page."""

    stage = s.CharField(max_length=60, help_text="Key.")
    campaign = s.IntegerField(min_value=1, max_value=BIG, required=False, help_text="All of the stage without it.")
    format = s.ChoiceField(FORMATS, required=False, default="csv")
    versions = s.BooleanField(required=False, help_text="With replaced and withdrawn answers, in a file of their own.")

    def get_fields(self) -> dict[str, Any]:
        """`for` is a word of Python."""
        text = "The files of another tool instead of rows; `format` and `versions` say nothing then."
        return {**super().get_fields(), "for": s.ChoiceField(sorted(BY_KEY), required=False, help_text=text)}


class ExportFileSerializer(s.Serializer):
    name = s.CharField()
    bytes = s.IntegerField()
    sha256 = s.CharField()
    available_until = s.DateTimeField()
    address = s.CharField()


class ExportSerializer(s.Serializer):
    """A job, and its file once it is done; null before, and when it is no longer kept."""

    id = s.IntegerField(help_text="Of the job, too.")
    state = s.CharField(help_text="As of the job: queued, running, done, cancelled or failed.")
    stage = s.CharField()
    campaigns = s.ListField(child=s.IntegerField())
    format = s.CharField()
    versions = s.BooleanField()
    created_at = s.DateTimeField()
    error = s.CharField(allow_blank=True)
    file = ExportFileSerializer(allow_null=True)
