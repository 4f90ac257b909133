-- From version 3 to 4: what operators have decided about agents while the server ran.
CREATE TABLE agent (
    id        TEXT PRIMARY KEY,
    body      TEXT,
    published INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
