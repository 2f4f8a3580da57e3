import django.db.models.deletion
import django.db.models.expressions
from django.conf import settings
from django.db import migrations, models

# Rows that are updated with every claim keep free space on their page, so that an update changes no index entry (HOT),
# and are vacuumed long before a fifth of the table is dead, which is PostgreSQL's default.
FILL_FACTORS = {
    "annotation_slot": 70,
    "annotation_assignment": 70,
    "annotation_tally": 50,
    "annotation_participation": 70,
    "annotation_draft": 70,
}
STORAGE = (
    "ALTER TABLE {table} SET (fillfactor={factor}, autovacuum_vacuum_scale_factor=0.02, "
    "autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_cost_delay=0)"
)


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('benchmarks', '0001_initial'),
        ('people', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='Campaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120, verbose_name='name')),
                ('summary', models.CharField(blank=True, max_length=200, verbose_name='what people are asked to do, in one sentence')),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('open', 'Open'), ('paused', 'Paused'), ('closed', 'Closed')], default='draft', max_length=8)),
                ('conditions', models.JSONField(default=list, help_text='Only items of these conditions; empty means all.')),
                ('opens_on', models.DateField(blank=True, null=True, verbose_name='opens on')),
                ('closes_on', models.DateField(blank=True, null=True, verbose_name='closes on')),
                ('lease_minutes', models.PositiveSmallIntegerField(default=30)),
                ('seed', models.BigIntegerField(default=0, help_text='Of the order in which units are handed out.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('opened_at', models.DateTimeField(blank=True, null=True)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('stage', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='benchmarks.stage')),
            ],
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('repeat', models.PositiveSmallIntegerField(db_default=0, default=0, help_text='Of a model that was asked the same several times; people are asked once.')),
                ('state', models.CharField(choices=[('reserved', 'In progress'), ('submitted', 'Submitted'), ('returned', 'Returned to you'), ('accepted', 'Accepted'), ('rejected', 'Not accepted'), ('skipped', 'Skipped'), ('released', 'Time ran out')], default='reserved', max_length=10)),
                ('in_hand', models.BooleanField(default=True, help_text='False: the one ahead, whose picture is loading.')),
                ('lease_until', models.DateTimeField(null=True)),
                ('reserved_at', models.DateTimeField()),
                ('shown_at', models.DateTimeField(null=True)),
                ('changed_at', models.DateTimeField()),
                ('skip_reason', models.CharField(blank=True, max_length=40)),
                ('skip_note', models.CharField(blank=True, max_length=300)),
                ('rater', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='people.rater')),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotation.campaign')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state', 'reserved')), fields=['lease_until'], name='assignment_leases'), models.Index(fields=['rater', '-changed_at'], name='assignment_history'), models.Index(condition=models.Q(('state', 'submitted')), fields=['campaign', 'changed_at'], name='assignment_waiting')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('state', 'reserved'), _negated=True), ('lease_until__isnull', False), _connector='OR'), name='reserved_has_lease'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'skipped'), _negated=True), models.Q(('skip_reason', ''), _negated=True), _connector='OR'), name='skipped_has_reason')],
            },
        ),
        migrations.CreateModel(
            name='CampaignCohort',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('target_answers', models.PositiveSmallIntegerField()),
                ('most_per_person', models.PositiveIntegerField(blank=True, help_text='Answers one person may give.', null=True)),
                ('most_per_day', models.PositiveIntegerField(blank=True, help_text="On the cohort's calendar.", null=True)),
                ('paused', models.BooleanField(default=False)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='cohorts', to='annotation.campaign')),
                ('cohort', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='people.cohort')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'cohort'), name='campaign_cohort_once'), models.CheckConstraint(condition=models.Q(('target_answers__gte', 1)), name='target_answers_positive')],
            },
        ),
        migrations.CreateModel(
            name='Draft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('answers', models.JSONField(default=dict)),
                ('trace', models.JSONField(default=dict, help_text='As Annotation.trace, so far.')),
                ('version', models.PositiveIntegerField(default=0)),
                ('saved_at', models.DateTimeField()),
                ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='draft', to='annotation.assignment')),
            ],
        ),
        migrations.CreateModel(
            name='Due',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='benchmarks.item')),
                ('stage', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='due', to='benchmarks.stage')),
            ],
        ),
        migrations.CreateModel(
            name='Exclusion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('lifted_at', models.DateTimeField(blank=True, null=True)),
                ('benchmark', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='exclusions', to='benchmarks.benchmark')),
                ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('lifted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='exclusions', to='people.rater')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('lifted_at__isnull', True)), fields=('benchmark', 'rater'), name='exclusion_live_once')],
            },
        ),
        migrations.CreateModel(
            name='InstructionVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('required', models.BooleanField(default=False, help_text='To be gone through before work, also by those who began.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='instruction_versions', to='annotation.campaign')),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'number'), name='instruction_version_once')],
            },
        ),
        migrations.CreateModel(
            name='InstructionText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(max_length=12)),
                ('body', models.TextField()),
                ('parts', models.JSONField(blank=True, default=dict)),
                ('cohort', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='people.cohort')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='texts', to='annotation.instructionversion')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('version', 'language', 'cohort'), name='instruction_text_once', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='Annotation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveSmallIntegerField()),
                ('client_key', models.CharField(max_length=64)),
                ('answers', models.JSONField()),
                ('rule_version', models.CharField(blank=True, max_length=20)),
                ('language', models.CharField(max_length=12)),
                ('shown_at', models.DateTimeField()),
                ('submitted_at', models.DateTimeField()),
                ('active_seconds', models.FloatField(help_text='Idle time removed; as the browser measured it.', null=True)),
                ('confirmed', models.JSONField(default=list, help_text='Warnings the person confirmed.')),
                ('trace', models.JSONField(default=dict, help_text='What was opened, and when: see annotation.trace.')),
                ('live', models.BooleanField(default=True)),
                ('counted', models.BooleanField(default=True)),
                ('uncounted_because', models.CharField(blank=True, max_length=20)),
                ('at_submit', models.CharField(blank=True, db_default='', default='', help_text='Why it could not count when it came (closed, no_consent, ...). Never changes.', max_length=20)),
                ('cohort', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='people.cohort')),
                ('rater', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='annotations', to='people.rater')),
                ('assignment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='annotations', to='annotation.assignment')),
                ('instruction_version', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.instructionversion')),
            ],
            options={
                'indexes': [models.Index(fields=['rater', '-submitted_at'], name='annotation_history'), models.Index(condition=models.Q(('uncounted_because', 'consent_withdrawn')), fields=['assignment'], name='annotation_left_out')],
                'constraints': [models.UniqueConstraint(fields=('assignment', 'version'), name='annotation_version_once'), models.UniqueConstraint(condition=models.Q(('live', True)), fields=('assignment',), name='annotation_live_once'), models.UniqueConstraint(fields=('rater', 'client_key'), name='annotation_submit_once'), models.CheckConstraint(condition=models.Q(('live', True), ('counted', False), _connector='OR'), name='annotation_counted_is_live'), models.CheckConstraint(condition=models.Q(('counted', True), models.Q(('uncounted_because', ''), _negated=True), _connector='OR'), name='annotation_uncounted_has_reason')],
            },
        ),
        migrations.CreateModel(
            name='ItemContributor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='contributors', to='benchmarks.item')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='people.rater')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('item', 'rater'), name='item_contributor_once')],
            },
        ),
        migrations.CreateModel(
            name='ItemSource',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('annotation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='derived', to='annotation.annotation')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sources', to='benchmarks.item')),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='derived', to='benchmarks.item')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('item', 'source', 'annotation'), name='item_source_once', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='Participation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('cursor', models.BigIntegerField(default=0)),
                ('urgent_cursor', models.BigIntegerField(db_default=0, default=0, help_text='The same, among urgent slots.')),
                ('last_seen_at', models.DateTimeField()),
                ('cohort', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='participations', to='annotation.campaigncohort')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='participations', to='people.rater')),
            ],
            options={
                'indexes': [models.Index(fields=['cohort', 'last_seen_at'], name='participation_active')],
                'constraints': [models.UniqueConstraint(fields=('cohort', 'rater'), name='participation_once')],
            },
        ),
        migrations.AddField(
            model_name='assignment',
            name='participation',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotation.participation'),
        ),
        migrations.CreateModel(
            name='ProblemReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField()),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('answered_at', models.DateTimeField(blank=True, null=True)),
                ('answer', models.TextField(blank=True)),
                ('answered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='problems', to='annotation.assignment')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='people.rater')),
            ],
        ),
        migrations.CreateModel(
            name='Readiness',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seen', models.JSONField(default=dict, help_text='{material key: seconds it was open}')),
                ('answers', models.JSONField(default=dict, help_text='{question key: code}, the last try.')),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('passed_at', models.DateTimeField(null=True)),
                ('participation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='readiness', to='annotation.participation')),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.instructionversion')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('participation', 'version'), name='readiness_once')],
            },
        ),
        migrations.CreateModel(
            name='Review',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('decision', models.CharField(choices=[('accept', 'Accept'), ('return', 'Return to author'), ('reject', 'Reject')], max_length=6)),
                ('reason', models.CharField(blank=True, max_length=40)),
                ('comment', models.TextField(blank=True)),
                ('at', models.DateTimeField()),
                ('undone_at', models.DateTimeField(null=True)),
                ('seen_at', models.DateTimeField(help_text='When its author saw it.', null=True)),
                ('annotation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='annotation.annotation')),
                ('reviewer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('undone_at', None)), fields=('annotation',), name='review_live_once'), models.CheckConstraint(condition=models.Q(('decision', 'accept'), models.Q(('reason', ''), _negated=True), _connector='OR'), name='review_says_why')],
            },
        ),
        migrations.CreateModel(
            name='RuleVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField()),
                ('definition', models.JSONField(help_text='See benchmarks.rules.acceptance.Rule.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('stage', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rule_versions', to='benchmarks.stage')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('stage', 'number'), name='rule_version_once')],
            },
        ),
        migrations.AddField(
            model_name='campaign',
            name='rule_version',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='annotation.ruleversion'),
        ),
        migrations.CreateModel(
            name='SheetVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('major', models.PositiveSmallIntegerField()),
                ('minor', models.PositiveSmallIntegerField()),
                ('definition', models.JSONField(help_text='See annotation.sheets.sheet.Sheet.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('stage', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sheet_versions', to='benchmarks.stage')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('stage', 'major', 'minor'), name='sheet_version_once')],
            },
        ),
        migrations.AddField(
            model_name='campaign',
            name='sheet_version',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to='annotation.sheetversion'),
        ),
        migrations.AddField(
            model_name='annotation',
            name='sheet_version',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.sheetversion'),
        ),
        migrations.CreateModel(
            name='Slot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.BigIntegerField()),
                ('wanted', models.PositiveSmallIntegerField()),
                ('urgent', models.BooleanField(db_default=False, default=False, help_text='Handed out before all that are not.')),
                ('retired', models.BooleanField(db_default=False, default=False, help_text='Skipped too often in this cohort; gets no new places.')),
                ('reserved', models.SmallIntegerField(default=0)),
                ('submitted', models.SmallIntegerField(default=0)),
                ('open', models.GeneratedField(db_persist=True, expression=models.Q(('wanted__gt', django.db.models.expressions.CombinedExpression(models.F('reserved'), '+', models.F('submitted')))), output_field=models.BooleanField())),
                ('cohort', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='slots', to='annotation.campaigncohort')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('reserved__gte', 0)), name='slot_reserved_not_negative'), models.CheckConstraint(condition=models.Q(('submitted__gte', 0)), name='slot_submitted_not_negative'), models.CheckConstraint(condition=models.Q(('wanted__gte', django.db.models.expressions.CombinedExpression(models.F('reserved'), '+', models.F('submitted')))), name='slot_never_overshoots')],
            },
        ),
        migrations.AddField(
            model_name='assignment',
            name='slot',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotation.slot'),
        ),
        migrations.CreateModel(
            name='StageDraft',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('content', models.JSONField()),
                ('version', models.PositiveIntegerField(default=0)),
                ('saved_at', models.DateTimeField()),
                ('saved_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('stage', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='draft', to='benchmarks.stage')),
            ],
        ),
        migrations.CreateModel(
            name='StageVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('content', models.JSONField()),
                ('published_at', models.DateTimeField()),
                ('published_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('stage', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='benchmarks.stage')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('stage', 'number'), name='stage_version_once')],
            },
        ),
        migrations.CreateModel(
            name='Tally',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shard', models.PositiveSmallIntegerField()),
                ('wanted', models.BigIntegerField(default=0)),
                ('submitted', models.BigIntegerField(default=0)),
                ('skipped', models.BigIntegerField(default=0)),
                ('changes', models.BigIntegerField(default=0)),
                ('cohort', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tallies', to='annotation.campaigncohort')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('cohort', 'shard'), name='tally_once')],
            },
        ),
        migrations.CreateModel(
            name='Unit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('target', models.CharField(blank=True, max_length=120)),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='units', to='benchmarks.item')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('item', 'target'), name='unit_once')],
            },
        ),
        migrations.AddField(
            model_name='slot',
            name='unit',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='slots', to='annotation.unit'),
        ),
        migrations.CreateModel(
            name='Rating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('field', models.CharField(max_length=60)),
                ('code', models.CharField(max_length=120)),
                ('value', models.FloatField(null=True)),
                ('live', models.BooleanField(default=True)),
                ('counted', models.BooleanField(default=True)),
                ('annotation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='ratings', to='annotation.annotation')),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.campaign')),
                ('cohort', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='people.cohort')),
                ('rater', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='ratings', to='people.rater')),
                ('unit', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='ratings', to='annotation.unit')),
            ],
            options={
                'indexes': [models.Index(fields=['campaign', 'field', 'cohort'], name='rating_read')],
                'constraints': [models.UniqueConstraint(fields=('annotation', 'field'), name='rating_once')],
            },
        ),
        migrations.CreateModel(
            name='Outcome',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('accepted', 'Accepted'), ('rejected', 'Not accepted'), ('undecided', 'Not decided')], max_length=10)),
                ('failed', models.JSONField(default=list, help_text='Keys of the clauses that failed, the first one first.')),
                ('numbers', models.JSONField(default=dict, help_text='What the clauses were decided on; the score, if the rule has one.')),
                ('answers', models.PositiveSmallIntegerField(help_text='How many answers it was decided on.')),
                ('at', models.DateTimeField()),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='outcomes', to='annotation.campaign')),
                ('rule_version', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.ruleversion')),
                ('unit', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='outcomes', to='annotation.unit')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'unit'), name='outcome_once')],
            },
        ),
        migrations.AddField(
            model_name='assignment',
            name='unit',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotation.unit'),
        ),
        migrations.CreateModel(
            name='Upload',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fetched_from', models.CharField(blank=True, help_text='Empty when it came as a file.', max_length=2000)),
                ('at', models.DateTimeField()),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='uploads', to='annotation.assignment')),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='uploads', to='benchmarks.image')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('assignment', 'image'), name='upload_once')],
            },
        ),
        migrations.AddIndex(
            model_name='slot',
            index=models.Index(condition=models.Q(('open', True)), fields=['cohort', 'position'], include=('unit',), name='slot_open'),
        ),
        migrations.AddIndex(
            model_name='slot',
            index=models.Index(condition=models.Q(('open', True), ('urgent', True)), fields=['cohort', 'position'], include=('unit',), name='slot_urgent'),
        ),
        migrations.AddConstraint(
            model_name='slot',
            constraint=models.UniqueConstraint(fields=('cohort', 'unit'), name='slot_once'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(condition=models.Q(('state', 'released')), fields=['participation'], name='assignment_released'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(fields=('campaign', 'unit', 'rater', 'repeat'), name='assignment_once'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'reserved')), fields=('participation', 'in_hand'), name='one_in_hand_one_ahead'),
        ),
        *(migrations.RunSQL(STORAGE.format(table=table, factor=factor)) for table, factor in FILL_FACTORS.items()),
    ]
