import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# The database itself refuses to change or delete an event.
APPEND_ONLY = """
CREATE FUNCTION jobs_event_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'events are append-only'; END $$;
CREATE TRIGGER jobs_event_append_only BEFORE UPDATE OR DELETE ON jobs_event
FOR EACH ROW EXECUTE FUNCTION jobs_event_is_append_only();
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('people', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('title', models.CharField(max_length=200)),
                ('scope', models.CharField(db_index=True, max_length=60)),
                ('state', models.CharField(choices=[('queued', 'Waiting'), ('running', 'Running'), ('done', 'Done'), ('cancelled', 'Cancelled'), ('failed', 'Failed')], default='queued', max_length=10)),
                ('params', models.JSONField(default=dict)),
                ('cursor', models.JSONField(default=dict)),
                ('result', models.JSONField(default=dict)),
                ('error', models.TextField(blank=True)),
                ('done', models.PositiveIntegerField(default=0)),
                ('total', models.PositiveIntegerField(null=True)),
                ('cancel_asked', models.BooleanField(default=False)),
                ('lease_until', models.DateTimeField(null=True)),
                ('attempts', models.PositiveIntegerField(default=0, help_text='How often it was taken up: which worker has it now.')),
                ('given_back', models.PositiveIntegerField(default=0, help_text='How often a worker gave it back: no loss.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['state', 'lease_until'], name='job_live')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running']), ('finished_at__isnull', False), _connector='OR'), name='job_finished_has_time')],
            },
        ),
        migrations.CreateModel(
            name='JobRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=300)),
                ('outcome', models.CharField(choices=[('created', 'Added'), ('unchanged', 'Already exists'), ('updated', 'Updated'), ('error', 'Rejected')], max_length=10)),
                ('reason', models.CharField(blank=True, max_length=40)),
                ('message', models.TextField(blank=True)),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rows', to='jobs.job')),
            ],
            options={
                'indexes': [models.Index(fields=['job', 'outcome', 'number'], name='job_row_outcome')],
                'constraints': [models.UniqueConstraint(fields=('job', 'number'), name='job_row_once')],
            },
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('verb', models.CharField(max_length=60)),
                ('scope', models.CharField(blank=True, max_length=60)),
                ('target', models.CharField(blank=True, max_length=80)),
                ('data', models.JSONField(default=dict)),
                ('implied', models.BooleanField(default=False, help_text='Done by the system as an effect of something else.')),
                ('address', models.GenericIPAddressField(help_text='Where the request came from, where that is recorded.', null=True)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(fields=['scope', '-id'], name='event_scope')],
            },
        ),
        migrations.RunSQL(APPEND_ONLY),
    ]
