from django.db import migrations

TABLES = ("annotation_stagedraft", "annotation_stageversion")
MOVE = """
UPDATE {table} SET content =
  jsonb_set(content, '{{pictures}}', to_jsonb(CASE
    WHEN content -> 'layout' ->> 'pictures' IN ('none', 'optional', 'one', 'named', 'set')
      THEN content -> 'layout' ->> 'pictures'
    WHEN content ->> 'display' = 'words' THEN 'none'
    WHEN content ->> 'display' IN ('candidate', 'question') THEN 'optional'
    WHEN content ->> 'display' IN ('pair', 'bare-pair') THEN 'named'
    WHEN content ->> 'display' = 'contact' THEN 'set'
    ELSE 'one' END))
  #- '{{layout,pictures}}'
WHERE jsonb_typeof(content) = 'object' AND NOT jsonb_exists(content, 'pictures')
"""


class Migration(migrations.Migration):
    """Drafts and published versions of stages say it as the stage does."""

    dependencies = [("annotation", "0006_withdrawn_consent"), ("benchmarks", "0005_stage_pictures")]

    operations = [migrations.RunSQL(MOVE.format(table=table), migrations.RunSQL.noop) for table in TABLES]
