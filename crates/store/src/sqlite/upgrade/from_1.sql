-- From version 1 to 2: scopes have numbers, lists read one index, changes are rows in the order in which
-- they came.
ALTER TABLE task RENAME TO old_task;
ALTER TABLE change RENAME TO old_change;
DROP INDEX task_by_scope;
DROP INDEX task_by_context;
DROP INDEX task_by_state;
DROP INDEX task_waiting;
DROP INDEX task_ended;
DROP INDEX task_live;

CREATE TABLE scope (
    number INTEGER PRIMARY KEY,
    agent  TEXT NOT NULL,
    tenant TEXT NOT NULL,
    owner  TEXT NOT NULL,
    UNIQUE (agent, tenant, owner)
) STRICT;

CREATE TABLE task (
    number    INTEGER PRIMARY KEY,
    id        BLOB    NOT NULL CHECK (length(id) = 16),
    scope     INTEGER NOT NULL,
    context   TEXT    NOT NULL,
    state     TEXT    NOT NULL,
    status_at INTEGER NOT NULL,
    created   INTEGER NOT NULL,
    deadline  INTEGER,
    changed   INTEGER NOT NULL,
    version   INTEGER NOT NULL CHECK (version > 0),
    parked    INTEGER NOT NULL,
    weight    INTEGER NOT NULL,
    ended_at  INTEGER
) STRICT;

CREATE TABLE change (
    number  INTEGER PRIMARY KEY,
    task    INTEGER NOT NULL,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    kind    TEXT    NOT NULL CHECK (kind IN ('message', 'status', 'artifact')),
    body    TEXT    NOT NULL
) STRICT;

INSERT INTO scope (agent, tenant, owner) SELECT DISTINCT agent, tenant, owner FROM old_task;

INSERT INTO task (number, id, scope, context, state, status_at, created, deadline, changed, version,
                  parked, weight, ended_at)
SELECT old.number, old.id, scope.number, old.context, old.state, old.status_at, old.created,
       old.deadline, old.changed, old.version, old.parked, old.weight, old.ended_at
FROM old_task AS old JOIN scope USING (agent, tenant, owner)
ORDER BY old.number;

INSERT INTO change (task, version, at, kind, body)
SELECT task, version, at, kind, body FROM old_change ORDER BY task, version;

DROP TABLE old_task;
DROP TABLE old_change;

CREATE UNIQUE INDEX task_by_id ON task (id);
CREATE INDEX task_by_context ON task (scope, context);
CREATE INDEX task_by_state ON task (scope, state, status_at, id);
CREATE INDEX task_ended ON task (ended_at) WHERE ended_at IS NOT NULL;
CREATE UNIQUE INDEX change_by_task ON change (task, version);
