-- People and content: suspension with its reason, paid spans, one-time password links,
-- the audit log, the queue of messages and all content but plans.

ALTER TABLE user ADD COLUMN suspended_for TEXT;
ALTER TABLE user ADD COLUMN paid_until INTEGER;
ALTER TABLE user ADD COLUMN late_since INTEGER;
ALTER TABLE user ADD COLUMN disputed_at INTEGER;
ALTER TABLE user ADD COLUMN ends_at INTEGER;
ALTER TABLE user ADD COLUMN removed_at INTEGER;
ALTER TABLE user ADD COLUMN kind INTEGER NOT NULL GENERATED ALWAYS AS (
    CASE WHEN removed_at IS NOT NULL THEN 2 WHEN role IN ('drop', 'admin') THEN 1 ELSE 0 END
) VIRTUAL;
ALTER TABLE user ADD COLUMN standing INTEGER NOT NULL GENERATED ALWAYS AS (
    CASE WHEN suspended_at IS NOT NULL THEN 2 WHEN late_since IS NOT NULL THEN 1 ELSE 0 END
) VIRTUAL;
ALTER TABLE user ADD COLUMN disputed INTEGER NOT NULL GENERATED ALWAYS AS (disputed_at IS NOT NULL) VIRTUAL;
ALTER TABLE user ADD COLUMN name_key TEXT NOT NULL GENERATED ALWAYS AS (
    lower(
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(name
    , 'á', 'a'), 'Á', 'a'), 'à', 'a'), 'À', 'a'), 'â', 'a'), 'Â', 'a')
    , 'ã', 'a'), 'Ã', 'a'), 'é', 'e'), 'É', 'e'), 'ê', 'e'), 'Ê', 'e')
    , 'í', 'i'), 'Í', 'i'), 'ó', 'o'), 'Ó', 'o'), 'ô', 'o'), 'Ô', 'o')
    , 'õ', 'o'), 'Õ', 'o'), 'ú', 'u'), 'Ú', 'u'), 'ü', 'u'), 'Ü', 'u')
    , 'ç', 'c'), 'Ç', 'c'))
) VIRTUAL;
ALTER TABLE user ADD COLUMN search TEXT NOT NULL GENERATED ALWAYS AS (email || ' ' || name_key) VIRTUAL;

CREATE INDEX user_late ON user (user_id) WHERE late_since IS NOT NULL AND suspended_at IS NULL;
CREATE INDEX user_ending ON user (ends_at) WHERE ends_at IS NOT NULL AND suspended_at IS NULL;

-- Purchase events of the checkout platform, each once, with what it did. Bodies lie apart, so that lists stay dense.
CREATE TABLE checkout_event (
    event_id    INTEGER PRIMARY KEY,        -- grows in the order of arrival
    received_at INTEGER NOT NULL,           -- when it first came in
    dedup_key   BLOB NOT NULL UNIQUE,       -- digest of the event's id, else of transaction and event
    event       TEXT NOT NULL,              -- as the platform calls it
    kind        INTEGER NOT NULL,           -- what it means: 1 approved, 2 complete, 3 refunded, 4 chargeback, 5 canceled, 6 protest, 7 delayed, 8 expired, 9 subscription cancelled, 10 plan switched, 11 slip printed, 12 charge date, 13 cart, 0 anything else
    state       INTEGER NOT NULL,           -- 1 applied, 2 nothing to change, 3 kept without action, 4 no plan for its product, 5 no student yet, 6 not a student
    outcome     TEXT NOT NULL,              -- what it did and why, in words for staff
    user_id     INTEGER REFERENCES user (user_id) ON DELETE SET NULL, -- the student for whom it counts
    email       TEXT NOT NULL,              -- the buyer's, trimmed and in lower case; empty when it names none
    purchase    TEXT,                       -- the platform's transaction; each renewal has its own
    subscriber  TEXT,                       -- subscriber code, one a subscription
    product     TEXT,                       -- product id
    happened_ms INTEGER NOT NULL,           -- when, by the platform, in Unix milliseconds
    role        TEXT,                       -- the plan that its product stands for
    paid_until  INTEGER,                    -- said by payments only
    recurrence  INTEGER                     -- number of the charge, 1 for the first
) STRICT;

