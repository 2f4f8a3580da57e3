import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """A sign-in link is for the cohort it was made in; and a person knows when a password mail last left."""

    dependencies = [("people", "0001_initial")]
    operations = [
        migrations.AddField(
            model_name="signinlink",
            name="cohort",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="sign_in_links",
                to="people.cohort",
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="password_mailed_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
    ]
