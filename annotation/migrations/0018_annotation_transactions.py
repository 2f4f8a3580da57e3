from django.db import migrations

# The transaction that wrote or changed an answer, or the state of its assignment after it was submitted: programs that
# read what has changed since go by it (releases/rows/changes.py). Answers from before have 0. The column is the
# database's own and no field of the model: every INSERT leaves it out.
COLUMN = """
ALTER TABLE annotation_annotation ADD COLUMN xact xid8 NOT NULL DEFAULT '0';
ALTER TABLE annotation_annotation ALTER COLUMN xact SET DEFAULT pg_current_xact_id();
CREATE INDEX annotation_changed ON annotation_annotation (xact);
CREATE FUNCTION annotation_annotation_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.xact := pg_current_xact_id();
  RETURN NEW;
END $$;
CREATE TRIGGER annotation_annotation_changed BEFORE UPDATE ON annotation_annotation
  FOR EACH ROW EXECUTE FUNCTION annotation_annotation_changed();
CREATE FUNCTION annotation_assignment_decided() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE annotation_annotation SET xact = pg_current_xact_id() WHERE assignment_id = NEW.id AND live;
  RETURN NULL;
END $$;
CREATE TRIGGER annotation_assignment_decided AFTER UPDATE OF state ON annotation_assignment
  FOR EACH ROW WHEN (OLD.state <> NEW.state AND OLD.state <> 'reserved')
  EXECUTE FUNCTION annotation_assignment_decided();
"""
BACK = """
DROP TRIGGER annotation_assignment_decided ON annotation_assignment;
DROP FUNCTION annotation_assignment_decided();
DROP TRIGGER annotation_annotation_changed ON annotation_annotation;
DROP FUNCTION annotation_annotation_changed();
DROP INDEX annotation_changed;
ALTER TABLE annotation_annotation DROP COLUMN xact;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0017_answer_targets'),
    ]

    operations = [
        migrations.RunSQL(COLUMN, BACK),
    ]
