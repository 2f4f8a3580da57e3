import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('benchmarks', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Snapshot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('report', models.CharField(max_length=60)),
                ('key', models.CharField(max_length=64)),
                ('watermark', models.BigIntegerField()),
                ('answers', models.BigIntegerField(default=0, help_text='How many answers there were to read.')),
                ('data', models.JSONField()),
                ('seconds', models.FloatField()),
                ('computed_at', models.DateTimeField()),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.benchmark')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'report', 'key'), name='snapshot_once')],
            },
        ),
    ]
