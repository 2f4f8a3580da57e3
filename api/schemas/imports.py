"""Uploads, pictures and imports, as they are sent and taken."""

from rest_framework import serializers as s

from releases.foreign.registry import READERS

SHA256 = r"^[0-9a-f]{64}$"
BIG = 2**53


class NewUpload(s.Serializer):
    size = s.IntegerField(min_value=1, max_value=BIG, help_text="Bytes of the whole.")


class UploadSerializer(s.Serializer):
    """Parts are sent by PATCH; `offset` is how much is here."""

    upload = s.CharField(help_text="Its name in addresses and imports.")
    size = s.IntegerField()
    offset = s.IntegerField()
    part_bytes = s.IntegerField(help_text="The most that a part may have.")


class MissingImages(s.Serializer):
    sha256 = s.ListField(child=s.RegexField(SHA256), max_length=5000)


class ImageSerializer(s.Serializer):
    sha256 = s.CharField()
    format = s.CharField()
    bytes = s.IntegerField()
    width = s.IntegerField()
    height = s.IntegerField()


class ForeignUploadRow(s.Serializer):
    """A file of another tool: a finished upload, and the name that it has there."""

    upload = s.CharField()
    name = s.CharField(max_length=200)


class DescribedPredictions(s.Serializer):
    """What a file of a model's answers does not say itself. The preview says what there is to choose from."""

    model = s.CharField(max_length=200, required=False, help_text="Needed where the file names no model.")
    setting = s.CharField(max_length=60, required=False, allow_blank=True, help_text="How it was asked.")
    about = s.DictField(required=False, help_text="Of the model: family, open, released, parameters.")
    key = s.CharField(max_length=200, required=False, help_text="Column that names the item.")
    target = s.CharField(max_length=200, required=False, allow_blank=True,
                         help_text="Column with the culture; =NAME: all are about this one.")  # fmt: skip
    only = s.CharField(max_length=200, required=False, allow_blank=True, help_text="Filter or scorer of the log.")
    field = s.CharField(max_length=120, required=False, help_text="Question that was answered; * for all of them.")
    rater = s.CharField(max_length=200, required=False, help_text="Which of the models of a table.")
    of_setting = s.CharField(max_length=60, required=False, allow_blank=True, help_text="Which of its settings.")


class PredictionsLook(s.Serializer):
    """What a file of a model's answers has to choose from. Numbers are of the rows that were looked at."""

    keys = s.DictField(child=s.IntegerField(), help_text="Columns that name items, in how many rows.")
    targets = s.DictField(child=s.IntegerField(), help_text="Columns that name cultures.")
    cultures = s.ListField(child=s.CharField())
    only = s.ListField(child=s.CharField())
    models = s.ListField(child=s.CharField())
    settings = s.ListField(child=s.CharField(allow_blank=True))
    questions = s.DictField(child=s.CharField(), help_text="Questions that it can answer.")


class NewImport(s.Serializer):
    """Files are names of finished uploads. `kind` items needs `table`, `archive` or both; answers and predictions need
    `table`. With `format` the files of another tool are imported: items, and answers where a campaign is named. `kind`
    people invites those of a `table` with email and note to a `cohort`; it needs the scope `admin`.
    """

    kind = s.ChoiceField(["items", "answers", "predictions", "people"], default="items")
    names = s.CharField(required=False, help_text="Upload, of predictions: the COCO file of the data set.")
    described = DescribedPredictions(required=False, help_text="Of predictions.")
    stage = s.CharField(
        required=False,
        help_text="Key; without it the one with the items of the recipe's paper, else the first not derived.",
    )
    campaign = s.IntegerField(required=False, min_value=1, max_value=BIG, help_text="Of answers.")
    table = s.CharField(required=False, help_text="Upload: a manifest, any table, or a file of answers.")
    table_name = s.CharField(required=False, max_length=200, default="table")
    archive = s.CharField(required=False, help_text="Upload: a zip with the pictures.")
    pictures = s.CharField(
        required=False, help_text="Upload: a JSON object, path to sha256, of pictures that the team has (`images`)."
    )
    mapping = s.DictField(required=False, help_text="Role to column, for a table with columns of its own.")
    encoding = s.CharField(required=False, help_text="Needed where neither a mark nor UTF-8 says it.")
    sheet = s.CharField(required=False, help_text="Of a workbook with several.")
    condition = s.CharField(required=False, allow_blank=True, max_length=60)
    source = s.CharField(required=False, allow_blank=True, max_length=500)
    licence = s.CharField(required=False, allow_blank=True, max_length=120)
    complete = s.BooleanField(required=False, help_text="Fill in what items that exist lack.")
    correct_facts = s.BooleanField(required=False)
    format = s.ChoiceField([reader.key for reader in READERS], required=False, help_text="Of another tool's `files`.")
    files = s.ListField(child=ForeignUploadRow(), max_length=50, required=False)
    cohort = s.CharField(
        required=False, max_length=120, help_text="Of `format`, whose answers these are; of people; by label."
    )
    makes_items = s.BooleanField(required=False, help_text="Of answers: make the items that the stage lacks.")


class ImportInParts(s.Serializer):
    """The same in one request: the files come with it. A file needs no name of an upload in `request`."""

    request = s.CharField(required=False, help_text="The other members, as a JSON object.")
    table = s.FileField(required=False)
    archive = s.FileField(required=False)
    pictures = s.FileField(required=False)
    names = s.FileField(required=False)
    files = s.ListField(child=s.FileField(), required=False, help_text="Of another tool, each with its name.")


class ColumnProposal(s.Serializer):
    column = s.CharField()
    role = s.CharField(allow_blank=True, help_text="Empty: it stays with the item.")
    reason = s.CharField()


class ForeignQuestion(s.Serializer):
    question = s.CharField()
    kind = s.CharField(help_text="single, several, scale, words or boxes.")
    options = s.ListField(child=s.CharField())


class ForeignRowProblem(s.Serializer):
    file = s.CharField()
    row = s.IntegerField()
    code = s.CharField()
    detail = s.CharField()


class ImportPreview(s.Serializer):
    """How a table would be read. `mapping` can be sent with the import as it is."""

    format = s.CharField(help_text="csv, lines, array, parquet or workbook.")
    encoding = s.CharField(allow_blank=True)
    separator = s.CharField(allow_blank=True)
    sheet = s.CharField(allow_blank=True)
    needs_mapping = s.BooleanField(help_text="Whether the columns are not those of a manifest.")
    columns = ColumnProposal(many=True)
    mapping = s.DictField()
    rows = s.ListField(child=s.DictField(child=s.CharField(allow_blank=True)), help_text="The first 20.")
    predictions = PredictionsLook(required=False, help_text="Of predictions.")
    program = s.CharField(required=False, allow_blank=True, help_text="Of another tool: what wrote the files.")
    items = s.IntegerField(required=False)
    answers = s.IntegerField(required=False)
    skips = s.IntegerField(required=False)
    raters = s.DictField(child=s.IntegerField(), required=False, help_text="Name to number of answers.")
    models = s.DictField(child=s.IntegerField(), required=False)
    questions = ForeignQuestion(many=True, required=False)
    left_out = s.DictField(child=s.IntegerField(), required=False, help_text="What has no place here, by kind.")
    problems = ForeignRowProblem(many=True, required=False, help_text="The first 20.")
    whole = s.BooleanField(required=False, help_text="False: only the first 20,000 entries were looked at.")
