from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0017_answers_withheld")]

    operations = [
        migrations.AddField(
            model_name="item",
            name="answer_target",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="The culture that the answer is about which the item is made of. It is written once and is no "
                "content, so the item stays the same item.",
                max_length=250,
            ),
        ),
        migrations.AlterField(
            model_name="stage",
            name="own_items_only",
            field=models.BooleanField(default=False, help_text="A cohort gets only items of its own culture."),
        ),
    ]
