import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

# The database itself refuses to change a published consent text. FOR SHARE waits for a publication in progress.
FROZEN_CONSENT = """
CREATE FUNCTION people_consent_text_is_kept() RETURNS trigger LANGUAGE plpgsql AS
$$
DECLARE published timestamptz;
BEGIN
    IF TG_OP <> 'INSERT' THEN
        SELECT published_at INTO published FROM people_consentversion WHERE id = OLD.version_id FOR SHARE;
        IF published IS NOT NULL THEN RAISE EXCEPTION 'a consent text in force never changes'; END IF;
    END IF;
    IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
    SELECT published_at INTO published FROM people_consentversion WHERE id = NEW.version_id FOR SHARE;
    IF published IS NOT NULL THEN RAISE EXCEPTION 'a consent text in force never changes'; END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER people_consent_text_kept BEFORE INSERT OR UPDATE OR DELETE ON people_consenttext
FOR EACH ROW EXECUTE FUNCTION people_consent_text_is_kept();
CREATE FUNCTION people_consent_version_is_kept() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'a consent version in force never changes'; END $$;
CREATE TRIGGER people_consent_version_kept BEFORE UPDATE OR DELETE ON people_consentversion
FOR EACH ROW WHEN (OLD.published_at IS NOT NULL) EXECUTE FUNCTION people_consent_version_is_kept();
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='Cohort',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('label', models.CharField(max_length=120, verbose_name='label')),
                ('names', models.JSONField(blank=True, default=dict, help_text='The label in other languages: code to text.')),
                ('country', models.CharField(blank=True, max_length=2, verbose_name='country (ISO code)')),
                ('languages', models.JSONField(blank=True, default=list)),
                ('direction', models.CharField(choices=[('ltr', 'Left to right'), ('rtl', 'Right to left')], default='ltr', max_length=3)),
                ('time_zone', models.CharField(default='UTC', max_length=60, verbose_name='time zone')),
                ('paused_at', models.DateTimeField(blank=True, help_text='Nobody of the cohort is given new work.', null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='ConsentVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('published_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120, verbose_name='name')),
                ('slug', models.SlugField(unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('email', models.EmailField(max_length=254, verbose_name='e-mail')),
                ('name', models.CharField(max_length=120, verbose_name='name')),
                ('language', models.CharField(blank=True, max_length=12, verbose_name='language')),
                ('time_zone', models.CharField(blank=True, max_length=60, verbose_name='time zone')),
                ('simulated', models.BooleanField(default=False, help_text='Not a person: created by the demo or a simulation.')),
                ('is_staff', models.BooleanField(default=False)),
                ('is_active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('password_mailed_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('sessions_ended', models.PositiveIntegerField(default=0, editable=False)),
                ('credentials_since', models.DateTimeField(blank=True, editable=False, null=True)),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'constraints': [models.UniqueConstraint(django.db.models.functions.text.Lower('email'), name='user_email_once')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('prefix', models.CharField(max_length=12)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('expires_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='CohortManager',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('cohort', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='managers', to='people.cohort')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='managed_cohorts', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('cohort', 'user'), name='cohort_manager_once')],
            },
        ),
        migrations.CreateModel(
            name='CohortMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('joined_at', models.DateTimeField(auto_now_add=True)),
                ('left_at', models.DateTimeField(blank=True, null=True)),
                ('cohort', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='members', to='people.cohort')),
                ('ended_by', models.ForeignKey(blank=True, help_text='Empty: they left.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='cohort_memberships', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('cohort', 'user'), name='cohort_member_once')],
            },
        ),
        migrations.CreateModel(
            name='ConsentText',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(max_length=12)),
                ('body', models.TextField()),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='texts', to='people.consentversion')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('version', 'language'), name='consent_text_once')],
            },
        ),
        migrations.CreateModel(
            name='Consent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('language', models.CharField(max_length=12)),
                ('given_at', models.DateTimeField(auto_now_add=True)),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('counts_earlier', models.BooleanField(db_default=False, default=False, help_text='Answers from before an earlier withdrawal count again.')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consents', to=settings.AUTH_USER_MODEL)),
                ('version', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consents', to='people.consentversion')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('withdrawn_at__isnull', True)), fields=('user', 'version'), name='consent_live_once')],
            },
        ),
        migrations.CreateModel(
            name='FailedSignIn',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('address', models.CharField(max_length=45)),
                ('network', models.CharField(max_length=49)),
                ('name', models.CharField(max_length=64)),
            ],
            options={
                'indexes': [models.Index(fields=['address', '-at'], name='failed_sign_in_address'), models.Index(fields=['network', '-at'], name='failed_sign_in_network'), models.Index(fields=['at'], name='failed_sign_in_at')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('team_role', models.CharField(blank=True, max_length=10)),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('note', models.CharField(blank=True, max_length=200)),
                ('cohort', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='invitations', to='people.cohort')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('used_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='invitations', to='people.team')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='EmailConfirmation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('email', models.EmailField(max_length=254)),
                ('name', models.CharField(max_length=120)),
                ('language', models.CharField(blank=True, max_length=12)),
                ('time_zone', models.CharField(blank=True, max_length=60)),
                ('invitation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='confirmations', to='people.invitation')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Message',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('body', models.TextField(max_length=4000)),
                ('sent_at', models.DateTimeField()),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('cohort', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='messages', to='people.cohort')),
            ],
        ),
        migrations.CreateModel(
            name='MessageRead',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('read_at', models.DateTimeField()),
                ('message', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reads', to='people.message')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('message', 'user'), name='message_read_once')],
            },
        ),
        migrations.CreateModel(
            name='OutMail',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('to', models.CharField(max_length=254)),
                ('kind', models.CharField(choices=[('invitation', 'Invitation'), ('confirmation', 'Confirmation of an address'), ('password', 'New password'), ('message', 'Message to a cohort'), ('test', 'Test e-mail'), ('none', 'Nothing to send')], max_length=12)),
                ('language', models.CharField(blank=True, max_length=12)),
                ('subject', models.CharField(blank=True, max_length=300)),
                ('body', models.TextField(blank=True)),
                ('site', models.CharField(blank=True, max_length=300)),
                ('state', models.CharField(choices=[('queued', 'Waiting'), ('sending', 'Waiting'), ('accepted', 'Accepted by the mail server'), ('retry', 'Retrying'), ('failed', 'Rejected by the mail server'), ('bounced', 'Bounced'), ('suppressed', 'Not sent'), ('no_server', 'No mail server is set up')], default='queued', max_length=10)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_at', models.DateTimeField(null=True)),
                ('message_id', models.CharField(max_length=200)),
                ('reply', models.CharField(blank=True, max_length=300)),
                ('scope', models.CharField(blank=True, max_length=60)),
                ('target', models.CharField(blank=True, max_length=80)),
                ('at', models.DateTimeField()),
                ('changed_at', models.DateTimeField()),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('state__in', ['queued', 'sending', 'retry'])), fields=['next_at'], name='out_mail_pending'), models.Index(fields=['target'], name='out_mail_target'), models.Index(fields=['to', 'kind'], name='out_mail_to')],
            },
        ),
        migrations.CreateModel(
            name='PasswordRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('address', models.CharField(max_length=45)),
                ('network', models.CharField(max_length=49)),
            ],
            options={
                'indexes': [models.Index(fields=['address', '-at'], name='password_request_address'), models.Index(fields=['network', '-at'], name='password_request_network'), models.Index(fields=['at'], name='password_request_at')],
            },
        ),
        migrations.CreateModel(
            name='SignInLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('token_hash', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('cohort', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='sign_in_links', to='people.cohort')),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sign_in_links', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Rater',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('person', 'Person'), ('model', 'Model')], max_length=8)),
                ('name', models.CharField(blank=True, max_length=200)),
                ('setting', models.CharField(blank=True, help_text='How a model was asked: "main", "text_only", ...', max_length=60)),
                ('about', models.JSONField(default=dict, help_text='Of a model: family, open, released, parameters, multilingual, training_data, ...')),
                ('user', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='rater', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to='people.team')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('kind', 'person'), ('team__isnull', True), ('user__isnull', False)), models.Q(('kind', 'person'), ('team__isnull', False), ('user__isnull', True)), models.Q(('kind', 'model'), ('team__isnull', False), ('user__isnull', True)), _connector='OR'), name='rater_is_person_or_model')],
            },
        ),
        migrations.AddField(
            model_name='consentversion',
            name='team',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='consent_versions', to='people.team'),
        ),
        migrations.AddField(
            model_name='cohort',
            name='team',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='cohorts', to='people.team'),
        ),
        migrations.CreateModel(
            name='TeamMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('admin', 'Team admin'), ('member', 'Member')], default='member', max_length=10)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='members', to='people.team')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='team_memberships', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('team', 'user'), name='team_member_once')],
            },
        ),
        migrations.AddConstraint(
            model_name='consentversion',
            constraint=models.UniqueConstraint(fields=('team', 'number'), name='consent_version_once'),
        ),
        migrations.AddConstraint(
            model_name='cohort',
            constraint=models.UniqueConstraint(fields=('team', 'label'), name='cohort_label_once'),
        ),
        migrations.RunSQL(FROZEN_CONSENT),
    ]
