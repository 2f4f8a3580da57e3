from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("people", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="team",
            name="researchers_make_cohorts",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Owners and researchers of a benchmark may create the cohorts that its recipe names.",
            ),
        ),
    ]
