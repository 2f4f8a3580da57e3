from django.db import migrations, models


class Migration(migrations.Migration):
    """Count the changes of a stage's items, so that live pages and stored tables notice a withdrawn item."""

    dependencies = [("benchmarks", "0002_intake")]

    operations = [
        migrations.AddField(
            model_name="stage",
            name="changes",
            field=models.BigIntegerField(
                db_default=0, default=0, help_text="Grows with every item that is derived, withdrawn or restored."
            ),
        ),
    ]
