import django.db.models.deletion
from django.db import migrations, models

# Programs that read what has changed since learn from this table that an outcome was taken away: see
# releases/rows/changes.py. The column `xact` is the database's own and no field of the model.
TRIGGER = """
ALTER TABLE annotation_goneoutcome ADD COLUMN xact xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE FUNCTION annotation_outcome_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO annotation_goneoutcome (outcome, campaign_id, unit_id) VALUES (OLD.id, OLD.campaign_id, OLD.unit_id)
  ON CONFLICT (campaign_id, unit_id) DO UPDATE SET outcome = excluded.outcome, xact = pg_current_xact_id();
  RETURN NULL;
END $$;
CREATE TRIGGER annotation_outcome_gone AFTER DELETE ON annotation_outcome
  FOR EACH ROW EXECUTE FUNCTION annotation_outcome_gone();
"""
BACK = """
DROP TRIGGER annotation_outcome_gone ON annotation_outcome;
DROP FUNCTION annotation_outcome_gone();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0019_offline_packs'),
    ]

    operations = [
        migrations.CreateModel(
            name='GoneOutcome',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('outcome', models.BigIntegerField(help_text='Its number.')),
                ('campaign', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.campaign')),
                ('unit', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='annotation.unit')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'unit'), name='gone_outcome_once')],
            },
        ),
        migrations.RunSQL(TRIGGER, BACK),
    ]
