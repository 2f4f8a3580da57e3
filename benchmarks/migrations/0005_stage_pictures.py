from django.db import migrations, models

MOVE = """
UPDATE benchmarks_stage SET
  pictures = CASE
    WHEN layout ->> 'pictures' IN ('none', 'optional', 'one', 'named', 'set') THEN layout ->> 'pictures'
    WHEN display = 'words' THEN 'none'
    WHEN display IN ('candidate', 'question') THEN 'optional'
    WHEN display IN ('pair', 'bare-pair') THEN 'named'
    WHEN display = 'contact' THEN 'set'
    ELSE 'one' END,
  layout = layout - 'pictures'
"""
BACK = "UPDATE benchmarks_stage SET layout = layout || jsonb_build_object('pictures', pictures) WHERE pictures <> 'one'"


class Migration(migrations.Migration):
    """How many pictures an item has becomes a column of the stage; the imported file name stays with the picture."""

    dependencies = [("benchmarks", "0004_own_items")]

    operations = [
        migrations.AddField(
            model_name="stage",
            name="pictures",
            field=models.CharField(
                choices=[
                    ("none", "None"),
                    ("optional", "One or none"),
                    ("one", "One"),
                    ("named", "Several, each with a role"),
                    ("set", "Any number"),
                ],
                default="one",
                help_text="Of an item.",
                max_length=8,
            ),
        ),
        migrations.AddField(
            model_name="itemimage",
            name="file_name",
            field=models.CharField(blank=True, help_text="Path in the import that brought it.", max_length=500),
        ),
        migrations.AddField(
            model_name="item",
            name="completed_at",
            field=models.DateTimeField(
                blank=True, help_text="When an import filled in what it lacked.", null=True
            ),
        ),
        migrations.RunSQL(MOVE, BACK),
    ]
