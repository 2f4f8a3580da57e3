import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    """Roles of sources, own items of contributors, and the runs whose answers a stage judges."""

    dependencies = [
        ("annotation", "0002_annotation_run"),
        ("benchmarks", "0004_staffing_not_own"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="itemsource",
            name="role",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text='"item", "candidate" or "reference", or empty.',
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="itemcontributor",
            name="own",
            field=models.BooleanField(
                db_default=True, default=True, help_text="False where their answer is only a reference of the item."
            ),
        ),
        migrations.CreateModel(
            name="StageInput",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "run",
                    models.BigIntegerField(
                        default=0, help_text="Id of the run; no foreign key, since runs lie above."
                    ),
                ),
                ("state", models.CharField(choices=[("chosen", "Chosen"), ("left_out", "Left out")], max_length=8)),
                ("at", models.DateTimeField()),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "rater",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="people.rater"
                    ),
                ),
                (
                    "stage",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="inputs", to="benchmarks.stage"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("stage", "rater", "run"), name="stage_input_once")
                ],
            },
        ),
    ]
