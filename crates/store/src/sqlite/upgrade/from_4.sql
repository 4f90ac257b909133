-- From version 4 to 5: changes are in the order of their tasks and versions without an index beside them.
ALTER TABLE change RENAME TO old_change;

CREATE TABLE change (
    number  INTEGER PRIMARY KEY,
    task    INTEGER GENERATED ALWAYS AS (number >> 28),
    version INTEGER GENERATED ALWAYS AS (number & 0xfffffff),
    at      INTEGER NOT NULL,
    kind    TEXT    NOT NULL CHECK (kind IN ('message', 'status', 'artifact')),
    body    TEXT    NOT NULL
) STRICT;

INSERT INTO change (number, at, kind, body)
SELECT task << 28 | version, at, kind, body FROM old_change ORDER BY task, version;

DROP TABLE old_change;
