-- Version 4 of the file's layout. Bodies are JSON.
-- Times are milliseconds since 1970-01-01T00:00:00Z.

-- Who may see a task. The names stand here once, so that rows and indexes carry a number.
CREATE TABLE scope (
    number INTEGER PRIMARY KEY,
    agent  TEXT NOT NULL,
    -- Empty when there is none; a tenant's name never is.
    tenant TEXT NOT NULL,
    owner  TEXT NOT NULL,
    UNIQUE (agent, tenant, owner)
) STRICT;

CREATE TABLE task (
    -- Changes and snapshots hang on this number: it is short, and new tasks are written at the end of
    -- each table.
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
    -- About how many bytes of the file the task takes.
    weight    INTEGER NOT NULL,
    -- Set exactly when the state is one that a task ends in.
    ended_at  INTEGER
) STRICT;

-- What a task was at a version: its first, and then whenever many changes have come since. In a table
-- of its own: an update of a row writes all of the row, and an append must not write the whole task.
CREATE TABLE snapshot (
    task    INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL
) STRICT;

-- With an index beside it, and not in the order of (task, version): a table in the order of anything but
-- its own number puts a body of one kilobyte on a page of its own.
CREATE TABLE change (
    number  INTEGER PRIMARY KEY,
    task    INTEGER NOT NULL,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    kind    TEXT    NOT NULL CHECK (kind IN ('message', 'status', 'artifact')),
    body    TEXT    NOT NULL
) STRICT;

-- Where clients want to be told of what happens to a task, and how far each has been told.
CREATE TABLE webhook (
    -- Never given to another: what is on its way for a webhook that is gone must change none.
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    task   INTEGER NOT NULL,
    id     TEXT    NOT NULL,
    -- Whether the client has chosen the id.
    named  INTEGER NOT NULL,
    form   TEXT    NOT NULL,
    body   TEXT    NOT NULL,
    -- The version of the newest change that it was told of or that was given up.
    told   INTEGER NOT NULL,
    -- Whether there is nothing more to tell.
    done   INTEGER NOT NULL,
    UNIQUE (task, id)
) STRICT;

-- What was given up.
CREATE TABLE letter (
    webhook INTEGER NOT NULL,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    why     TEXT    NOT NULL,
    -- Whether it is to be told after all.
    again   INTEGER NOT NULL,
    PRIMARY KEY (webhook, version)
) STRICT, WITHOUT ROWID;

-- What operators have decided about agents while the server ran.
CREATE TABLE agent (
    id        TEXT PRIMARY KEY,
    -- What it is, as it was added; none for an agent that the configuration describes.
    body      TEXT,
    published INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX task_by_id ON task (id);
CREATE INDEX task_by_context ON task (scope, context);
-- Every list reads this one, state by state: a second one in the order of time alone would have to be
-- written whenever a state changes.
CREATE INDEX task_by_state ON task (scope, state, status_at, id);
CREATE INDEX task_ended ON task (ended_at) WHERE ended_at IS NOT NULL;
CREATE UNIQUE INDEX change_by_task ON change (task, version);
CREATE INDEX webhook_open ON webhook (task) WHERE done = 0;
CREATE INDEX letter_again ON letter (webhook) WHERE again = 1;
