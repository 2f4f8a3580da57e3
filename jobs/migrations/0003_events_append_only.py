from django.db import migrations


class Migration(migrations.Migration):
    """The database itself refuses to change or delete an event."""

    dependencies = [("jobs", "0002_initial")]
    operations = [
        migrations.RunSQL(
            sql="""
            CREATE FUNCTION jobs_event_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'events are append-only'; END $$;
            CREATE TRIGGER jobs_event_append_only BEFORE UPDATE OR DELETE ON jobs_event
            FOR EACH ROW EXECUTE FUNCTION jobs_event_is_append_only();
            """,
            reverse_sql="DROP TRIGGER jobs_event_append_only ON jobs_event; DROP FUNCTION jobs_event_is_append_only();",
        )
    ]
