"""What several statements of this app say."""

# Whether an item `i` may be given to people and models; the same as benchmarks.queries.availability.is_available.
AVAILABLE = """(i.withdrawn_at IS NULL AND CASE i.intake WHEN 'dropped' THEN false WHEN 'waiting' THEN
  (SELECT own_stage.assign_waiting FROM benchmarks_stage own_stage WHERE own_stage.id = i.stage_id) ELSE true END)"""
