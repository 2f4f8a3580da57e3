from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("benchmarks", "0019_public_page")]

    operations = [
        migrations.AddIndex(
            model_name="item",
            index=models.Index(
                condition=models.Q(
                    ("withdrawn_at__isnull", False), ("intake__in", ["dropped", "waiting"]), _connector="OR"
                ),
                fields=["stage"],
                name="item_unusable",
            ),
        ),
    ]
