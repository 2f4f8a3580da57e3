from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("predictions", "0003_running"),
    ]

    operations = [
        migrations.AddField(
            model_name="call",
            name="asked_at",
            field=models.DateTimeField(
                help_text="While it runs: when its request went out, if it costs money.", null=True
            ),
        ),
    ]
