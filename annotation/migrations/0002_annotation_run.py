from django.db import migrations, models

# Keys of models' answers name their run: "run:<id>:<call>:<version>", and "file:run-<id>:..." of a run from a file.
# People choose their keys themselves, so theirs are not read.
FILL = """
UPDATE annotation_annotation a
SET run = substring(a.client_key from '^(?:run:|file:run-)([0-9]{1,18}):')::bigint
FROM people_rater r
WHERE r.id = a.rater_id AND r.kind = 'model' AND a.client_key ~ '^(?:run:|file:run-)[0-9]{1,18}:'
"""


class Migration(migrations.Migration):
    """Store with each answer of a model the run that it comes from."""

    dependencies = [("annotation", "0001_initial"), ("people", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="annotation",
            name="run",
            field=models.BigIntegerField(
                help_text="Id of the run that a model's answer comes from; no foreign key, since runs lie above. Null: a"
                " person answered, or the answer came in a file of a campaign.",
                null=True,
            ),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
