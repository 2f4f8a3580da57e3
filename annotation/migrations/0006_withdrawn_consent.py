from django.db import migrations, models

# What held at the submit, as far as the rows still tell. Surplus, exclusions and decisions of reviewers are read from
# other rows; what a file said of its answers is kept nowhere else.
FILL = """
UPDATE annotation_annotation an SET at_submit = an.uncounted_because
FROM annotation_assignment a JOIN annotation_campaign c ON c.id = a.campaign_id
  JOIN benchmarks_stage st ON st.id = c.stage_id
WHERE a.id = an.assignment_id AND an.live AND NOT an.counted AND CASE an.uncounted_because
  WHEN 'surplus' THEN a.slot_id IS NULL
  WHEN 'rejected' THEN NOT EXISTS (SELECT FROM annotation_review w
    WHERE w.annotation_id = an.id AND w.decision = 'reject' AND w.undone_at IS NULL)
  WHEN 'excluded' THEN NOT EXISTS (SELECT FROM annotation_exclusion e
    WHERE e.benchmark_id = st.benchmark_id AND e.rater_id = an.rater_id AND e.lifted_at IS NULL)
  ELSE true END
"""
# Of two reasons the exclusion comes first.
EXCLUDED = """
UPDATE annotation_annotation an SET uncounted_because = 'excluded'
FROM annotation_assignment a JOIN annotation_campaign c ON c.id = a.campaign_id
  JOIN benchmarks_stage st ON st.id = c.stage_id
WHERE a.id = an.assignment_id AND an.live AND NOT an.counted AND an.uncounted_because <> 'excluded'
  AND EXISTS (SELECT FROM annotation_exclusion e
    WHERE e.benchmark_id = st.benchmark_id AND e.rater_id = an.rater_id AND e.lifted_at IS NULL)
"""


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0005_model_repeats"),
    ]

    operations = [
        migrations.AddField(
            model_name="annotation",
            name="at_submit",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Why it could not count when it came (closed, no_consent, ...). Never changes.",
                max_length=20,
            ),
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RunSQL(EXCLUDED, migrations.RunSQL.noop),
    ]
