-- The snapshot's tables and views. Run by warehouse.py on a new database, statement by statement.
-- source_* are Arrow tables of the lake and the memory store; source_ends is what became of each learning.
-- $taken_at is the moment of the snapshot. The types stage and origin are enums that sort in their order.
-- Comments on tables and columns come from schemas/snapshot.py. Moments are UTC.

CREATE TABLE learnings AS
SELECT id, origin::origin AS origin, approved_via, approved_at, observed_at, project, path, masked,
       len(hunks) AS hunks,
       coalesce(seen.sightings, 0) AS sightings,
       coalesce(external_ids, []) AS external_ids,
       ends.outcome, ends.memories,
       ends.stage::stage AS stopped_stage, ends.decision AS stopped_decision, ends.reason AS stopped_reason
FROM source_learnings AS learnings
JOIN source_ends AS ends ON ends.learning_id = learnings.id
LEFT JOIN (SELECT learning_id, count(*) AS sightings FROM source_sightings GROUP BY ALL) AS seen
       ON seen.learning_id = learnings.id
ORDER BY observed_at, id;

CREATE TABLE hunks AS
SELECT learning_id, ordinal, len(heading_path) AS heading_depth,
       len(string_split(before, chr(10))) - 1 + (before <> '' AND NOT ends_with(before, chr(10)))::INT AS lines_removed,
       len(string_split(after, chr(10))) - 1 + (after <> '' AND NOT ends_with(after, chr(10)))::INT AS lines_added,
       length(before) AS characters_removed, length(after) AS characters_added
FROM source_hunks
ORDER BY learning_id, ordinal;

CREATE TABLE dispositions AS
SELECT id, stage::stage AS stage, item, item_id, learning_id, decision,
       list_contains(getvariable('goes_on'), decision) AS goes_on,
       reason, related, curator, ruleset, run_id, decided_at
FROM source_dispositions
ORDER BY learning_id, stage, item_id;

CREATE TABLE rejects AS
SELECT id, source, line, reason, size, rejected_at FROM source_rejects ORDER BY id;

CREATE TABLE memories AS
SELECT id, learning_id, ordinal, project, heading_path, question, answer, example, caveats, tools, types,
       state, superseded_by, observed_at, created_at, confirmed_at,
       has_example, has_caveats, agent_up, agent_down, human_up, human_down
FROM source_memories
ORDER BY id;

CREATE TABLE links AS
SELECT source, target, kind, score FROM source_links ORDER BY ALL;

CREATE TABLE votes (memory_id VARCHAR, channel VARCHAR, week DATE, up BIGINT, down BIGINT);

CREATE VIEW no_yield_reasons AS
SELECT stopped_stage AS stage, stopped_decision AS decision, stopped_reason AS reason, count(*) AS learnings
FROM learnings
WHERE stopped_stage IS NOT NULL
GROUP BY ALL
ORDER BY stage, learnings DESC, decision, reason;

CREATE VIEW stage_funnel AS
WITH stops AS (
    SELECT stage, count(stopped_stage) AS stopped
    FROM (SELECT unnest(enum_range(NULL::stage))::stage AS stage) LEFT JOIN learnings ON stopped_stage = stage
    GROUP BY stage
), running AS (
    SELECT stage, stopped, sum(stopped) OVER (ORDER BY stage)::BIGINT AS stopped_so_far FROM stops
), decided AS (
    SELECT count(*) AS learnings FROM learnings WHERE outcome <> 'pending'
)
SELECT stage, learnings - stopped_so_far + stopped AS "in", learnings - stopped_so_far AS out, stopped
FROM running, decided
ORDER BY stage;

CREATE VIEW tools AS
SELECT tool, count(*) AS memories, count(DISTINCT learning_id) AS learnings, count(DISTINCT project) AS projects
FROM (SELECT unnest(tools) AS tool, learning_id, project FROM memories WHERE state = 'live')
GROUP BY tool
ORDER BY memories DESC, tool;

CREATE VIEW deployment_snapshot AS
WITH lake AS (
    SELECT {'from': min(approved_at), 'to': max(approved_at)} AS "window",
           count(*) FILTER (origin IN ('hook', 'sync', 'propose')) AS approved,
           count(*) AS contributed,
           count(*) FILTER (outcome = 'productive') AS productive,
           count(*) FILTER (outcome = 'pending') AS pending
    FROM learnings
), origins AS (
    SELECT map_from_entries(list((origin, learnings) ORDER BY origin)) AS by_origin
    FROM (SELECT all_origins.origin, count(id) AS learnings
          FROM (SELECT unnest(enum_range(NULL::origin))::origin AS origin) AS all_origins
          LEFT JOIN learnings ON learnings.origin = all_origins.origin
          GROUP BY all_origins.origin)
), stages AS (
    SELECT map_from_entries(list((stage, stopped) ORDER BY stage)) AS no_yield_by_stage FROM stage_funnel
), kept AS (
    SELECT count(*) AS curated, count(*) FILTER (state = 'live') AS live FROM memories
), clients AS ($clients
), linked AS (
    SELECT source, target
    FROM links
    SEMI JOIN (FROM memories WHERE state = 'live') AS sources ON sources.id = source
    SEMI JOIN (FROM memories WHERE state = 'live') AS targets ON targets.id = target
)
SELECT $taken_at AS taken_at, "window",
       sessions, sessions_with_edit, candidates, approved, denied, prompts_shown,
       by_origin,
       live AS live_memories,
       contributed AS contributed_learnings, productive AS productive_learnings,
       contributed - productive - pending AS no_yield_learnings, pending AS pending_learnings,
       curated AS curated_memories,
       coalesce(round(curated / nullif(productive, 0), 2), 0) AS memories_per_productive_learning,
       (SELECT count(*) FROM (SELECT source FROM linked UNION SELECT target FROM linked)) AS memories_with_links,
       (SELECT count(*) FROM linked) AS semantic_links,
       (SELECT count(*) FROM tools) AS tools,
       no_yield_by_stage,
       CASE WHEN sessions = 0
            THEN ['sessions', 'sessions_with_edit', 'candidates', 'denied', 'prompts_shown'] ELSE []::VARCHAR[]
       END AS unknown
FROM lake, origins, stages, kept, clients;

CREATE VIEW memory_trust AS
WITH parts AS (
    SELECT id AS memory_id, state,
           2.0::DOUBLE * has_example::INT AS example,
           1.0::DOUBLE * has_caveats::INT AS caveats,
           least(1.0, greatest(0.0, (730 - days) / (730 - 30)))::DOUBLE AS recency,
           4.0::DOUBLE * (agent_up + 5) / (agent_up + agent_down + 10) AS agent,
           2.0::DOUBLE * (human_up + 1.5) / (human_up + human_down + 3) AS human
    FROM (SELECT *, (epoch_us($taken_at) - epoch_us(greatest(observed_at, confirmed_at))) / 86400e6 AS days
          FROM memories)
)
SELECT memory_id, state, round(example + caveats + recency + agent + human, 4) AS score,
       example, caveats, round(recency, 4) AS recency, round(agent, 4) AS agent, round(human, 4) AS human
FROM parts
ORDER BY score DESC, memory_id;

CREATE TABLE snapshots AS FROM deployment_snapshot;
