import django.contrib.postgres.fields
from django.db import migrations, models

# Tokens from before there were scopes were made to read agreement and tables.
FILL = "UPDATE people_apitoken SET scopes = '{read}'"


class Migration(migrations.Migration):

    dependencies = [
        ('people', '0003_model_details'),
    ]

    operations = [
        migrations.AddField(
            model_name='apitoken',
            name='scopes',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=10), default=list, help_text='Values of Scope, at least one.', size=None),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
    ]
