-- Version 1 of the file's layout. Bodies are JSON.
-- Times are milliseconds since 1970-01-01T00:00:00Z.

CREATE TABLE task (
    -- Changes and snapshots hang on this number: it is short, and new tasks are written at the end of
    -- each table, where random ids would touch a page of their own each.
    number    INTEGER PRIMARY KEY,
    id        BLOB    NOT NULL UNIQUE CHECK (length(id) = 16),
    agent     TEXT    NOT NULL,
    -- Empty when there is none; a tenant's name never is.
    tenant    TEXT    NOT NULL,
    owner     TEXT    NOT NULL,
    context   TEXT    NOT NULL,
    state     TEXT    NOT NULL,
    status_at INTEGER NOT NULL,
    created   INTEGER NOT NULL,
    deadline  INTEGER,
    changed   INTEGER NOT NULL,
    version   INTEGER NOT NULL CHECK (version > 0),
    parked    INTEGER NOT NULL,
    -- About how many bytes of the file the task takes.
    weight    INTEGER NOT NULL,
    -- Set exactly when the state is one that a task ends in.
    ended_at  INTEGER
) STRICT;

-- What a task was at a version. In a table of its own: an update of a row writes all of the row, and
-- an append must not write the whole task again.
CREATE TABLE snapshot (
    task    INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL
) STRICT;

CREATE TABLE change (
    task    INTEGER NOT NULL,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    kind    TEXT    NOT NULL CHECK (kind IN ('message', 'status', 'artifact')),
    body    TEXT    NOT NULL,
    PRIMARY KEY (task, version)
) STRICT, WITHOUT ROWID;

CREATE INDEX task_by_scope ON task (agent, tenant, owner, status_at, id);
CREATE INDEX task_by_context ON task (agent, tenant, owner, context, status_at, id);
CREATE INDEX task_by_state ON task (agent, tenant, owner, state, status_at, id);
CREATE INDEX task_waiting ON task (agent, status_at)
    WHERE state IN ('input-required', 'auth-required');
CREATE INDEX task_ended ON task (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX task_live ON task (agent, tenant, owner, deadline) WHERE ended_at IS NULL;
