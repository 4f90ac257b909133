-- From version 2 to 3: webhooks, and what was given up for them.
CREATE TABLE webhook (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    task   INTEGER NOT NULL,
    id     TEXT    NOT NULL,
    named  INTEGER NOT NULL,
    form   TEXT    NOT NULL,
    body   TEXT    NOT NULL,
    told   INTEGER NOT NULL,
    done   INTEGER NOT NULL,
    UNIQUE (task, id)
) STRICT;

CREATE TABLE letter (
    webhook INTEGER NOT NULL,
    version INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    why     TEXT    NOT NULL,
    again   INTEGER NOT NULL,
    PRIMARY KEY (webhook, version)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_open ON webhook (task) WHERE done = 0;
CREATE INDEX letter_again ON letter (webhook) WHERE again = 1;
