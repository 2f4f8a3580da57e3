from django.db import migrations, models


class Migration(migrations.Migration):
    """Counting up ends every session of a person, as a new password does."""

    dependencies = [("people", "0003_consent_in_force_never_changes")]
    operations = [
        migrations.AddField(
            model_name="user",
            name="sessions_ended",
            field=models.PositiveIntegerField(default=0, editable=False),
        ),
    ]
