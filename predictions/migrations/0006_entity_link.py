from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("predictions", "0005_failed_runs")]

    operations = [migrations.RenameModel("Link", "EntityLink")]