CREATE INDEX checkout_event_by_user ON checkout_event (user_id, event_id) WHERE user_id IS NOT NULL;
-- Most events are only kept, and are looked for among the newest.
CREATE INDEX checkout_event_by_email ON checkout_event (email, event_id) WHERE email <> '' AND state <> 3;
CREATE INDEX checkout_event_by_purchase ON checkout_event (purchase, event_id) WHERE purchase IS NOT NULL AND state <> 3;
CREATE INDEX checkout_event_by_kind ON checkout_event (kind, event_id);
CREATE INDEX checkout_event_by_state ON checkout_event (state, event_id);

-- What was received, without the token; removed after 30 days.
CREATE TABLE checkout_body (
    event_id    INTEGER PRIMARY KEY REFERENCES checkout_event (event_id) ON DELETE CASCADE, -- whose body it is
    received_at INTEGER NOT NULL,           -- when it came in
    body        TEXT NOT NULL               -- JSON, also of what came as a form
) STRICT;

-- Number of purchase events by kind and state: the totals of their list.
CREATE TABLE checkout_count (
    kind   INTEGER NOT NULL,                -- as in checkout_event
    state  INTEGER NOT NULL,                -- as in checkout_event
    events INTEGER NOT NULL,                -- how many
    PRIMARY KEY (kind, state)
) STRICT, WITHOUT ROWID;

-- Set-up links live thirty minutes; `setup-link` makes a new one.
DROP TABLE one_time_link;
CREATE TABLE one_time_link (
    link_hash  BLOB PRIMARY KEY,            -- SHA-256 of the code in the link
    purpose    TEXT NOT NULL CHECK (purpose IN ('setup', 'senha')),
    user_id    INTEGER REFERENCES user (user_id) ON DELETE CASCADE, -- whose password it sets
    code       BLOB,                        -- sealed, opened when its message leaves; NULL when the code was shown at once
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at    INTEGER                      -- set when it was used
) STRICT, WITHOUT ROWID;

CREATE INDEX one_time_link_by_purpose ON one_time_link (purpose, created_at);
CREATE INDEX one_time_link_by_user ON one_time_link (user_id, created_at);

CREATE TABLE audit (
    audit_id    INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    actor_kind  TEXT NOT NULL CHECK (actor_kind IN ('pessoa', 'chave', 'comando', 'compra', 'sistema')),
    actor_id    INTEGER,                    -- person or key; NULL for commands and the service itself
    actor_name  TEXT NOT NULL,              -- as it was called then
    address     TEXT NOT NULL,              -- client address, empty for commands
    request_id  TEXT NOT NULL,              -- empty for commands
    action      TEXT NOT NULL,              -- such as aluno.suspender
    object_kind TEXT NOT NULL,              -- such as aluno
    object_id   TEXT NOT NULL,
    object_name TEXT NOT NULL,              -- as it was called then
    before      TEXT,                       -- JSON of what changed; NULL when it was made
    after       TEXT                        -- JSON of what it became; NULL when it was removed
) STRICT;

CREATE INDEX audit_by_object ON audit (object_kind, object_id, audit_id);
CREATE INDEX audit_by_actor ON audit (actor_kind, actor_id, audit_id);
CREATE INDEX audit_by_action ON audit (action, audit_id);
CREATE INDEX audit_by_time ON audit (at, audit_id);
CREATE INDEX audit_of_actors ON audit (actor_kind, audit_id, object_kind);
CREATE INDEX audit_of_objects ON audit (object_kind, audit_id, actor_kind);

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;

