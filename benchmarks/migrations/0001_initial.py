import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('people', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Item',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('concept', models.CharField(blank=True, max_length=120)),
                ('origin', models.CharField(blank=True, max_length=120)),
                ('condition', models.CharField(blank=True, max_length=60)),
                ('text', models.TextField(blank=True)),
                ('context', models.JSONField(default=dict)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('withdrawn_because', models.CharField(blank=True, help_text='"source": brought back with its source.', max_length=20)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('completed_at', models.DateTimeField(blank=True, help_text='When an import filled in what it lacked.', null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Benchmark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120, verbose_name='name')),
                ('slug', models.SlugField(unique=True)),
                ('purpose', models.TextField(blank=True, verbose_name='purpose')),
                ('recipe', models.CharField(blank=True, max_length=60)),
                ('recipe_version', models.CharField(blank=True, max_length=20)),
                ('citation', models.TextField(blank=True)),
                ('licence', models.CharField(blank=True, max_length=120)),
                ('pseudonym_key', models.CharField(editable=False, help_text='Secret; made when the benchmark is.', max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='benchmarks', to='people.team')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('pseudonym_key', ''), _negated=True), name='benchmark_has_pseudonym_key')],
            },
        ),
        migrations.CreateModel(
            name='Image',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64)),
                ('format', models.CharField(max_length=8)),
                ('bytes', models.PositiveBigIntegerField()),
                ('width', models.PositiveIntegerField(help_text='Upright, after the EXIF orientation.')),
                ('height', models.PositiveIntegerField()),
                ('orientation', models.PositiveSmallIntegerField(default=1)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='images', to='people.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'sha256'), name='image_once')],
            },
        ),
        migrations.CreateModel(
            name='ItemFact',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=60)),
                ('value', models.JSONField()),
                ('source', models.CharField(max_length=120)),
                ('version', models.CharField(blank=True, max_length=60)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='facts', to='benchmarks.item')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('item', 'key', 'source', 'version'), name='item_fact_once')],
            },
        ),
        migrations.CreateModel(
            name='ItemImage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(default='image', max_length=30)),
                ('alt', models.CharField(blank=True, max_length=300)),
                ('source', models.CharField(blank=True, max_length=500)),
                ('licence', models.CharField(blank=True, max_length=120)),
                ('file_name', models.CharField(blank=True, help_text='Path in the import that brought it.', max_length=500)),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='uses', to='benchmarks.image')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='images', to='benchmarks.item')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('item', 'role'), name='item_image_role_once')],
            },
        ),
        migrations.CreateModel(
            name='Role',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(choices=[('owner', 'Owner'), ('researcher', 'Researcher'), ('reviewer', 'Reviewer')], max_length=12)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='roles', to='benchmarks.benchmark')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='benchmark_roles', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'user'), name='role_once')],
            },
        ),
        migrations.CreateModel(
            name='Stage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.SlugField(max_length=60)),
                ('name', models.CharField(max_length=120, verbose_name='name')),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('display', models.CharField(max_length=40)),
                ('sheet', models.JSONField(help_text='See annotation.sheets.sheet.Sheet.')),
                ('skip_reasons', models.JSONField(default=list, help_text='[{code, label: {language: text}}]')),
                ('has_target', models.BooleanField(default=True, help_text="The cohort's own label is part of the unit.")),
                ('target_answers', models.PositiveSmallIntegerField(default=3)),
                ('acceptance', models.CharField(choices=[('on_submit', 'Accepted when submitted'), ('by_rule', 'Accepted by a rule'), ('by_review', 'Accepted by a reviewer')], default='on_submit', max_length=12)),
                ('acceptance_rule', models.JSONField(blank=True, default=dict, help_text='See benchmarks.rules.acceptance.Rule.')),
                ('review_reasons', models.JSONField(blank=True, default=list, help_text='[{code, label: {language: text}}]')),
                ('derivation', models.JSONField(blank=True, default=dict, help_text='See benchmarks.rules.derivations.Derivation.')),
                ('staffing', models.CharField(choices=[('anyone', 'Anyone'), ('others', 'Only people who did not contribute to the item'), ('contributors', 'Only people who contributed to the item')], default='anyone', max_length=14)),
                ('own_items_only', models.BooleanField(default=False, help_text='A cohort gets only items whose origin is its label.')),
                ('layout', models.JSONField(blank=True, default=dict, help_text='See annotation.displays.layout.Layout.')),
                ('pictures', models.CharField(choices=[('none', 'None'), ('optional', 'One or none'), ('one', 'One'), ('named', 'Several, each with a role'), ('set', 'Any number')], default='one', help_text='Of an item.', max_length=8)),
                ('retire_after_skips', models.PositiveSmallIntegerField(blank=True, help_text='In one cohort.', null=True)),
                ('instructions', models.JSONField(default=dict, help_text='{language: text}, what a campaign starts with.')),
                ('version', models.PositiveIntegerField(default=1, help_text='Grows with every published change.')),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='stages', to='benchmarks.benchmark')),
            ],
            options={
                'ordering': ['position', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'key'), name='stage_key_once')],
            },
        ),
        migrations.AddField(
            model_name='item',
            name='stage',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='items', to='benchmarks.stage'),
        ),
        migrations.AddIndex(
            model_name='item',
            index=models.Index(fields=['stage', 'condition', 'concept'], name='item_cut'),
        ),
        migrations.AddConstraint(
            model_name='item',
            constraint=models.UniqueConstraint(fields=('stage', 'key'), name='item_key_once'),
        ),
    ]
