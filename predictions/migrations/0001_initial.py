import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('annotation', '0001_initial'),
        ('benchmarks', '0001_initial'),
        ('jobs', '0001_initial'),
        ('people', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Call',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('repeat', models.PositiveSmallIntegerField(default=0)),
                ('state', models.CharField(choices=[('pending', 'Waiting'), ('running', 'In progress'), ('answered', 'Answered'), ('no_response', 'No response'), ('refused', 'Refused by the model'), ('unparseable', 'Unreadable reply'), ('out_of_range', 'Out of range'), ('over_budget', 'Not sent: budget exhausted'), ('failed', 'Failed')], default='pending', max_length=12)),
                ('reason', models.CharField(blank=True, max_length=40)),
                ('how', models.CharField(blank=True, max_length=10)),
                ('order', models.JSONField(default=list, help_text='In which order what was shuffled was shown.')),
                ('replies', models.JSONField(default=list)),
                ('notes', models.JSONField(default=dict)),
                ('cached', models.BooleanField(default=False, help_text='Every reply was there before; nothing was asked.')),
                ('attempts_made', models.PositiveSmallIntegerField(default=0)),
                ('cost', models.DecimalField(decimal_places=8, default=0, max_digits=14)),
                ('holder', models.CharField(blank=True, max_length=40)),
                ('lease_until', models.DateTimeField(null=True)),
                ('asked_at', models.DateTimeField(help_text='While it runs: when its request went out, if it costs money.', null=True)),
                ('not_before', models.DateTimeField(help_text='When it may be asked again.', null=True)),
                ('ended_at', models.DateTimeField(null=True)),
                ('annotation', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.annotation')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.item')),
                ('unit', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.unit')),
            ],
            options={
                'indexes': [models.Index(fields=['unit'], name='call_unit')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('state', 'running'), _negated=True), ('lease_until__isnull', False), _connector='OR'), name='running_call_has_lease'), models.CheckConstraint(condition=models.Q(('state__in', ['pending', 'running', 'answered']), models.Q(('reason', ''), _negated=True), _connector='OR'), name='ended_call_has_reason')],
            },
        ),
        migrations.CreateModel(
            name='Collection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.SlugField(max_length=60)),
                ('version', models.CharField(default='1', max_length=40)),
                ('name', models.CharField(max_length=120, verbose_name='name')),
                ('licence', models.CharField(blank=True, max_length=120)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='collections', to='benchmarks.benchmark')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('benchmark', 'key', 'version'), name='collection_version_once')],
            },
        ),
        migrations.CreateModel(
            name='Endpoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('openai', 'A server that speaks the OpenAI protocol'), ('open_clip', 'An encoder of images and texts (open_clip)'), ('detector', 'An object detector (transformers)'), ('grounding', 'Zero-shot grounding of words in images (transformers)')], default='openai', max_length=20, verbose_name='kind')),
                ('name', models.CharField(max_length=80, verbose_name='name')),
                ('base_url', models.CharField(blank=True, max_length=500, verbose_name='address')),
                ('secret', models.TextField(blank=True, editable=False)),
                ('secret_set_at', models.DateTimeField(editable=False, null=True)),
                ('offers', models.JSONField(default=list)),
                ('most_in_flight', models.PositiveSmallIntegerField(default=8, verbose_name='most requests at once')),
                ('per_minute', models.PositiveIntegerField(blank=True, null=True, verbose_name='most requests a minute')),
                ('timeout_seconds', models.PositiveSmallIntegerField(default=120, verbose_name='seconds to wait for an answer')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='endpoints', to='people.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='endpoint_name_once')],
            },
        ),
        migrations.CreateModel(
            name='Entry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('text', models.TextField(blank=True)),
                ('about', models.JSONField(default=dict)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='predictions.collection')),
                ('image', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.image')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('collection', 'key'), name='entry_key_once')],
            },
        ),
        migrations.CreateModel(
            name='KnowledgeBase',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.SlugField(max_length=60)),
                ('version', models.CharField(default='1', max_length=40)),
                ('name', models.CharField(max_length=120, verbose_name='name')),
                ('licence', models.CharField(blank=True, max_length=120)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='knowledge_bases', to='people.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'key', 'version'), name='knowledge_version_once')],
            },
        ),
        migrations.CreateModel(
            name='KnowledgeEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('lemmas', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=300), size=None)),
                ('gloss', models.TextField(blank=True)),
                ('title', models.CharField(blank=True, max_length=300)),
                ('text', models.TextField(blank=True)),
                ('language', models.CharField(blank=True, max_length=12)),
                ('base', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='predictions.knowledgebase')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('base', 'key'), name='knowledge_entry_once')],
            },
        ),
        migrations.CreateModel(
            name='KnowledgeImage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=300)),
                ('sha256', models.CharField(blank=True, db_index=True, max_length=64)),
                ('entry', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='images', to='predictions.knowledgeentry')),
                ('image', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.image')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('entry', 'name'), name='knowledge_image_once')],
            },
        ),
        migrations.CreateModel(
            name='KnowledgeIndex',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(help_text='The encoder, with its checkpoint.', max_length=200)),
                ('over', models.CharField(choices=[('images', 'Pictures'), ('lemmas', 'Names'), ('glosses', 'Glosses'), ('articles', 'Articles')], max_length=10)),
                ('dimensions', models.PositiveIntegerField(default=0)),
                ('count', models.PositiveBigIntegerField(default=0)),
                ('built_at', models.DateTimeField(null=True)),
                ('facts', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('base', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='indexes', to='predictions.knowledgebase')),
                ('endpoint', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='predictions.endpoint')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('base', 'model', 'over'), name='knowledge_index_once')],
            },
        ),
        migrations.CreateModel(
            name='Prices',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('table', models.JSONField(default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='prices', to='predictions.endpoint')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('endpoint', 'number'), name='prices_version_once')],
            },
        ),
        migrations.CreateModel(
            name='Query',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('query_set', models.CharField(blank=True, max_length=60)),
                ('key', models.CharField(max_length=200)),
                ('text', models.TextField(blank=True)),
                ('relevant', models.JSONField(default=list)),
                ('roles', models.JSONField(default=dict)),
                ('about', models.JSONField(default=dict)),
                ('collection', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='queries', to='predictions.collection')),
                ('image', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.image')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('collection', 'query_set', 'key'), name='query_key_once')],
            },
        ),
        migrations.CreateModel(
            name='Reply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=64)),
                ('number', models.PositiveSmallIntegerField(default=1)),
                ('request', models.JSONField()),
                ('body', models.JSONField()),
                ('created_at', models.DateTimeField()),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='replies', to='people.team')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'key', 'number'), name='reply_once')],
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('part', models.PositiveSmallIntegerField(default=0, help_text="Which of the call's requests.")),
                ('at', models.DateTimeField()),
                ('seconds', models.FloatField()),
                ('outcome', models.CharField(choices=[('reply', 'A reply'), ('rate_limit', 'Too many requests'), ('transient', 'Server error'), ('timeout', 'No reply in time'), ('connection', 'Connection failed'), ('not_allowed', 'Authentication failed'), ('permanent', 'Request rejected')], max_length=12)),
                ('status', models.PositiveSmallIntegerField(help_text='Of HTTP.', null=True)),
                ('tokens_in', models.PositiveIntegerField(null=True)),
                ('tokens_out', models.PositiveIntegerField(null=True)),
                ('cost', models.DecimalField(decimal_places=8, help_text='US dollars; null: unknown.', max_digits=14, null=True)),
                ('provider_id', models.CharField(blank=True, max_length=120)),
                ('error', models.CharField(blank=True, max_length=500)),
                ('call', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='predictions.call')),
                ('prices', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='predictions.prices')),
                ('reply', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='predictions.reply')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('call', 'number'), name='attempt_once')],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('model', models.CharField(blank=True, help_text='As the endpoint calls it.', max_length=200)),
                ('revision', models.CharField(blank=True, max_length=100)),
                ('prompt', models.CharField(blank=True, max_length=60)),
                ('prompt_version', models.CharField(blank=True, max_length=20)),
                ('prompt_options', models.JSONField(default=dict)),
                ('decoding', models.JSONField(default=dict, help_text='temperature, max_tokens, top_p, seed, and how it is read.')),
                ('selection', models.JSONField(default=dict)),
                ('repeats', models.PositiveSmallIntegerField(default=1)),
                ('seed', models.BigIntegerField(default=0, help_text='Of what is shuffled or drawn.')),
                ('budget', models.DecimalField(blank=True, decimal_places=4, help_text='US dollars.', max_digits=12, null=True)),
                ('unaccounted', models.DecimalField(decimal_places=8, default=0, help_text='What requests of unknown cost (cut off, lost with a worker) may have cost at most; US dollars.', max_digits=14)),
                ('state', models.CharField(choices=[('draft', 'Not started'), ('running', 'Running'), ('paused', 'Paused'), ('cancelled', 'Stopped'), ('done', 'Done'), ('failed', 'Failed')], default='done', max_length=10)),
                ('stopped_because', models.CharField(blank=True, max_length=40)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('task', models.CharField(choices=[('retrieval', 'Retrieval: ranked lists'), ('forced_choice', 'Forced choice: similarities of candidates'), ('embedding', 'Embeddings'), ('answers', 'Answers to a sheet'), ('facts', 'Item facts'), ('linking', 'Entities linked to items')], max_length=20)),
                ('query_set', models.CharField(blank=True, max_length=60)),
                ('system_prompt', models.CharField(blank=True, max_length=60)),
                ('score_kind', models.CharField(blank=True, help_text='"cosine", "matching", ...', max_length=40)),
                ('options', models.JSONField(default=dict)),
                ('source', models.CharField(default='file', max_length=20)),
                ('digest', models.CharField(blank=True, help_text='SHA-256 of the file it came in.', max_length=64)),
                ('complete', models.BooleanField(default=False, help_text='Everything has come in; only then it is counted.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='benchmarks.benchmark')),
                ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='annotation.campaign')),
                ('collection', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='predictions.collection')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('endpoint', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='predictions.endpoint')),
                ('job', models.ForeignKey(help_text='The one that asks.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='jobs.job')),
                ('knowledge_index', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='predictions.knowledgeindex')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='people.rater')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('withdrawn_at', None)), fields=('collection', 'rater', 'task', 'query_set', 'system_prompt'), name='run_once'), models.UniqueConstraint(condition=models.Q(('task', 'answers'), ('withdrawn_at', None)), fields=('campaign', 'rater'), name='answers_run_once'), models.CheckConstraint(condition=models.Q(models.Q(('collection__isnull', False), ('task__in', ['retrieval', 'forced_choice', 'embedding'])), models.Q(('campaign__isnull', False), ('task', 'answers')), models.Q(('collection', None), ('task__in', ['facts', 'linking'])), _connector='OR'), name='run_over_something')],
            },
        ),
        migrations.CreateModel(
            name='Ranking',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('keys', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), size=None)),
                ('scores', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=None)),
                ('query', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rankings', to='predictions.query')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rankings', to='predictions.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'query'), name='ranking_once')],
            },
        ),
        migrations.CreateModel(
            name='EntityLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('keys', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), size=None)),
                ('scores', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=None)),
                ('neighbours', models.JSONField(default=list)),
                ('reason', models.CharField(blank=True, help_text='Why nothing was linked.', max_length=40)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.item')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='links', to='predictions.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'item'), name='link_once'), models.CheckConstraint(condition=models.Q(models.Q(('keys', []), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='no_link_has_reason')],
            },
        ),
        migrations.CreateModel(
            name='Embedding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('vector', models.BinaryField()),
                ('entry', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='predictions.entry')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='embeddings', to='predictions.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('run', 'entry'), name='embedding_once')],
            },
        ),
        migrations.AddField(
            model_name='call',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='calls', to='predictions.run'),
        ),
        migrations.AddIndex(
            model_name='call',
            index=models.Index(fields=['run', 'state', 'id'], name='call_of_run'),
        ),
        migrations.AddConstraint(
            model_name='call',
            constraint=models.UniqueConstraint(fields=('run', 'item', 'unit', 'repeat'), name='call_once', nulls_distinct=False),
        ),
    ]
