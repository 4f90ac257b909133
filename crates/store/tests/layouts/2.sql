-- Layout 2, as it was.
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

CREATE TABLE snapshot (
    task    INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL
) STRICT;

CREATE TABLE change (
    number  INTEGER PRIMARY KEY,
    task    INTEGER NOT NULL,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    kind    TEXT    NOT NULL CHECK (kind IN ('message', 'status', 'artifact')),
    body    TEXT    NOT NULL
) STRICT;

CREATE UNIQUE INDEX task_by_id ON task (id);
CREATE INDEX task_by_context ON task (scope, context);
CREATE INDEX task_by_state ON task (scope, state, status_at, id);
CREATE INDEX task_ended ON task (ended_at) WHERE ended_at IS NOT NULL;
CREATE UNIQUE INDEX change_by_task ON change (task, version);
