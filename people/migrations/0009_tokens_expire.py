"""Tokens get an expiry: those that exist are valid for 90 days from now. Passwords get the time they were set."""

from datetime import timedelta
from typing import Any

from django.db import migrations, models
from django.utils import timezone


def expire_existing(apps: Any, schema_editor: Any) -> None:
    token = apps.get_model("people", "ApiToken")
    token.objects.filter(expires_at=None).update(expires_at=timezone.now() + timedelta(days=90))


class Migration(migrations.Migration):
    dependencies = [("people", "0008_outgoing_mail")]

    operations = [
        migrations.AddField("user", "credentials_since", models.DateTimeField(blank=True, editable=False, null=True)),
        migrations.AddField("apitoken", "expires_at", models.DateTimeField(null=True)),
        migrations.RunPython(expire_existing, migrations.RunPython.noop),
        migrations.AlterField("apitoken", "expires_at", models.DateTimeField()),
    ]