-- Words of the audit log, kept by a trigger: finds entries by beginnings of words.
CREATE VIRTUAL TABLE audit_search USING fts5 (
    actor_name, address, request_id, action, object_name, before, after,
    content = 'audit', content_rowid = 'audit_id', columnsize = 0, detail = none,
    tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3');
CREATE TRIGGER audit_is_searched AFTER INSERT ON audit
BEGIN
    INSERT INTO audit_search (rowid, actor_name, address, request_id, action, object_name, before, after)
    VALUES (NEW.audit_id, NEW.actor_name, NEW.address, NEW.request_id, NEW.action, NEW.object_name, NEW.before, NEW.after);
END;

CREATE TABLE outbox (
    message_id INTEGER PRIMARY KEY,
    channel    TEXT NOT NULL CHECK (channel IN ('chat', 'telegram', 'email', 'push')),
    user_id    INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- the recipient
    kind       TEXT NOT NULL,               -- such as boas_vindas
    params     TEXT NOT NULL,               -- JSON: what fills its text; never a secret
    dedup_key  TEXT NOT NULL UNIQUE,        -- what it is sent for, once
    state      INTEGER NOT NULL,            -- 0 waiting, 1 sent, 2 dropped, 3 given up
    created_at INTEGER NOT NULL,
    run_at     INTEGER NOT NULL,            -- not before
    expires_at INTEGER,                     -- worthless after
    done_at    INTEGER,                     -- when it was sent, dropped or given up
    outcome    TEXT                         -- why it waits or what became of it
) STRICT;

CREATE INDEX outbox_waiting ON outbox (run_at, message_id) WHERE state = 0;
CREATE INDEX outbox_by_person ON outbox (user_id, message_id);
CREATE INDEX outbox_by_state ON outbox (state, message_id);
CREATE INDEX outbox_by_channel ON outbox (channel, message_id);
CREATE INDEX outbox_by_kind ON outbox (kind, message_id);
CREATE INDEX outbox_done ON outbox (done_at) WHERE done_at IS NOT NULL;

CREATE TABLE outbox_count (
    channel  TEXT NOT NULL,                 -- as in outbox
    kind     TEXT NOT NULL,                 -- as in outbox
    state    INTEGER NOT NULL,              -- as in outbox
    messages INTEGER NOT NULL,              -- how many
    PRIMARY KEY (channel, kind, state)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER outbox_comes AFTER INSERT ON outbox
BEGIN
    INSERT INTO outbox_count (channel, kind, state, messages) VALUES (NEW.channel, NEW.kind, NEW.state, 1)
    ON CONFLICT DO UPDATE SET messages = messages + 1;
END;
CREATE TRIGGER outbox_goes AFTER DELETE ON outbox
BEGIN
    UPDATE outbox_count SET messages = messages - 1
    WHERE channel = OLD.channel AND kind = OLD.kind AND state = OLD.state;
END;
CREATE TRIGGER outbox_moves AFTER UPDATE OF state ON outbox WHEN NEW.state <> OLD.state
BEGIN
    UPDATE outbox_count SET messages = messages - 1
    WHERE channel = OLD.channel AND kind = OLD.kind AND state = OLD.state;
    INSERT INTO outbox_count (channel, kind, state, messages) VALUES (NEW.channel, NEW.kind, NEW.state, 1)
    ON CONFLICT DO UPDATE SET messages = messages + 1;
END;

CREATE TABLE api_key (
    key_id       INTEGER PRIMARY KEY,
    key_hash     BLOB NOT NULL UNIQUE,      -- SHA-256 of the key
    name         TEXT NOT NULL CHECK (name <> ''), -- what it is for
    prefix       TEXT NOT NULL,             -- first characters, for recognising it
    scopes       TEXT NOT NULL,             -- what it may do: write, webhook_receive, admin, separated by blanks
    networks     TEXT NOT NULL,             -- where it may be used from: addresses and blocks separated by blanks; empty for anywhere
    rate_limit   INTEGER CHECK (rate_limit > 0), -- calls a window; NULL for limits.requests
    created_at   INTEGER NOT NULL,          -- when it was made
    expires_at   INTEGER,                   -- no longer works from then on; NULL without an end
    revoked_at   INTEGER,                   -- when it was revoked; NULL while it was not
    replaced_by  INTEGER REFERENCES api_key (key_id), -- the key it was exchanged for
    ends_at      INTEGER,                   -- end of the overlap with that key
    last_used_at INTEGER,                   -- last good call, written behind
    last_address TEXT,                      -- client address of that call
    last_route   TEXT                       -- method and path of that call
) STRICT;

CREATE INDEX api_key_by_successor ON api_key (replaced_by);
-- Content: teachers, courses, lessons and who has done them, meets; totals for the public context.
CREATE TABLE teacher (
    teacher_id INTEGER PRIMARY KEY,         -- the teacher's number
    name       TEXT NOT NULL CHECK (name <> ''), -- full name
    bio        TEXT NOT NULL DEFAULT '',    -- a few sentences about the person
    photo      TEXT NOT NULL DEFAULT '',    -- path of the photo, empty without one
    instagram  TEXT NOT NULL DEFAULT '',    -- https address, empty without one
    youtube    TEXT NOT NULL DEFAULT '',    -- https address, empty without one
    linkedin   TEXT NOT NULL DEFAULT '',    -- https address, empty without one
    site       TEXT NOT NULL DEFAULT '',    -- https address, empty without one
    created_at INTEGER NOT NULL,            -- when it was made
    updated_at INTEGER NOT NULL             -- when it was last changed
) STRICT;

CREATE INDEX teacher_by_name ON teacher (name COLLATE NOCASE, teacher_id);

CREATE TABLE course (
    course_id   INTEGER PRIMARY KEY,        -- the course's number
    title       TEXT NOT NULL,              -- as people read it
    description TEXT NOT NULL DEFAULT '',   -- what one learns in it
    position    INTEGER NOT NULL,           -- place among the courses
    published   INTEGER NOT NULL CHECK (published IN (0, 1)), -- 0 while only staff sees it
    created_at  INTEGER NOT NULL,           -- when it was made
    updated_at  INTEGER NOT NULL            -- when it was last changed
) STRICT;

CREATE INDEX course_by_position ON course (position, course_id);

CREATE TABLE course_role (
    course_id INTEGER NOT NULL REFERENCES course (course_id) ON DELETE CASCADE, -- the course
    role      TEXT NOT NULL CHECK (role IN ('free', 'pro', 'vip', 'piloto_pro', 'podio')), -- a role that sees it
    PRIMARY KEY (course_id, role)
) STRICT, WITHOUT ROWID;

CREATE TABLE lesson (
    lesson_id  INTEGER PRIMARY KEY,         -- the lesson's number
    course_id  INTEGER NOT NULL REFERENCES course (course_id), -- the course it belongs to
    teacher_id INTEGER REFERENCES teacher (teacher_id), -- who gives it, if that is told
    title      TEXT NOT NULL,               -- as people read it
    video_url  TEXT NOT NULL,               -- https address of the video
    position   INTEGER NOT NULL,            -- place in the course
    created_at INTEGER NOT NULL,            -- when it was made
    updated_at INTEGER NOT NULL             -- when it was last changed
) STRICT;

CREATE INDEX lesson_by_course ON lesson (course_id, position, lesson_id);
CREATE INDEX lesson_by_teacher ON lesson (teacher_id, course_id);

CREATE TABLE lesson_done (
    user_id   INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- the student
    lesson_id INTEGER NOT NULL REFERENCES lesson (lesson_id) ON DELETE CASCADE, -- the lesson
    done_at   INTEGER NOT NULL,             -- when it was marked
    PRIMARY KEY (user_id, lesson_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX lesson_done_by_lesson ON lesson_done (lesson_id, user_id);

CREATE TABLE meet (
    meet_id     INTEGER PRIMARY KEY,        -- the meet's number
    title       TEXT NOT NULL,              -- as people read it
    description TEXT NOT NULL DEFAULT '',   -- what it is about
    teacher_id  INTEGER REFERENCES teacher (teacher_id), -- who holds it, if that is told
    starts_at   INTEGER NOT NULL,           -- when it begins
    minutes     INTEGER NOT NULL CHECK (minutes > 0), -- how long it takes
    link        TEXT NOT NULL DEFAULT '',   -- https address to join by, empty until it is known
    public      INTEGER NOT NULL DEFAULT 0 CHECK (public IN (0, 1)), -- 1 when anyone may join
    created_at  INTEGER NOT NULL,           -- when it was made
    updated_at  INTEGER NOT NULL            -- when it was last changed
) STRICT;

CREATE INDEX meet_by_start ON meet (starts_at, meet_id);
CREATE INDEX meet_by_teacher ON meet (teacher_id, starts_at);

CREATE TABLE total (
    name  TEXT PRIMARY KEY,                 -- active_students: those who may sign in; linked_accounts
    count INTEGER NOT NULL                  -- how many there are
) STRICT, WITHOUT ROWID;

INSERT INTO total (name, count) VALUES ('active_students', 0), ('linked_accounts', 0);
UPDATE total SET count = (SELECT count(*) FROM user WHERE suspended_at IS NULL AND role NOT IN ('drop', 'admin'))
WHERE name = 'active_students';
UPDATE total SET count = (SELECT count(*) FROM ml_account) WHERE name = 'linked_accounts';

CREATE TRIGGER student_comes AFTER INSERT ON user
WHEN new.suspended_at IS NULL AND new.role NOT IN ('drop', 'admin')
BEGIN UPDATE total SET count = count + 1 WHERE name = 'active_students'; END;
CREATE TRIGGER student_goes AFTER DELETE ON user
WHEN old.suspended_at IS NULL AND old.role NOT IN ('drop', 'admin')
BEGIN UPDATE total SET count = count - 1 WHERE name = 'active_students'; END;
CREATE TRIGGER student_changes AFTER UPDATE OF role, suspended_at ON user
WHEN (old.suspended_at IS NULL AND old.role NOT IN ('drop', 'admin'))
    <> (new.suspended_at IS NULL AND new.role NOT IN ('drop', 'admin'))
BEGIN
    UPDATE total SET count = count + iif(new.suspended_at IS NULL AND new.role NOT IN ('drop', 'admin'), 1, -1)
    WHERE name = 'active_students';
END;
CREATE TRIGGER account_comes AFTER INSERT ON ml_account
BEGIN UPDATE total SET count = count + 1 WHERE name = 'linked_accounts'; END;
CREATE TRIGGER account_goes AFTER DELETE ON ml_account
BEGIN UPDATE total SET count = count - 1 WHERE name = 'linked_accounts'; END;


CREATE TABLE photo (
    photo_id   INTEGER PRIMARY KEY,         -- the photo's number
    digest     BLOB NOT NULL,               -- SHA-256 of the bytes, the name in its address
    user_id    INTEGER UNIQUE REFERENCES user (user_id) ON DELETE CASCADE, -- whose it is: a person's
    teacher_id INTEGER UNIQUE REFERENCES teacher (teacher_id) ON DELETE CASCADE, -- or a teacher's
    media      TEXT NOT NULL CHECK (media IN ('image/jpeg', 'image/png', 'image/webp')), -- what it is
    created_at INTEGER NOT NULL,            -- when it was sent
    bytes      BLOB NOT NULL,               -- the file
    CHECK ((user_id IS NULL) <> (teacher_id IS NULL))
) STRICT;

CREATE INDEX photo_by_digest ON photo (digest);
-- Lists of people: each order has an index that also answers every filter and search.
CREATE INDEX user_by_name ON user (kind, name_key, user_id, role, standing, disputed, search);
CREATE INDEX user_by_creation ON user (kind, created_at, user_id, role, standing, disputed, search);
CREATE INDEX user_by_access ON user (kind, last_access_at, user_id, role, standing, disputed, search);

-- Number of people by kind, standing, dispute and role, kept by triggers: the totals of their lists.
CREATE TABLE person_count (
    kind     INTEGER NOT NULL,              -- as in user
    standing INTEGER NOT NULL,              -- as in user
    disputed INTEGER NOT NULL,              -- as in user
    role     TEXT NOT NULL,                 -- as in user
    people   INTEGER NOT NULL,              -- how many
    PRIMARY KEY (kind, standing, disputed, role)
) STRICT, WITHOUT ROWID;

-- Runs of three letters of names and e-mail addresses, kept by triggers: finds people by a part of either.
CREATE VIRTUAL TABLE person_search USING fts5 (
    search, content = 'user', content_rowid = 'user_id', tokenize = 'trigram', columnsize = 0);

-- What is removed leaves no trace in the index.
INSERT INTO person_search (person_search, rank) VALUES ('secure-delete', 1);

-- People who were here before.
INSERT INTO person_search (person_search) VALUES ('rebuild');
INSERT INTO person_count (kind, standing, disputed, role, people)
SELECT kind, standing, disputed, role, count(*) FROM user GROUP BY kind, standing, disputed, role;

CREATE TRIGGER user_is_made AFTER INSERT ON user
BEGIN
    INSERT INTO person_search (rowid, search) VALUES (NEW.user_id, NEW.search);
    INSERT INTO person_count (kind, standing, disputed, role, people)
    VALUES (NEW.kind, NEW.standing, NEW.disputed, NEW.role, 1)
    ON CONFLICT DO UPDATE SET people = people + 1;
END;
CREATE TRIGGER user_is_renamed AFTER UPDATE OF name, email ON user WHEN OLD.search <> NEW.search
BEGIN
    INSERT INTO person_search (person_search, rowid, search) VALUES ('delete', OLD.user_id, OLD.search);
    INSERT INTO person_search (rowid, search) VALUES (NEW.user_id, NEW.search);
END;
CREATE TRIGGER user_changes_place AFTER UPDATE OF role, suspended_at, late_since, disputed_at, removed_at ON user
BEGIN
    UPDATE person_count SET people = people - 1
    WHERE kind = OLD.kind AND standing = OLD.standing AND disputed = OLD.disputed AND role = OLD.role;
    INSERT INTO person_count (kind, standing, disputed, role, people)
    VALUES (NEW.kind, NEW.standing, NEW.disputed, NEW.role, 1)
    ON CONFLICT DO UPDATE SET people = people + 1;
END;
CREATE TRIGGER user_is_removed AFTER DELETE ON user
BEGIN
    INSERT INTO person_search (person_search, rowid, search) VALUES ('delete', OLD.user_id, OLD.search);
    UPDATE person_count SET people = people - 1
    WHERE kind = OLD.kind AND standing = OLD.standing AND disputed = OLD.disputed AND role = OLD.role;
END;

-- The inbox as operators search it.
CREATE INDEX ml_notification_ignored ON ml_notification (notification_id) WHERE state = 2;
CREATE INDEX ml_notification_by_topic ON ml_notification (topic, notification_id);

CREATE TABLE ml_notification_count (
    topic         TEXT NOT NULL,            -- a topic that lists can be narrowed to, or empty
    state         INTEGER NOT NULL,         -- as in ml_notification
    notifications INTEGER NOT NULL,         -- how many
    PRIMARY KEY (topic, state)
) STRICT, WITHOUT ROWID;

INSERT INTO ml_notification_count (topic, state, notifications)
SELECT iif(topic IN ('orders_v2', 'questions', 'items', 'claims', 'post_purchase'), topic, ''), state, count(*)
FROM ml_notification GROUP BY 1, 2;

CREATE TRIGGER ml_notification_comes AFTER INSERT ON ml_notification
BEGIN
    INSERT INTO ml_notification_count (topic, state, notifications)
    VALUES (iif(NEW.topic IN ('orders_v2', 'questions', 'items', 'claims', 'post_purchase'), NEW.topic, ''), NEW.state, 1)
    ON CONFLICT DO UPDATE SET notifications = notifications + 1;
END;
CREATE TRIGGER ml_notification_goes AFTER DELETE ON ml_notification
BEGIN
    UPDATE ml_notification_count SET notifications = notifications - 1
    WHERE topic = iif(OLD.topic IN ('orders_v2', 'questions', 'items', 'claims', 'post_purchase'), OLD.topic, '')
        AND state = OLD.state;
END;
CREATE TRIGGER ml_notification_moves AFTER UPDATE OF state ON ml_notification WHEN NEW.state <> OLD.state
BEGIN
    UPDATE ml_notification_count SET notifications = notifications - 1
    WHERE topic = iif(OLD.topic IN ('orders_v2', 'questions', 'items', 'claims', 'post_purchase'), OLD.topic, '')
        AND state = OLD.state;
    INSERT INTO ml_notification_count (topic, state, notifications)
    VALUES (iif(NEW.topic IN ('orders_v2', 'questions', 'items', 'claims', 'post_purchase'), NEW.topic, ''), NEW.state, 1)
    ON CONFLICT DO UPDATE SET notifications = notifications + 1;
END;
-- Lists of students that were sent to be imported, kept for a week: what is to become of each row, and what became of it.
CREATE TABLE student_import (
    import_id  INTEGER PRIMARY KEY,         -- the import's number
    file_name  TEXT NOT NULL,               -- as the browser called it
    by_name    TEXT NOT NULL,               -- who sent it, as they were called then
    created_at INTEGER NOT NULL,            -- when it was sent
    done_at    INTEGER,                     -- when its students were made; NULL before
    total      INTEGER NOT NULL,            -- rows of the file
    to_make    INTEGER NOT NULL,            -- rows that are to be made
    made       INTEGER NOT NULL,            -- rows that were made
    existing   INTEGER NOT NULL,            -- rows whose address has an account already
    faulty     INTEGER NOT NULL,            -- rows that cannot be made
    rows       TEXT NOT NULL                -- JSON: each row with its outcome
) STRICT;

-- View as student.
ALTER TABLE session ADD COLUMN viewing_id INTEGER;
ALTER TABLE session ADD COLUMN viewing_until INTEGER;
CREATE INDEX session_viewing ON session (viewing_until) WHERE viewing_id IS NOT NULL;
