from django.db import migrations

# The transaction that wrote an event: the feed of events orders by it (jobs/queries/event_feed.py). Events from before
# have 0. The column is the database's own and no field of the model: every INSERT leaves it out.
COLUMN = """
ALTER TABLE jobs_event ADD COLUMN xact xid8 NOT NULL DEFAULT '0';
ALTER TABLE jobs_event ALTER COLUMN xact SET DEFAULT pg_current_xact_id();
CREATE INDEX event_feed ON jobs_event (scope, xact, id);
"""
BACK = """
DROP INDEX event_feed;
ALTER TABLE jobs_event DROP COLUMN xact;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('jobs', '0001_initial'),
    ]

    operations = [
        migrations.RunSQL(COLUMN, BACK),
    ]
