-- Two tasks as layout 4 held them: one has ended, one asks for input and has a webhook, which was given up once.
PRAGMA application_id = 0x61326164;
PRAGMA user_version = 4;
INSERT INTO scope (number, agent, tenant, owner) VALUES (1, 'main', '', 'alice');
INSERT INTO task (number, id, scope, context, state, status_at, created, deadline, changed, version, parked, weight, ended_at)
VALUES (1, x'00000000000000000000000000000001', 1, 'c', 'completed', 5, 1, NULL, 5, 3, 1, 903, 5);
INSERT INTO task (number, id, scope, context, state, status_at, created, deadline, changed, version, parked, weight, ended_at)
VALUES (2, x'00000000000000000000000000000002', 1, 'c', 'input-required', 4, 2, NULL, 4, 3, 1, 908, NULL);
INSERT INTO snapshot (task, version, body)
VALUES (1, 1, '{"version":1,"state":"submitted","statusAt":1,"changed":1,"parked":false,"weight":371,"history":[{"id":"first-of-00000000-0000-0000-0000-000000000001","role":"user","parts":[{"text":"hello"}]}]}');
INSERT INTO snapshot (task, version, body)
VALUES (2, 1, '{"version":1,"state":"submitted","statusAt":2,"changed":2,"parked":false,"weight":371,"history":[{"id":"first-of-00000000-0000-0000-0000-000000000002","role":"user","parts":[{"text":"hello"}]}]}');
INSERT INTO change (task, version, at, kind, body)
VALUES (1, 2, 5, 'status', '{"state":"working","parked":false}');
INSERT INTO change (task, version, at, kind, body)
VALUES (1, 3, 5, 'status', '{"state":"completed","parked":true}');
INSERT INTO change (task, version, at, kind, body)
VALUES (2, 2, 4, 'status', '{"state":"working","parked":false}');
INSERT INTO change (task, version, at, kind, body)
VALUES (2, 3, 4, 'status', '{"state":"input-required","parked":true}');
INSERT INTO webhook (number, task, id, named, form, body, told, done)
VALUES (1, 2, 'hook', 1, '1.0', '{"url":"https://hooks.example/a"}', 3, 0);
INSERT INTO letter (webhook, version, at, why, again) VALUES (1, 2, 4, 'answered 500', 0);
INSERT INTO agent (id, body, published) VALUES ('main', NULL, 0);
