from django.db import migrations

# Items made of one answer, to be judged or settled, get what the answer is about. Their content does not change, so
# they stay the same items. Where a stage of own items asks another cohort about them now, it goes on doing so.
FILL = """
UPDATE benchmarks_item i SET answer_target = about.target
FROM (
  SELECT s.item_id, min(u.target) AS target
  FROM annotation_itemsource s JOIN annotation_annotation an ON an.id = s.annotation_id
    JOIN annotation_assignment a ON a.id = an.assignment_id JOIN annotation_unit u ON u.id = a.unit_id
  WHERE s.role = 'candidate' GROUP BY s.item_id HAVING count(DISTINCT u.target) = 1 AND min(u.target) <> ''
) about, benchmarks_stage st
WHERE about.item_id = i.id AND st.id = i.stage_id AND i.answer_target = ''
  AND st.derivation ->> 'kind' IN ('verdicts', 'disagree')
  AND (NOT st.own_items_only OR i.origin = about.target)
"""


class Migration(migrations.Migration):
    dependencies = [("annotation", "0016_submit_usual"), ("benchmarks", "0018_answer_target")]

    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
