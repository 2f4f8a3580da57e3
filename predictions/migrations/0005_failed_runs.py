from django.db import migrations, models

# Runs that were called done although no call gave an answer.
FAILED = """
UPDATE predictions_run r SET state = 'failed' WHERE r.task = 'answers' AND r.state = 'done'
  AND EXISTS (SELECT FROM predictions_call c WHERE c.run_id = r.id)
  AND NOT EXISTS (SELECT FROM predictions_call c WHERE c.run_id = r.id AND c.state = 'answered')
"""
DONE = "UPDATE predictions_run SET state = 'done' WHERE state = 'failed'"
STATES = [
    ("draft", "Not started"),
    ("running", "Running"),
    ("paused", "Paused"),
    ("cancelled", "Stopped"),
    ("done", "Done"),
    ("failed", "Failed"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("predictions", "0004_asked_at"),
    ]

    operations = [
        migrations.AlterField(
            model_name="run",
            name="state",
            field=models.CharField(choices=STATES, default="done", max_length=10),
        ),
        migrations.RunSQL(FAILED, DONE),
    ]
