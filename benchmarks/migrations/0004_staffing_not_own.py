from django.db import migrations, models


class Migration(migrations.Migration):
    """Let a stage leave out only those whose own question or answer an item is."""

    dependencies = [("benchmarks", "0003_stage_changes")]

    operations = [
        migrations.AlterField(
            model_name="stage",
            name="staffing",
            field=models.CharField(
                choices=[
                    ("anyone", "Anyone"),
                    ("others", "Only people who did not contribute to the item"),
                    ("contributors", "Only people who contributed to the item"),
                    ("not_own", "Only people whose question or answer it is not"),
                ],
                default="anyone",
                max_length=14,
            ),
        ),
    ]
