from importlib import import_module

from django.db import migrations

# The usual submit with less to read: see usual_submit.py (CREATE).
CREATE = """
CREATE FUNCTION annotation_submit_usual(p_participation bigint, p_assignment_id bigint, p_rater_id bigint, p_cohort_id bigint, p_unit bigint, p_item bigint, p_slot bigint, p_client_key text, p_answers jsonb, p_sheet_version_id bigint, p_rule_version text, p_language text, p_shown_at timestamptz, p_submitted_at timestamptz, p_since timestamptz, p_measured float8, p_confirmed jsonb, p_trace jsonb, p_fields text[], p_codes text[], p_values float8[], p_event_at timestamptz, p_actor bigint, p_verb text, p_scope text, p_target text, OUT o_annotation bigint, OUT o_version integer, OUT o_seconds float8, OUT o_instructions bigint, OUT o_given bigint, OUT o_asked bigint, OUT o_due boolean) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET jit = off AS $body$
DECLARE
  v_seat record; v_before record; fitted record; v_next record; v_ends record; v_lease timestamptz; v_more integer;
  v_picked bigint; v_claimed bigint;
BEGIN
  SELECT p.id, cc.campaign_id, p.cohort_id, p.rater_id, p.cursor, p.urgent_cursor, p.last_seen_at INTO v_seat FROM annotation_participation p JOIN annotation_campaigncohort cc ON cc.id = p.cohort_id
WHERE p.id = p_participation FOR NO KEY UPDATE OF p;
  SELECT state, has_draft, version, live_annotation, reserved, active_seconds, instructions, matters, in_hand, campaign_state, opens_on, closes_on, lease_minutes, paused, most_per_person, most_per_day, member, barred, consented, staffing, unready INTO v_before
    FROM (SELECT a.state, EXISTS (SELECT FROM annotation_draft d WHERE d.assignment_id = a.id),
  coalesce((SELECT max(version) FROM annotation_annotation v WHERE v.assignment_id = a.id), 0),
  live.id, coalesce(live.counted, false), coalesce(live.uncounted_because = 'surplus', false),
  (SELECT count(*) FROM annotation_assignment h
    WHERE h.participation_id = a.participation_id AND NOT h.packed AND h.state = 'reserved') + (SELECT count(*) FROM annotation_assignment h
    WHERE h.participation_id = a.participation_id AND h.packed AND h.state = 'reserved'),
  CASE WHEN (p_measured)::float8 IS NOT NULL THEN greatest(0, least((p_measured)::float8,
    extract(epoch FROM (p_submitted_at)::timestamptz - (p_since)::timestamptz)::float8
    - (SELECT coalesce(sum(least(t.active_seconds, extract(epoch FROM t.submitted_at - (p_since)::timestamptz))), 0)
      FROM annotation_annotation t WHERE t.rater_id = a.rater_id AND t.submitted_at > (p_since)::timestamptz
        AND t.submitted_at <= (p_submitted_at)::timestamptz)::float8)) END,
  EXISTS (SELECT FROM annotation_exclusion e
    WHERE e.benchmark_id = st.benchmark_id AND e.rater_id = a.rater_id AND e.lifted_at IS NULL),
  (SELECT i.id FROM annotation_instructionversion i WHERE i.campaign_id = a.campaign_id ORDER BY i.number DESC LIMIT 1),
  (SELECT k.id FROM annotation_annotation k WHERE k.rater_id = a.rater_id AND k.client_key = (p_client_key)),
  st.acceptance = 'by_rule' OR coalesce(st.coverage -> 'stop_when_full' = 'true'::jsonb, false) OR (false)
    OR EXISTS (SELECT FROM benchmarks_stage later
    WHERE later.benchmark_id = st.benchmark_id AND (jsonb_exists(later.derivation -> 'from', st.key)
      OR later.derivation #>> '{params,rename,by}' = st.key
      OR later.derivation #>> '{params,proposals,stage}' = st.key)),
  a.in_hand, c.state, c.opens_on, c.closes_on, c.lease_minutes, cc.paused OR co.paused_at IS NOT NULL,
  cc.most_per_person, cc.most_per_day, co.time_zone, u.time_zone,
  u.is_active AND EXISTS (SELECT FROM people_cohortmember m
    WHERE m.cohort_id = co.id AND m.user_id = u.id AND m.left_at IS NULL),
  EXISTS (SELECT FROM annotation_exclusion e
  WHERE e.benchmark_id = st.benchmark_id AND e.rater_id = r.id AND e.lifted_at IS NULL), coalesce((SELECT EXISTS (SELECT FROM people_consent given
    WHERE given.version_id = v.id AND given.user_id = u.id AND given.withdrawn_at IS NULL)
  FROM people_consentversion v
  WHERE v.team_id = co.team_id AND v.published_at IS NOT NULL ORDER BY v.number DESC LIMIT 1), true),
  EXISTS (SELECT FROM people_consent older JOIN people_consentversion v ON v.id = older.version_id
    WHERE v.team_id = co.team_id AND older.user_id = u.id AND older.withdrawn_at IS NULL),
  st.staffing, EXISTS (SELECT FROM annotation_instructionversion asked
  WHERE asked.campaign_id = c.id AND asked.required AND asked.number > coalesce((
    SELECT max(through.number) FROM annotation_participation part
      JOIN annotation_readiness ready ON ready.participation_id = part.id AND ready.passed_at IS NOT NULL
      JOIN annotation_instructionversion through ON through.id = ready.version_id
    WHERE part.cohort_id = cc.id AND part.rater_id = r.id), 0)) FROM annotation_campaigncohort cc
  JOIN annotation_campaign c ON c.id = cc.campaign_id
  JOIN benchmarks_stage st ON st.id = c.stage_id
  JOIN people_cohort co ON co.id = cc.cohort_id
  JOIN people_rater r ON r.id = (v_seat.rater_id)
  JOIN people_user u ON u.id = r.user_id JOIN annotation_assignment a ON a.id = (p_assignment_id) LEFT JOIN annotation_annotation live ON live.assignment_id = a.id AND live.live
WHERE cc.id = (v_seat.cohort_id) FOR NO KEY UPDATE OF a) AS b(state, has_draft, version, live_annotation, live_counted, waits, reserved, active_seconds, excluded, instructions, same_key, matters, in_hand, campaign_state, opens_on, closes_on, lease_minutes, paused, most_per_person, most_per_day, cohort_zone, own_zone, member, barred, consented, to_older, staffing, unready);
  IF (v_before.state = 'reserved' AND v_before.in_hand AND v_before.reserved = 2 AND NOT v_before.has_draft
    AND v_before.live_annotation IS NULL
    AND v_before.campaign_state = 'open' AND v_before.opens_on IS NULL AND v_before.closes_on IS NULL AND NOT v_before.paused
  AND v_before.most_per_person IS NULL AND v_before.most_per_day IS NULL AND v_before.member AND NOT v_before.barred
  AND v_before.consented AND NOT v_before.unready) IS NOT TRUE THEN RETURN; END IF;
  IF v_seat.last_seen_at < p_submitted_at - make_interval(secs => 60) THEN
    UPDATE annotation_participation SET last_seen_at = p_submitted_at WHERE id = v_seat.id;
  END IF;
  v_lease := p_submitted_at + make_interval(mins => v_before.lease_minutes);
  SELECT id, wanted, open, used, greatest(least(wanted, target), used) AS fits FROM (SELECT o.id, o.wanted, o.open, o.reserved + o.submitted + (0) AS used,
    CASE WHEN (0) > 0 THEN 0 ELSE CASE WHEN o.retired OR o.cell_full OR NOT (SELECT (i.withdrawn_at IS NULL AND CASE i.intake WHEN 'dropped' THEN false WHEN 'waiting' THEN
  (SELECT own_stage.assign_waiting FROM benchmarks_stage own_stage WHERE own_stage.id = i.stage_id) ELSE true END) FROM annotation_unit u
  JOIN benchmarks_item i ON i.id = u.item_id WHERE u.id = o.unit_id) THEN 0
  ELSE coalesce(o.share, cc.target_answers) END END AS target
  FROM annotation_slot o JOIN annotation_campaigncohort cc ON cc.id = o.cohort_id
  WHERE o.id = (p_slot) FOR NO KEY UPDATE OF o) old INTO fitted;
  UPDATE annotation_slot s SET reserved = s.reserved + (-1), submitted = s.submitted + (1),
  wanted = CASE WHEN (0) > 0 THEN s.wanted ELSE fitted.fits END,
  position = CASE WHEN NOT fitted.open AND fitted.fits > fitted.used AND (0) < 0 THEN (extract(epoch FROM clock_timestamp()) * 1000000)::bigint ELSE s.position END
    WHERE s.id = fitted.id RETURNING s.wanted - fitted.wanted INTO v_more;
  INSERT INTO annotation_annotation (assignment_id, rater_id, version, client_key, answers, sheet_version_id,
    instruction_version_id, rule_version, cohort_id, language, shown_at, submitted_at, active_seconds, confirmed,
    trace, live, counted, uncounted_because, at_submit)
  VALUES ((p_assignment_id), (p_rater_id), (v_before.version + 1), (p_client_key), (p_answers), (p_sheet_version_id),
    (v_before.instructions), (p_rule_version), (p_cohort_id), (p_language), (p_shown_at), (p_submitted_at),
    (v_before.active_seconds), (p_confirmed), (p_trace), true, (true), (''),
    (''))
  RETURNING id INTO o_annotation;
  INSERT INTO annotation_rating
    (annotation_id, campaign_id, cohort_id, unit_id, rater_id, field, code, value, live, counted)
  SELECT o_annotation, (v_seat.campaign_id), (p_cohort_id), (p_unit), (p_rater_id), c.field, c.code, c.value, true, (true)
  FROM unnest((p_fields)::text[], (p_codes)::text[], (p_values)::float8[]) AS c(field, code, value);
  UPDATE annotation_assignment SET state = 'submitted', in_hand = false, lease_until = NULL,
    changed_at = (p_submitted_at), skip_reason = '', skip_note = '' WHERE id = (p_assignment_id);
  UPDATE annotation_assignment SET in_hand = true, lease_until = (v_lease), shown_at = (p_submitted_at),
    changed_at = (p_submitted_at) WHERE participation_id = (p_participation) AND state = 'reserved' AND NOT packed AND id <> (p_assignment_id);
  IF (SELECT (v_before.staffing)::text <> 'anyone' OR EXISTS (SELECT FROM annotation_slot s WHERE s.cohort_id = (v_seat.cohort_id) AND s.open AND s.urgent AND s.position >= (v_seat.urgent_cursor))
  OR EXISTS (SELECT FROM annotation_assignment a WHERE a.participation_id = (p_participation) AND a.state = 'released')
  OR EXISTS (SELECT FROM people_rater judge JOIN benchmarks_formerjudge f ON f.user_id = judge.user_id
    WHERE judge.id = (v_seat.rater_id))) THEN
    WITH enough (yes) AS MATERIALIZED (
  SELECT (false) OR (SELECT people.n <= (SELECT count(*) FROM (
    SELECT 1 FROM annotation_slot s WHERE s.cohort_id = (v_seat.cohort_id) AND s.open AND s.position >= (v_seat.cursor) ORDER BY s.position LIMIT people.n) open)
  FROM (SELECT count(*) AS n FROM (SELECT 1 FROM annotation_participation
    WHERE cohort_id = (v_seat.cohort_id) AND last_seen_at > (p_submitted_at - make_interval(secs => 300)) LIMIT 200) seen) people)
), own AS MATERIALIZED (
  SELECT s.id, s.unit_id FROM annotation_assignment a JOIN annotation_slot s ON s.id = a.slot_id
  WHERE a.participation_id = (p_participation) AND a.state = 'released' AND s.open AND (SELECT yes FROM enough)
    AND CASE WHEN (v_before.staffing)::text = 'anyone' THEN true ELSE ((v_before.staffing)::text = 'contributors') =
  ((SELECT k.id FROM annotation_unit own_unit JOIN annotation_itemcontributor k ON k.item_id = own_unit.item_id
    WHERE own_unit.id = s.unit_id AND k.rater_id = (v_seat.rater_id) AND (k.own OR (v_before.staffing)::text <> 'not_own')
    LIMIT 1) IS NOT NULL) END
  ORDER BY a.changed_at LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED
), hurry (yes) AS MATERIALIZED (
  SELECT EXISTS (SELECT FROM annotation_slot s WHERE s.cohort_id = (v_seat.cohort_id) AND s.open AND s.urgent AND s.position >= (v_seat.urgent_cursor))
), urgent AS MATERIALIZED (
  SELECT s.id, s.unit_id FROM annotation_slot s WHERE s.cohort_id = (v_seat.cohort_id) AND s.open AND s.urgent AND s.position >= (v_seat.urgent_cursor) AND (SELECT yes FROM hurry) AND (SELECT yes FROM enough)
    AND (SELECT count(*) FROM own) = 0 AND (SELECT had.id FROM annotation_assignment had WHERE had.campaign_id = (v_seat.campaign_id)
              AND had.unit_id = s.unit_id AND had.rater_id = (v_seat.rater_id) LIMIT 1) IS NULL AND CASE WHEN (v_before.staffing)::text = 'anyone' THEN true ELSE ((v_before.staffing)::text = 'contributors') =
  ((SELECT k.id FROM annotation_unit own_unit JOIN annotation_itemcontributor k ON k.item_id = own_unit.item_id
    WHERE own_unit.id = s.unit_id AND k.rater_id = (v_seat.rater_id) AND (k.own OR (v_before.staffing)::text <> 'not_own')
    LIMIT 1) IS NOT NULL) END AND CASE WHEN (v_before.staffing)::text = 'contributors' OR (SELECT f.id FROM people_rater judge
    JOIN benchmarks_formerjudge f ON f.user_id = judge.user_id WHERE judge.id = (v_seat.rater_id) LIMIT 1) IS NULL THEN true
  ELSE (SELECT f.id FROM annotation_unit own_unit JOIN benchmarks_formerjudge f ON f.item_id = own_unit.item_id
    JOIN people_rater judge ON judge.user_id = f.user_id
    WHERE own_unit.id = s.unit_id AND judge.id = (v_seat.rater_id) LIMIT 1) IS NULL END
  ORDER BY s.position LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED
), first_urgent AS MATERIALIZED (
  SELECT s.position FROM annotation_slot s WHERE s.cohort_id = (v_seat.cohort_id) AND s.open AND s.urgent AND s.position >= (v_seat.urgent_cursor) AND (SELECT yes FROM hurry) AND (SELECT had.id FROM annotation_assignment had WHERE had.campaign_id = (v_seat.campaign_id)
              AND had.unit_id = s.unit_id AND had.rater_id = (v_seat.rater_id) LIMIT 1) IS NULL AND CASE WHEN (v_before.staffing)::text = 'anyone' THEN true ELSE ((v_before.staffing)::text = 'contributors') =
  ((SELECT k.id FROM annotation_unit own_unit JOIN annotation_itemcontributor k ON k.item_id = own_unit.item_id
    WHERE own_unit.id = s.unit_id AND k.rater_id = (v_seat.rater_id) AND (k.own OR (v_before.staffing)::text <> 'not_own')
    LIMIT 1) IS NOT NULL) END AND CASE WHEN (v_before.staffing)::text = 'contributors' OR (SELECT f.id FROM people_rater judge
    JOIN benchmarks_formerjudge f ON f.user_id = judge.user_id WHERE judge.id = (v_seat.rater_id) LIMIT 1) IS NULL THEN true
  ELSE (SELECT f.id FROM annotation_unit own_unit JOIN benchmarks_formerjudge f ON f.item_id = own_unit.item_id
    JOIN people_rater judge ON judge.user_id = f.user_id
    WHERE own_unit.id = s.unit_id AND judge.id = (v_seat.rater_id) LIMIT 1) IS NULL END ORDER BY s.position LIMIT 1
), next AS MATERIALIZED (
  SELECT s.id, s.unit_id FROM annotation_slot s WHERE s.cohort_id = (v_seat.cohort_id) AND s.open AND s.position >= (v_seat.cursor) AND (SELECT yes FROM enough)
    AND (SELECT count(*) FROM own) = 0 AND (SELECT count(*) FROM urgent) = 0 AND (SELECT had.id FROM annotation_assignment had WHERE had.campaign_id = (v_seat.campaign_id)
              AND had.unit_id = s.unit_id AND had.rater_id = (v_seat.rater_id) LIMIT 1) IS NULL AND CASE WHEN (v_before.staffing)::text = 'anyone' THEN true ELSE ((v_before.staffing)::text = 'contributors') =
  ((SELECT k.id FROM annotation_unit own_unit JOIN annotation_itemcontributor k ON k.item_id = own_unit.item_id
    WHERE own_unit.id = s.unit_id AND k.rater_id = (v_seat.rater_id) AND (k.own OR (v_before.staffing)::text <> 'not_own')
    LIMIT 1) IS NOT NULL) END AND CASE WHEN (v_before.staffing)::text = 'contributors' OR (SELECT f.id FROM people_rater judge
    JOIN benchmarks_formerjudge f ON f.user_id = judge.user_id WHERE judge.id = (v_seat.rater_id) LIMIT 1) IS NULL THEN true
  ELSE (SELECT f.id FROM annotation_unit own_unit JOIN benchmarks_formerjudge f ON f.item_id = own_unit.item_id
    JOIN people_rater judge ON judge.user_id = f.user_id
    WHERE own_unit.id = s.unit_id AND judge.id = (v_seat.rater_id) LIMIT 1) IS NULL END ORDER BY s.position LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED
), picked AS MATERIALIZED (
  SELECT id, unit_id FROM own UNION ALL SELECT id, unit_id FROM urgent UNION ALL SELECT id, unit_id FROM next
), first AS MATERIALIZED (
  SELECT s.position FROM annotation_slot s WHERE s.cohort_id = (v_seat.cohort_id) AND s.open AND s.position >= (v_seat.cursor) AND (SELECT had.id FROM annotation_assignment had WHERE had.campaign_id = (v_seat.campaign_id)
              AND had.unit_id = s.unit_id AND had.rater_id = (v_seat.rater_id) LIMIT 1) IS NULL AND CASE WHEN (v_before.staffing)::text = 'anyone' THEN true ELSE ((v_before.staffing)::text = 'contributors') =
  ((SELECT k.id FROM annotation_unit own_unit JOIN annotation_itemcontributor k ON k.item_id = own_unit.item_id
    WHERE own_unit.id = s.unit_id AND k.rater_id = (v_seat.rater_id) AND (k.own OR (v_before.staffing)::text <> 'not_own')
    LIMIT 1) IS NOT NULL) END AND CASE WHEN (v_before.staffing)::text = 'contributors' OR (SELECT f.id FROM people_rater judge
    JOIN benchmarks_formerjudge f ON f.user_id = judge.user_id WHERE judge.id = (v_seat.rater_id) LIMIT 1) IS NULL THEN true
  ELSE (SELECT f.id FROM annotation_unit own_unit JOIN benchmarks_formerjudge f ON f.item_id = own_unit.item_id
    JOIN people_rater judge ON judge.user_id = f.user_id
    WHERE own_unit.id = s.unit_id AND judge.id = (v_seat.rater_id) LIMIT 1) IS NULL END ORDER BY s.position LIMIT 1
), ends AS MATERIALIZED (
  SELECT least(coalesce((SELECT position FROM first), ((extract(epoch FROM clock_timestamp()) - 120) * 1000000)::bigint), ((extract(epoch FROM clock_timestamp()) - 120) * 1000000)::bigint) AS walked, CASE WHEN (SELECT yes FROM hurry)
      THEN least(coalesce((SELECT position FROM first_urgent), ((extract(epoch FROM clock_timestamp()) - 120) * 1000000)::bigint), ((extract(epoch FROM clock_timestamp()) - 120) * 1000000)::bigint) ELSE 0 END AS hurried
  WHERE (SELECT yes FROM enough)
), taken AS (
  UPDATE annotation_slot s SET reserved = s.reserved + 1 FROM picked WHERE s.id = picked.id
), given AS (
  INSERT INTO annotation_assignment (campaign_id, participation_id, slot_id, unit_id, rater_id, state, in_hand,
    packed, lease_until, reserved_at, shown_at, changed_at, skip_reason, skip_note)
  SELECT (v_seat.campaign_id), (p_participation), picked.id, picked.unit_id, (v_seat.rater_id), 'reserved', (false),
    (false), (v_lease), (p_submitted_at), (NULL::timestamptz), (p_submitted_at), '', '' FROM picked
  ON CONFLICT (campaign_id, unit_id, rater_id, repeat) DO UPDATE SET state = 'reserved', in_hand = EXCLUDED.in_hand,
    packed = EXCLUDED.packed, lease_until = EXCLUDED.lease_until, changed_at = EXCLUDED.changed_at,
    shown_at = coalesce(annotation_assignment.shown_at, EXCLUDED.shown_at)
  WHERE annotation_assignment.state = 'released' AND annotation_assignment.slot_id = EXCLUDED.slot_id
  RETURNING id
), moved AS (
  UPDATE annotation_participation p
  SET cursor = greatest(p.cursor, ends.walked), urgent_cursor = greatest(p.urgent_cursor, ends.hurried) FROM ends
  WHERE p.id = (p_participation) AND (p.cursor < ends.walked OR p.urgent_cursor < ends.hurried)
)
SELECT (SELECT count(*) FROM picked), (SELECT id FROM given) INTO v_picked, v_claimed;
  ELSIF (SELECT (false) OR (SELECT people.n <= (SELECT count(*) FROM (
    SELECT 1 FROM annotation_slot s WHERE s.cohort_id = (v_seat.cohort_id) AND s.open AND s.position >= (v_seat.cursor) ORDER BY s.position LIMIT people.n) open)
  FROM (SELECT count(*) AS n FROM (SELECT 1 FROM annotation_participation
    WHERE cohort_id = (v_seat.cohort_id) AND last_seen_at > (p_submitted_at - make_interval(secs => 300)) LIMIT 200) seen) people)) THEN
    SELECT s.id, s.unit_id FROM annotation_slot s WHERE s.cohort_id = (v_seat.cohort_id) AND s.open AND s.position >= (v_seat.cursor) AND (SELECT had.id FROM annotation_assignment had WHERE had.campaign_id = (v_seat.campaign_id)
              AND had.unit_id = s.unit_id AND had.rater_id = (v_seat.rater_id) LIMIT 1) IS NULL ORDER BY s.position LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED INTO v_next;
    SELECT least(coalesce((SELECT s.position FROM annotation_slot s WHERE s.cohort_id = (v_seat.cohort_id) AND s.open AND s.position >= (v_seat.cursor) AND (SELECT had.id FROM annotation_assignment had WHERE had.campaign_id = (v_seat.campaign_id)
              AND had.unit_id = s.unit_id AND had.rater_id = (v_seat.rater_id) LIMIT 1) IS NULL ORDER BY s.position LIMIT 1), ((extract(epoch FROM clock_timestamp()) - 120) * 1000000)::bigint), ((extract(epoch FROM clock_timestamp()) - 120) * 1000000)::bigint) AS walked, 0 AS hurried INTO v_ends;
    IF v_next.id IS NOT NULL THEN
      UPDATE annotation_slot s SET reserved = s.reserved + 1 WHERE s.id = v_next.id;
      INSERT INTO annotation_assignment (campaign_id, participation_id, slot_id, unit_id, rater_id, state, in_hand,
    packed, lease_until, reserved_at, shown_at, changed_at, skip_reason, skip_note)
  SELECT (v_seat.campaign_id), (p_participation), v_next.id, v_next.unit_id, (v_seat.rater_id), 'reserved', (false),
    (false), (v_lease), (p_submitted_at), (NULL::timestamptz), (p_submitted_at), '', '' 
  ON CONFLICT (campaign_id, unit_id, rater_id, repeat) DO UPDATE SET state = 'reserved', in_hand = EXCLUDED.in_hand,
    packed = EXCLUDED.packed, lease_until = EXCLUDED.lease_until, changed_at = EXCLUDED.changed_at,
    shown_at = coalesce(annotation_assignment.shown_at, EXCLUDED.shown_at)
  WHERE annotation_assignment.state = 'released' AND annotation_assignment.slot_id = EXCLUDED.slot_id
  RETURNING id INTO v_claimed;
      v_picked := 1;
    END IF;
    UPDATE annotation_participation p
  SET cursor = greatest(p.cursor, v_ends.walked), urgent_cursor = greatest(p.urgent_cursor, v_ends.hurried) 
  WHERE p.id = (p_participation) AND (p.cursor < v_ends.walked OR p.urgent_cursor < v_ends.hurried);
  END IF;
  IF v_picked > 0 AND v_claimed IS NULL THEN RAISE serialization_failure; END IF;
  o_due := false;
  IF v_before.matters THEN
    INSERT INTO annotation_due (stage_id, source_id, at)
SELECT st.id, i.id, clock_timestamp() FROM benchmarks_item i JOIN benchmarks_stage st ON st.id = i.stage_id
WHERE i.id = ANY((ARRAY[p_item])) AND (st.acceptance = 'by_rule' OR st.coverage -> 'stop_when_full' = 'true'
  OR st.derivation ->> 'kind' = 'disagree' OR EXISTS (SELECT FROM benchmarks_stage later
    WHERE later.benchmark_id = st.benchmark_id AND (jsonb_exists(later.derivation -> 'from', st.key)
      OR later.derivation #>> '{params,rename,by}' = st.key
      OR later.derivation #>> '{params,proposals,stage}' = st.key)));
    o_due := FOUND;
  END IF;
  WITH event AS (INSERT INTO jobs_event (at, actor_id, verb, scope, target, data, implied)
  VALUES ((p_event_at), (p_actor), (p_verb), (p_scope), (p_target), (jsonb_build_object('counted', true, 'version', v_before.version + 1)), false)), tally AS (UPDATE annotation_tally SET wanted = wanted + (coalesce(v_more, 0)), submitted = submitted + (1),
  skipped = skipped + (0), changes = changes + 1 WHERE cohort_id = (v_seat.cohort_id) AND shard = (p_assignment_id % 16))
SELECT coalesce(sum(submitted), 0) + (1), coalesce(sum(wanted), 0) + (coalesce(v_more, 0))
FROM annotation_tally WHERE cohort_id = (v_seat.cohort_id) INTO o_given, o_asked;
  o_version := v_before.version + 1;
  o_seconds := v_before.active_seconds;
  o_instructions := v_before.instructions;
END
$body$
"""
BEFORE = import_module("annotation.migrations.0024_submit_notes_merged_names").CREATE
DROP = "DROP FUNCTION annotation_submit_usual;"


class Migration(migrations.Migration):

    dependencies = [
        ("annotation", "0024_submit_notes_merged_names"),
    ]

    operations = [
        migrations.RunSQL(DROP + CREATE, DROP + BEFORE),
    ]
