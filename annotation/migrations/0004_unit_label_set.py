import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0003_verdicts'),
        ('benchmarks', '0005_label_sets'),
    ]

    operations = [
        migrations.AddField(
            model_name='unit',
            name='label_set',
            field=models.ForeignKey(db_index=False, help_text="The version that the target is a label of; empty: a cohort's own label.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.labelset'),
        ),
        migrations.RemoveConstraint(
            model_name='unit',
            name='unit_once',
        ),
        migrations.AddConstraint(
            model_name='unit',
            constraint=models.UniqueConstraint(fields=('item', 'target', 'label_set'), name='unit_once', nulls_distinct=False),
        ),
        migrations.AddIndex(
            model_name='unit',
            index=models.Index(condition=models.Q(('label_set__isnull', False)), fields=['label_set'], name='unit_label_set'),
        ),
    ]
