from django.db import migrations

# Rows that are updated with every claim keep room on their page, so that an update moves no index entry (HOT), and
# are vacuumed long before Postgres' usual fifth of the table is dead.
SETTINGS = {
    "annotation_slot": 70,
    "annotation_assignment": 70,
    "annotation_tally": 50,
    "annotation_participation": 70,
    "annotation_draft": 70,
}


def sql(table, fillfactor):
    return (
        f"ALTER TABLE {table} SET (fillfactor={fillfactor}, autovacuum_vacuum_scale_factor=0.02, "
        "autovacuum_analyze_scale_factor=0.02, autovacuum_vacuum_cost_delay=0)"
    )


def back(table):
    return (
        f"ALTER TABLE {table} RESET (fillfactor, autovacuum_vacuum_scale_factor, "
        "autovacuum_analyze_scale_factor, autovacuum_vacuum_cost_delay)"
    )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_initial")]
    operations = [migrations.RunSQL(sql(table, factor), back(table)) for table, factor in SETTINGS.items()]
