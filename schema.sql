-- The whole database of Seller Platform, in one file, for reading.
--
-- A new database is made from this text; older ones are brought here by the
-- numbered files in src/db/migrations. A test proves that both ways end at
-- the same schema, so new columns go last in their table.
--
-- Instants are Unix seconds UTC (`…_at`), civil days are days since
-- 1970-01-01 in the configured time zone (`day`), money is centavos
-- (`…_cents`), flags are 0 or 1, marketplace ids are integers. Tables that
-- grow are STRICT like all others and clustered the way they are read.

-- ---------------------------------------------------------------- platform

-- Values the server made or keeps for itself: generated secrets (sealed), the check value of the encryption key.
CREATE TABLE setting (
    name       TEXT PRIMARY KEY,  -- such as cron_secret
    value      BLOB NOT NULL,     -- sealed when it is a secret
    updated_at INTEGER NOT NULL   -- when it was last written
) STRICT, WITHOUT ROWID;

-- Fixed windows of the rate limiter, written behind at most a second after counting.
CREATE TABLE rate_window (
    subject    BLOB PRIMARY KEY,  -- first 16 bytes of the SHA-256 of class and subject
    started_at INTEGER NOT NULL,  -- first counted request of the window
    length_s   INTEGER NOT NULL,  -- length of the window in seconds
    count      INTEGER NOT NULL   -- requests counted in it
) STRICT, WITHOUT ROWID;

-- Things worth counting a day, such as refused signatures.
CREATE TABLE daily_count (
    name  TEXT NOT NULL,          -- what is counted
    day   INTEGER NOT NULL,       -- civil day
    count INTEGER NOT NULL,       -- how often
    PRIMARY KEY (name, day)
) STRICT, WITHOUT ROWID;

-- How the parts of the service were on each civil day; 90 of them are kept.
CREATE TABLE component_day (
    component  TEXT NOT NULL,     -- which part, such as marketplace
    day        INTEGER NOT NULL,  -- civil day
    observed_s INTEGER NOT NULL,  -- seconds in which it was looked at
    impaired_s INTEGER NOT NULL,  -- seconds of them in which it did not do all of its work
    PRIMARY KEY (component, day)
) STRICT, WITHOUT ROWID;

-- What administrators, keys and commands have done. Rows are only ever added; of people who are erased the words are blanked.
CREATE TABLE audit (
    audit_id    INTEGER PRIMARY KEY,        -- grows with time
    at          INTEGER NOT NULL,           -- when it was done
    actor_kind  TEXT NOT NULL CHECK (actor_kind IN ('pessoa', 'chave', 'comando', 'compra', 'sistema')), -- who did it: a person, an API key, a command, a purchase, the service itself
    actor_id    INTEGER,                    -- person or key; NULL for commands and the service itself
    actor_name  TEXT NOT NULL,              -- as it was called then
    address     TEXT NOT NULL,              -- client address, empty for commands
    request_id  TEXT NOT NULL,              -- empty for commands
    action      TEXT NOT NULL,              -- such as aluno.suspender
    object_kind TEXT NOT NULL,              -- such as aluno
    object_id   TEXT NOT NULL,              -- its number, as text
    object_name TEXT NOT NULL,              -- as it was called then
    before      TEXT,                       -- JSON of what changed; NULL when it was made
    after       TEXT,                       -- JSON of what it became; NULL when it was removed
    who         BLOB NOT NULL DEFAULT x'',  -- salt of the digest of actor_name, address and request_id; the digest itself once they are blanked
    what        BLOB NOT NULL DEFAULT x'',  -- the same of object_name, before and after
    link        BLOB NOT NULL DEFAULT x''   -- hash over the entry before, this one and both digests
) STRICT;

CREATE INDEX audit_by_object ON audit (object_kind, object_id, audit_id);
CREATE INDEX audit_by_time ON audit (at, audit_id);
CREATE INDEX audit_of_actors ON audit (actor_kind, audit_id, object_kind);
CREATE INDEX audit_of_objects ON audit (object_kind, audit_id, actor_kind);

CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
WHEN NOT (
    NEW.audit_id = OLD.audit_id AND NEW.at = OLD.at AND NEW.actor_kind = OLD.actor_kind
    AND NEW.actor_id IS OLD.actor_id AND NEW.action = OLD.action
    AND NEW.object_kind = OLD.object_kind AND NEW.object_id = OLD.object_id AND NEW.link = OLD.link
    AND ((NEW.who = OLD.who AND NEW.actor_name = OLD.actor_name
          AND NEW.address = OLD.address AND NEW.request_id = OLD.request_id)
         OR (length(NEW.who) = 32 AND NEW.actor_name || NEW.address || NEW.request_id = ''))
    AND ((NEW.what = OLD.what AND NEW.object_name = OLD.object_name
          AND NEW.before IS OLD.before AND NEW.after IS OLD.after)
         OR (length(NEW.what) = 32 AND NEW.object_name = '' AND NEW.before IS NULL AND NEW.after IS NULL))
)
BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TRIGGER audit_is_not_removed BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;

-- Words of the audit log, written behind: finds entries by beginnings of words.
CREATE VIRTUAL TABLE audit_search USING fts5 (
    actor_name, address, request_id, action, object_name, before, after,
    content = 'audit', content_rowid = 'audit_id', columnsize = 0, detail = none,
    tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3');

-- What is blanked leaves no trace in the index.
INSERT INTO audit_search (audit_search, rank) VALUES ('secure-delete', 1);
-- Words are added a thousand rows at a time: they need not be put together that often, nor in small pieces.
INSERT INTO audit_search (audit_search, rank) VALUES ('automerge', 8);
INSERT INTO audit_search (audit_search, rank) VALUES ('pgsz', 4000);

-- The last entry whose words are in audit_search; those behind it are searched by reading them.
CREATE TABLE audit_searched (
    one      INTEGER PRIMARY KEY CHECK (one = 1), -- 1
    audit_id INTEGER NOT NULL               -- its number
) STRICT;

INSERT INTO audit_searched (one, audit_id) VALUES (1, 0);

-- Words of the marketplace (states, kinds of shipping, currencies), stored once and referred to by number.
CREATE TABLE word (
    word_id INTEGER PRIMARY KEY,  -- 1 to 99 are fixed in the code
    text    TEXT NOT NULL UNIQUE  -- as the marketplace writes it
) STRICT;

INSERT INTO word (word_id, text) VALUES
    (1, 'confirmed'), (2, 'payment_required'), (3, 'payment_in_process'),
    (4, 'partially_paid'), (5, 'paid'), (6, 'partially_refunded'),
    (7, 'pending_cancel'), (8, 'cancelled'), (9, 'invalid'),
    (10, 'ready_to_ship'), (20, 'BRL');

-- ---------------------------------------------------------------- accounts

-- Everyone who can sign in: students, suppliers, administrators.
CREATE TABLE user (
    user_id        INTEGER PRIMARY KEY,     -- the person's number
    email          TEXT NOT NULL UNIQUE,    -- trimmed, in lower case, its domain as people read it
    name           TEXT NOT NULL CHECK (name <> ''), -- full name
    role           TEXT NOT NULL CHECK (role IN
                       ('free', 'pro', 'vip', 'piloto_pro', 'podio', 'drop', 'admin')), -- what the person may do; drop is a supplier
    password_hash  TEXT,                    -- argon2id in PHC form; NULL until one is chosen
    photo          TEXT NOT NULL DEFAULT '', -- path of the photo, empty without one
    chat_number    TEXT,                    -- digits with country code
    created_at     INTEGER NOT NULL,        -- when the account was made
    last_access_at INTEGER,                 -- last login or page of the panel, written behind; calls of programs do not count
    suspended_at   INTEGER,                 -- NULL while the person may sign in
    suspended_for  TEXT,                    -- why, in words for staff
    paid_until     INTEGER,                 -- end of what was paid for; its passing alone changes nothing
    late_since     INTEGER,                 -- a renewal is unpaid since then
    disputed_at    INTEGER,                 -- a buyer disputes a payment since then
    ends_at        INTEGER,                 -- a cancelled subscription ends then
    removed_at     INTEGER,                 -- the row is an empty shell since then, so that its id never comes back
    kind           INTEGER NOT NULL GENERATED ALWAYS AS ( -- 0 student, 1 supplier or staff, 2 removed
                       CASE WHEN removed_at IS NOT NULL THEN 2 WHEN role IN ('drop', 'admin') THEN 1 ELSE 0 END
                   ) VIRTUAL,
    standing       INTEGER NOT NULL GENERATED ALWAYS AS ( -- 0 in good standing, 1 late, 2 suspended
                       CASE WHEN suspended_at IS NOT NULL THEN 2 WHEN late_since IS NOT NULL THEN 1 ELSE 0 END
                   ) VIRTUAL,
    disputed       INTEGER NOT NULL GENERATED ALWAYS AS (disputed_at IS NOT NULL) VIRTUAL, -- whether a payment is
    name_key       TEXT NOT NULL GENERATED ALWAYS AS ( -- name without case and accents, for sorting
                       lower(
                       replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
                       replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(name
                       , 'á', 'a'), 'Á', 'a'), 'à', 'a'), 'À', 'a'), 'â', 'a'), 'Â', 'a')
                       , 'ã', 'a'), 'Ã', 'a'), 'é', 'e'), 'É', 'e'), 'ê', 'e'), 'Ê', 'e')
                       , 'í', 'i'), 'Í', 'i'), 'ó', 'o'), 'Ó', 'o'), 'ô', 'o'), 'Ô', 'o')
                       , 'õ', 'o'), 'Õ', 'o'), 'ú', 'u'), 'Ú', 'u'), 'ü', 'u'), 'Ü', 'u')
                       , 'ç', 'c'), 'Ç', 'c'))
                   ) VIRTUAL,
    search         TEXT NOT NULL GENERATED ALWAYS AS (email || ' ' || name_key) VIRTUAL -- what searches look at
) STRICT;

CREATE INDEX user_administering ON user (user_id) WHERE role = 'admin';
CREATE INDEX user_late ON user (user_id) WHERE late_since IS NOT NULL AND suspended_at IS NULL;
CREATE INDEX user_ending ON user (ends_at) WHERE ends_at IS NOT NULL AND suspended_at IS NULL;
-- Students whose renewal is unpaid, by the end of what they paid for.
CREATE INDEX user_overdue ON user (coalesce(paid_until, late_since), user_id) WHERE late_since IS NOT NULL AND suspended_at IS NULL;

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

-- Runs of three letters of names and e-mail addresses, written behind: finds people by a part of either.
CREATE VIRTUAL TABLE person_search USING fts5 (
    search, content = 'user', content_rowid = 'user_id', tokenize = 'trigram', columnsize = 0);

-- What is removed leaves no trace in the index.
INSERT INTO person_search (person_search, rank) VALUES ('secure-delete', 1);
-- As in audit_search.
INSERT INTO person_search (person_search, rank) VALUES ('automerge', 8);
INSERT INTO person_search (person_search, rank) VALUES ('pgsz', 4000);

-- People who are made or renamed and not in person_search yet: written behind, many at a time,
-- because each job that adds to such an index writes pages of its own. A search looks at them too.
CREATE TABLE person_unsearched (
    user_id INTEGER PRIMARY KEY             -- the person
) STRICT;

CREATE TRIGGER user_is_made AFTER INSERT ON user
BEGIN
    INSERT INTO person_unsearched (user_id) VALUES (NEW.user_id);
    INSERT INTO person_count (kind, standing, disputed, role, people)
    VALUES (NEW.kind, NEW.standing, NEW.disputed, NEW.role, 1)
    ON CONFLICT DO UPDATE SET people = people + 1;
END;
CREATE TRIGGER user_is_renamed AFTER UPDATE OF name, email ON user WHEN OLD.search <> NEW.search
BEGIN
    INSERT INTO person_search (person_search, rowid, search)
    SELECT 'delete', OLD.user_id, OLD.search
    WHERE OLD.user_id NOT IN (SELECT user_id FROM person_unsearched);
    INSERT INTO person_unsearched (user_id) VALUES (NEW.user_id) ON CONFLICT DO NOTHING;
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
    INSERT INTO person_search (person_search, rowid, search)
    SELECT 'delete', OLD.user_id, OLD.search
    WHERE OLD.user_id NOT IN (SELECT user_id FROM person_unsearched);
    DELETE FROM person_unsearched WHERE user_id = OLD.user_id;
    UPDATE person_count SET people = people - 1
    WHERE kind = OLD.kind AND standing = OLD.standing AND disputed = OLD.disputed AND role = OLD.role;
END;

-- Forms that did their work, for a day: the same form sent again is answered as the first time and does nothing.
CREATE TABLE form_sent (
    form_id INTEGER PRIMARY KEY,            -- grows with time
    digest  BLOB NOT NULL UNIQUE,           -- of the person, the address and the form's own value
    user_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- who sent it
    sent_at INTEGER NOT NULL,               -- when it did its work
    reply   BLOB NOT NULL                   -- what it was answered, sealed under the form's own value
) STRICT;

CREATE INDEX form_sent_by_user ON form_sent (user_id, form_id);

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
    rows       TEXT NOT NULL,               -- JSON: each row with its outcome
    begun_by   TEXT,                        -- JSON: who had its students made; NULL before. From then on all are made
    position   INTEGER NOT NULL DEFAULT 0,  -- rows that were worked so far
    late       TEXT NOT NULL DEFAULT '[]'   -- JSON: lines whose address got an account before their turn
) STRICT;

-- What people keep of a list under a name: its filters, search and order.
CREATE TABLE saved_view (
    view_id    INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with time
    user_id    INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose
    path       TEXT NOT NULL,               -- of the list, such as /painel/vendas
    name       TEXT NOT NULL,               -- as its owner calls it
    query      TEXT NOT NULL,               -- of the list's address; may be empty
    created_at INTEGER NOT NULL,            -- when it was kept
    UNIQUE (user_id, path, name)
) STRICT;

-- What each role may do by default.
CREATE TABLE role_permission (
    role       TEXT NOT NULL,               -- a student role
    permission TEXT NOT NULL,               -- such as ml_analisar
    PRIMARY KEY (role, permission)
) STRICT, WITHOUT ROWID;

INSERT INTO role_permission (role, permission) VALUES
    ('pro', 'extensao_browser'), ('pro', 'ml_analisar'), ('pro', 'ml_calculadora'), ('pro', 'meets'),
    ('vip', 'extensao_browser'), ('vip', 'ml_analisar'), ('vip', 'ml_calculadora'), ('vip', 'meets'),
    ('vip', 'ml_tendencias'), ('vip', 'ml_raio_x'),
    ('piloto_pro', 'extensao_browser'), ('piloto_pro', 'ml_analisar'), ('piloto_pro', 'ml_calculadora'),
    ('piloto_pro', 'meets'), ('piloto_pro', 'ml_tendencias'), ('piloto_pro', 'ml_raio_x'),
    ('piloto_pro', 'ml_clonar'), ('piloto_pro', 'fotos_ia'),
    ('podio', 'extensao_browser'), ('podio', 'ml_analisar'), ('podio', 'ml_calculadora'),
    ('podio', 'meets'), ('podio', 'ml_tendencias'), ('podio', 'ml_raio_x'),
    ('podio', 'ml_clonar'), ('podio', 'fotos_ia');

-- What one person may or may not do, whatever the role says.
CREATE TABLE user_permission (
    user_id    INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- the person
    permission TEXT NOT NULL,               -- such as ml_analisar
    granted    INTEGER NOT NULL CHECK (granted IN (0, 1)), -- 1 gives it, 0 takes it away
    PRIMARY KEY (user_id, permission)
) STRICT, WITHOUT ROWID;

-- Browser sessions. The cookie holds the secret, this table its digest.
CREATE TABLE session (
    session_hash BLOB PRIMARY KEY,          -- SHA-256 of the cookie's value
    user_id      INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- who is signed in
    created_at   INTEGER NOT NULL,          -- at most 30 days ago
    last_seen_at INTEGER NOT NULL,          -- at most 12 hours ago; written behind
    address      TEXT NOT NULL,             -- where it was opened
    user_agent   TEXT NOT NULL,             -- what opened it, shortened
    ended_at     INTEGER,                   -- set by leaving, suspension or a new password
    viewing_id   INTEGER,                   -- the student as whom an administrator looks
    viewing_until INTEGER,                  -- end of that
    ordinal      INTEGER NOT NULL DEFAULT 0 -- order of a person's sessions within a second
) STRICT, WITHOUT ROWID;

CREATE INDEX session_viewing ON session (viewing_until) WHERE viewing_id IS NOT NULL;
CREATE INDEX session_by_user ON session (user_id, created_at);
CREATE INDEX session_open ON session (user_id, ordinal) WHERE ended_at IS NULL;
CREATE INDEX session_by_age ON session (created_at);

-- Tokens of the browser extension: one living token a person, 30 days.
CREATE TABLE extension_token (
    token_hash   BLOB PRIMARY KEY,          -- SHA-256 of the token
    user_id      INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose extension it is
    created_at   INTEGER NOT NULL,          -- when it was given out
    expires_at   INTEGER NOT NULL,          -- 30 days later
    last_used_at INTEGER,                   -- written behind
    revoked_at   INTEGER                    -- set by leaving, a newer login, suspension or a new password
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX extension_token_living ON extension_token (user_id) WHERE revoked_at IS NULL;
CREATE INDEX extension_token_by_user ON extension_token (user_id, created_at);
CREATE INDEX extension_token_by_end ON extension_token (expires_at);

-- Links that work once: the set-up of the first administrator, the choice of a password.
CREATE TABLE one_time_link (
    link_hash  BLOB PRIMARY KEY,            -- SHA-256 of the code in the link, begun with the person's number where the code is
    purpose    TEXT NOT NULL CHECK (purpose IN ('setup', 'senha')), -- the first administrator, or a password
    user_id    INTEGER REFERENCES user (user_id) ON DELETE CASCADE, -- whose password it sets
    code       BLOB,                        -- sealed, opened when its message leaves; NULL when the code was shown at once
    created_at INTEGER NOT NULL,            -- when it was made
    expires_at INTEGER NOT NULL,            -- works until then
    used_at    INTEGER                      -- set when it was used
) STRICT, WITHOUT ROWID;

CREATE INDEX one_time_link_by_purpose ON one_time_link (purpose, created_at);
CREATE INDEX one_time_link_by_user ON one_time_link (user_id, created_at);

-- Addresses from which a person has signed in well: they keep a failure counter of their own.
CREATE TABLE good_login (
    user_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- who signed in
    address TEXT NOT NULL,                  -- client address, IPv6 by /64
    last_at INTEGER NOT NULL,               -- counts for 30 days
    PRIMARY KEY (user_id, address)
) STRICT, WITHOUT ROWID;

CREATE INDEX good_login_by_time ON good_login (last_at);

-- People who were erased. The file .erased beside the database has the same digests, for copies of before.
CREATE TABLE erasure (
    person  BLOB PRIMARY KEY,               -- keyed digest of the account's number and time of making, or of an address without account
    email   BLOB NOT NULL,                  -- keyed digest of the e-mail address
    at      INTEGER NOT NULL,               -- when it was asked for
    subject TEXT                            -- JSON: who, and the words that are looked for; NULL once all of it is done
) STRICT, WITHOUT ROWID;

CREATE INDEX erasure_under_way ON erasure (at) WHERE subject IS NOT NULL;

-- Keys of integrations. They belong to the installation; a key itself was shown once.
CREATE TABLE api_key (
    key_id       INTEGER PRIMARY KEY,       -- the key's number
    key_hash     BLOB NOT NULL UNIQUE,      -- SHA-256 of the key
    name         TEXT NOT NULL CHECK (name <> ''), -- what it is for
    prefix       TEXT NOT NULL,             -- first characters, for recognising it
    scopes       TEXT NOT NULL,             -- what it may do: write, webhook_receive, admin, separated by blanks
    networks     TEXT NOT NULL,             -- where it may be used from: addresses and blocks separated by blanks; empty for anywhere
    rate_limit   INTEGER CHECK (rate_limit > 0), -- calls a window; NULL for the usual limit
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

-- Photos of people and teachers, rebuilt without anything that the picture does not need. One for each.
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

-- ----------------------------------------------------------------- content

-- Plans that people can buy, shown to anyone while active.
CREATE TABLE plan (
    plan_id       INTEGER PRIMARY KEY,      -- the plan's number
    slug          TEXT NOT NULL UNIQUE,     -- short name for addresses
    title         TEXT NOT NULL,            -- as people read it
    price_cents   INTEGER NOT NULL CHECK (price_cents >= 0), -- what a period costs
    currency      TEXT NOT NULL DEFAULT 'BRL', -- three letters, such as BRL
    period        TEXT NOT NULL CHECK (period IN ('mensal', 'anual', 'unico')), -- how often it is paid: monthly, yearly, once
    benefits      TEXT NOT NULL,            -- JSON array of sentences
    checkout_link TEXT NOT NULL DEFAULT '', -- where to buy it
    active        INTEGER NOT NULL DEFAULT 1 CHECK (active IN (0, 1)), -- 0 while it is not on sale
    created_at    INTEGER NOT NULL,         -- when it was made
    updated_at    INTEGER NOT NULL,         -- when it was last changed
    grants_role   TEXT CHECK (grants_role IN ('free', 'pro', 'vip', 'piloto_pro', 'podio')), -- plan of the account that a purchase gives; NULL while that is not said
    grants_api    TEXT CHECK (grants_api IN ('starter', 'pro', 'scale')), -- API plan that comes with it; NULL for none
    codes         TEXT NOT NULL DEFAULT '[]' -- JSON array: offers, plans and products of the checkout that stand for it
) STRICT;

CREATE INDEX plan_by_price ON plan (active, price_cents, plan_id);

-- Who teaches, shown to anyone.
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

-- Courses: lessons in an order, for students of some roles.
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

-- Roles that a course is for. One without any is for every student but free ones.
CREATE TABLE course_role (
    course_id INTEGER NOT NULL REFERENCES course (course_id) ON DELETE CASCADE, -- the course
    role      TEXT NOT NULL CHECK (role IN ('free', 'pro', 'vip', 'piloto_pro', 'podio')), -- a role that sees it
    PRIMARY KEY (course_id, role)
) STRICT, WITHOUT ROWID;

-- Lessons of the courses, each a video.
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

-- Lessons that a student has marked as done.
CREATE TABLE lesson_done (
    user_id   INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- the student
    lesson_id INTEGER NOT NULL REFERENCES lesson (lesson_id) ON DELETE CASCADE, -- the lesson
    done_at   INTEGER NOT NULL,             -- when it was marked
    PRIMARY KEY (user_id, lesson_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX lesson_done_by_lesson ON lesson_done (lesson_id, user_id);

-- Live mentoring sessions.
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

-- ----------------------------------------------------------------- program

-- What every action of the program gives, and its limits, one row a number.
CREATE TABLE program_rule (
    name  TEXT PRIMARY KEY,                 -- an action such as checkin, or multiplicador
    value INTEGER NOT NULL CHECK (value >= 0) -- points; multipliers in hundredths
) STRICT, WITHOUT ROWID;

INSERT INTO program_rule (name, value) VALUES
    ('checkin', 10), ('aula', 20), ('meet', 50), ('venda', 5), ('conta_vinculada', 30),
    ('desafio', 100), ('volta', 150),
    ('multiplicador', 100), ('multiplicador_streak', 0),
    ('limite_diario', 0), ('limite_venda_diario', 100);

-- Milestones M1 to M20: a student's level is the number of those reached.
CREATE TABLE milestone (
    number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 20), -- 1 to 20
    title  TEXT NOT NULL,                   -- as people read it
    xp     INTEGER NOT NULL CHECK (xp >= 0), -- points that reach it; grows with the number
    badge  TEXT NOT NULL,                   -- what its badge is called
    reward TEXT NOT NULL DEFAULT ''         -- what one gets for it
) STRICT;

CREATE INDEX milestone_by_xp ON milestone (xp, number);

INSERT INTO milestone (number, title, xp, badge) VALUES
    (1, 'Na pista', 150, 'Motor ligado'),
    (2, 'Primeira curva', 300, 'Mãos no volante'),
    (3, 'Pegando ritmo', 500, 'Marcha engatada'),
    (4, 'Volta limpa', 800, 'Capacete novo'),
    (5, 'Pneus quentes', 1200, 'Pneu quente'),
    (6, 'Lado a lado', 1700, 'Ultrapassagem'),
    (7, 'Curva perfeita', 2300, 'Traçado limpo'),
    (8, 'Box em dia', 3000, 'Parada rápida'),
    (9, 'Meio do grid', 4000, 'Meio do grid'),
    (10, 'Zona de pontos', 5200, 'Zona de pontos'),
    (11, 'Tanque cheio', 6600, 'Tanque cheio'),
    (12, 'Vácuo', 8200, 'Mestre do vácuo'),
    (13, 'Volta rápida', 10000, 'Volta rápida'),
    (14, 'Primeira fila', 12500, 'Primeira fila'),
    (15, 'Pole position', 15500, 'Pole position'),
    (16, 'Terceiro lugar', 19000, 'Troféu de bronze'),
    (17, 'Segundo lugar', 23000, 'Troféu de prata'),
    (18, 'Vitória', 28000, 'Troféu de ouro'),
    (19, 'Líder do campeonato', 35000, 'Coroa de louros'),
    (20, 'Lenda da pista', 45000, 'Lenda da pista');

-- Milestones that were lowered, until those whom they came down to are told.
CREATE TABLE milestone_lowered (
    number   INTEGER PRIMARY KEY REFERENCES milestone (number), -- the milestone
    until_xp INTEGER NOT NULL,              -- who has as many points had reached it before
    position INTEGER NOT NULL               -- the last student that was told
) STRICT;

-- The ledger of the program: what gave points to whom and took them back. Rows are only ever added.
CREATE TABLE program_entry (
    student_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose points
    day        INTEGER NOT NULL,            -- civil day it counts for
    at         INTEGER NOT NULL,            -- when it was written
    action     INTEGER NOT NULL CHECK (action BETWEEN 1 AND 8), -- 1 checkin, 2 aula, 3 meet, 4 venda, 5 conta_vinculada, 6 desafio, 7 volta, 8 correcao
    cause      INTEGER NOT NULL,            -- what it is about: the day, lesson, meet, order, account, challenge or number of check-ins
    turn       INTEGER NOT NULL CHECK (turn >= 0), -- of the same cause: 0 given, 1 taken back, 2 given again, and so on
    xp         INTEGER NOT NULL,            -- points, negative when they are taken
    note       TEXT,                        -- in words: a challenge's title, the reason of a correction
    PRIMARY KEY (student_id, day, at, action, cause, turn)
) STRICT, WITHOUT ROWID;

-- Of a cause once; of check-ins the standing says it, because each costs a page.
CREATE UNIQUE INDEX program_entry_once ON program_entry (student_id, action, cause, turn) WHERE action > 1;

-- What each student of the program has: at every moment what the ledger gives.
CREATE TABLE program_student (
    student_id   INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE, -- the student
    joined_at    INTEGER NOT NULL,          -- when the first entry came, or the data was made
    ranked       INTEGER NOT NULL CHECK (ranked IN (0, 1)), -- 1 for a student who is not suspended, kept by a trigger
    entries      INTEGER NOT NULL,          -- entries of the ledger
    xp           INTEGER NOT NULL,          -- points
    xp_at        INTEGER NOT NULL,          -- when they last changed
    month        INTEGER NOT NULL,          -- first day of the newest month with an entry
    month_xp     INTEGER NOT NULL,          -- points of that month
    month_at     INTEGER NOT NULL,          -- when they last changed
    week         INTEGER NOT NULL,          -- Monday of the newest week with an entry
    week_xp      INTEGER NOT NULL,          -- points of that week
    week_at      INTEGER NOT NULL,          -- when they last changed
    checkins     INTEGER NOT NULL,          -- check-ins
    last_checkin INTEGER,                   -- civil day of the last one
    checked_at   INTEGER NOT NULL,          -- when that was; 0 without one
    streak       INTEGER NOT NULL,          -- consecutive days up to it; 0 once a missed day was noted
    best_streak  INTEGER NOT NULL,          -- longest streak
    sales        INTEGER NOT NULL,          -- sales that count
    sales_at     INTEGER NOT NULL           -- when they last changed
) STRICT;

-- The rankings: who was first to reach a number stands before those who reached it later.
CREATE INDEX program_by_xp ON program_student (xp DESC, xp_at, student_id) WHERE ranked = 1;
CREATE INDEX program_by_month ON program_student (month, month_xp DESC, month_at, student_id) WHERE ranked = 1 AND month_xp > 0;
CREATE INDEX program_by_week ON program_student (week, week_xp DESC, week_at, student_id) WHERE ranked = 1 AND week_xp > 0;
CREATE INDEX program_by_streak ON program_student (streak DESC, checked_at, student_id, last_checkin) WHERE ranked = 1 AND streak > 0;
-- Who kept a streak of a week and lost it: who is about to be lost.
CREATE INDEX program_leaving ON program_student (last_checkin, best_streak DESC, student_id) WHERE ranked = 1 AND streak = 0 AND best_streak >= 7;
CREATE INDEX program_by_sales ON program_student (sales DESC, sales_at, student_id) WHERE ranked = 1 AND sales > 0;

CREATE TRIGGER user_leaves_ranking AFTER UPDATE OF role, suspended_at, removed_at ON user
BEGIN
    UPDATE program_student SET ranked = (NEW.kind = 0 AND NEW.standing <> 2)
    WHERE student_id = NEW.user_id AND ranked <> (NEW.kind = 0 AND NEW.standing <> 2);
END;

-- What the program gave, by civil day and action: the charts of the administration.
CREATE TABLE program_day (
    day     INTEGER NOT NULL,               -- civil day
    action  INTEGER NOT NULL,               -- as in program_entry; 0 counts streaks that ended
    entries INTEGER NOT NULL,               -- given less taken back
    xp      INTEGER NOT NULL,               -- points
    PRIMARY KEY (day, action)
) STRICT, WITHOUT ROWID;

-- Seasonal challenges: so many of an action within a period.
CREATE TABLE challenge (
    challenge_id INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again, because the ledger names it
    title        TEXT NOT NULL,             -- as people read it
    description  TEXT NOT NULL DEFAULT '',  -- what it is about
    action       INTEGER NOT NULL CHECK (action BETWEEN 1 AND 7), -- as in program_entry
    goal         INTEGER NOT NULL CHECK (goal > 0), -- how many of the action
    starts_on    INTEGER NOT NULL,          -- first civil day
    ends_on      INTEGER NOT NULL,          -- last civil day
    reward_xp    INTEGER,                   -- points; NULL for those of the action desafio
    reward       TEXT NOT NULL DEFAULT '',  -- what else one gets
    met          INTEGER NOT NULL DEFAULT 0, -- students who reached it
    settled      INTEGER NOT NULL DEFAULT 0 CHECK (settled IN (0, 1)), -- 1 once those who had reached the goal before have it
    created_at   INTEGER NOT NULL,          -- when it was made
    updated_at   INTEGER NOT NULL           -- when it was last changed
) STRICT;

CREATE INDEX challenge_by_action ON challenge (action, ends_on, starts_on);
CREATE INDEX challenge_unsettled ON challenge (challenge_id) WHERE settled = 0;
CREATE INDEX challenge_by_end ON challenge (ends_on, challenge_id);

-- The last look whether everybody has what the ledger gives: one row.
CREATE TABLE program_recount (
    recount_id  INTEGER PRIMARY KEY CHECK (recount_id = 1), -- 1
    begun_at    INTEGER NOT NULL,           -- when it was asked for
    position    INTEGER NOT NULL,           -- the last student that was looked at
    looked_at   INTEGER NOT NULL,           -- students looked at
    students    INTEGER NOT NULL,           -- students there were when it began
    ended_at    INTEGER,                    -- when it was done; NULL while it goes on
    mended      INTEGER NOT NULL            -- students who had something else
) STRICT;

-- Students of whom it found something else than the ledger gives; mended all at once at its end.
CREATE TABLE program_mend (
    student_id INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE -- the student
) STRICT;

-- ------------------------------------------------------------- marketplace

-- Marketplace accounts that people have linked. An account belongs to one person.
CREATE TABLE ml_account (
    ml_user_id       INTEGER PRIMARY KEY,   -- the marketplace's seller id
    owner_id         INTEGER NOT NULL REFERENCES user (user_id), -- the person who linked it
    nickname         TEXT NOT NULL,         -- store nickname
    access_token     BLOB,                  -- sealed; NULL once refused or unlinked
    refresh_token    BLOB,                  -- sealed; works once
    token_expires_at INTEGER NOT NULL,      -- end of the access token
    token_ok         INTEGER NOT NULL CHECK (token_ok IN (0, 1)), -- 0 until linked again
    error            TEXT,                  -- why it is not, in words for its owner
    reputation       TEXT NOT NULL DEFAULT '', -- such as 5_green
    listings         INTEGER NOT NULL DEFAULT 0, -- active and paused listings
    open_claims      INTEGER NOT NULL DEFAULT 0, -- claims that wait for an end
    open_questions   INTEGER NOT NULL DEFAULT 0, -- questions without an answer
    linked_at        INTEGER NOT NULL,      -- when it was linked
    synced_at        INTEGER,               -- last time anything was read from the marketplace
    power_seller     TEXT NOT NULL DEFAULT '', -- such as platinum; empty for most
    claims_rate      INTEGER,               -- sales with a claim, in millionths
    late_rate        INTEGER,               -- sales sent late, in millionths
    cancel_rate      INTEGER                -- sales the seller cancelled, in millionths
) STRICT;

CREATE INDEX ml_account_by_owner ON ml_account (owner_id, ml_user_id);
CREATE INDEX ml_account_refused ON ml_account (ml_user_id) WHERE token_ok = 0;
-- Accounts whose link ends with its first token, because the marketplace gave none to renew it.
CREATE INDEX ml_account_unrenewed ON ml_account (ml_user_id) WHERE access_token IS NOT NULL AND refresh_token IS NULL;

-- Totals of the public context, kept by triggers so that nobody has to count.
CREATE TABLE total (
    name  TEXT PRIMARY KEY,                 -- active_students: those who may sign in; linked_accounts
    count INTEGER NOT NULL                  -- how many there are
) STRICT, WITHOUT ROWID;

INSERT INTO total (name, count) VALUES ('active_students', 0), ('linked_accounts', 0);

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

-- Linkings under way: the person left for the marketplace's consent page.
CREATE TABLE ml_link_attempt (
    state_hash BLOB PRIMARY KEY,            -- SHA-256 of the state sent along
    user_id    INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- who wants to link
    verifier   BLOB NOT NULL,               -- PKCE verifier, sealed
    created_at INTEGER NOT NULL,            -- when the person left
    expires_at INTEGER NOT NULL             -- ten minutes later
) STRICT, WITHOUT ROWID;

CREATE INDEX ml_link_attempt_by_user ON ml_link_attempt (user_id, created_at);

-- What has been sold: title and SKU of a listing's variation, kept once for all orders that say the same.
CREATE TABLE sold_item (
    item_id      INTEGER NOT NULL,          -- number of the listing id, without the site
    variation_id INTEGER NOT NULL,          -- 0 without variations
    version      INTEGER NOT NULL,          -- from 0 on, another one for other words
    site         TEXT NOT NULL,             -- such as MLB
    title        TEXT NOT NULL,             -- as buyers saw it
    sku          TEXT NOT NULL,             -- empty when the listing had none
    PRIMARY KEY (item_id, variation_id, version)
) STRICT, WITHOUT ROWID;

-- Orders, clustered by owner and time so that a page touches one or two leaves.
CREATE TABLE sale_order (
    owner_id        INTEGER NOT NULL,       -- the person whose account sold it
    created_at      INTEGER NOT NULL,       -- date_created
    order_id        INTEGER NOT NULL,       -- the marketplace's order id
    ml_user_id      INTEGER NOT NULL,       -- the selling account
    status          INTEGER NOT NULL,       -- word
    total_cents     INTEGER NOT NULL,       -- without shipping
    currency        INTEGER NOT NULL,       -- word
    closed_at       INTEGER,                -- date_closed
    updated_at      INTEGER NOT NULL,       -- last_updated of the state stored here
    item_id         INTEGER NOT NULL,       -- first item sold
    variation_id    INTEGER NOT NULL,       -- its variation, 0 without any
    quantity        INTEGER NOT NULL,       -- units sold
    buyer_nickname  TEXT NOT NULL,          -- empty when the marketplace does not say
    shipping_id     INTEGER,                -- NULL until there is a shipment
    shipping_status INTEGER,                -- word
    logistic_type   INTEGER,                -- word
    shipment_at     INTEGER,                -- last_updated of the shipment's state stored here
    item_version    INTEGER NOT NULL DEFAULT 0, -- which words of sold_item it has
    fee_cents       INTEGER,                -- commission for all units; NULL until the marketplace tells
    freight_cents   INTEGER,                -- its share of what the parcel costs the seller; NULL until told
    paid_at         INTEGER,                -- when the payment was approved, when told
    printed_at      INTEGER,                -- when its label was first seen printed
    sent_at         INTEGER,                -- when its parcel was first seen on its way
    delivered_at    INTEGER,                -- when its parcel was first seen delivered
    dispatch_by     INTEGER,                -- until when the parcel is to be handed over; NULL when not said
    changed         INTEGER NOT NULL DEFAULT 0, -- when what programs see of it changed here: Unix seconds times 2^20 and a
                                            -- count; grows with each change of the owner's orders
    basket_id       INTEGER,                -- its basket, when it has several lines; NULL with one line
    pack_id         INTEGER,                -- the cart that it belongs to; NULL when the marketplace names none
    substatus       INTEGER,                -- word: the finer state of the shipment
    stage           INTEGER NOT NULL DEFAULT 0, -- what is to be done with its parcel: 0 unknown, 1 nothing yet, 2 to be sent
                                            -- without a label, 3 needs its fiscal note, 4 to be printed, 5 printed, 6 handed
                                            -- over, 7 on its way, 8 arrived, 9 ended otherwise, 10 must not be sent, 11 back with its seller
    marks           INTEGER NOT NULL DEFAULT 0, -- sum of: 1 fraud risk, 2 to leave within minutes, 4 came back, 8 divided into
                                            -- other orders, 16 label to be printed again
    refunded_cents  INTEGER NOT NULL DEFAULT 0, -- what of the total the buyer got back
    deadline_asked_at INTEGER,              -- when dispatch_by was last asked for; NULL while it never was, and once it left
    PRIMARY KEY (owner_id, created_at, order_id)
) STRICT, WITHOUT ROWID;

-- One index serves the filters by store, by status and by both: a page is the merge of its runs.
CREATE INDEX sale_order_run ON sale_order (owner_id, ml_user_id, status, created_at, order_id);
CREATE INDEX sale_order_by_number ON sale_order (order_id);
-- Orders whose parcel is to be sent.
CREATE INDEX sale_order_to_send ON sale_order (owner_id, ml_user_id, shipping_id) WHERE stage BETWEEN 2 AND 5;
-- Orders that are cancelled only because others took their place.
CREATE INDEX sale_order_divided ON sale_order (owner_id, ml_user_id, created_at, status) WHERE marks & 8;
-- Orders of one listing, counted without a look at them.
CREATE INDEX sale_order_of_item ON sale_order (owner_id, item_id, created_at, order_id, status);
-- What programs ask for: what changed since, and parcels of a state. The columns at the end narrow without a look at the row.
CREATE INDEX sale_order_changed ON sale_order (owner_id, changed, order_id, status, ml_user_id, shipping_status);
CREATE INDEX sale_order_by_parcel ON sale_order (owner_id, shipping_status, created_at, order_id, status, ml_user_id);
-- Orders of one parcel.
CREATE INDEX sale_order_of_parcel ON sale_order (owner_id, shipping_id) WHERE shipping_id IS NOT NULL;

-- What orders of several lines sold: each composition once, for all orders that have the same.
CREATE TABLE basket (
    basket_id INTEGER PRIMARY KEY,          -- its number
    digest    BLOB NOT NULL UNIQUE          -- of its lines, so that it is found
) STRICT;

-- The lines of a basket, as the marketplace names them.
CREATE TABLE basket_line (
    basket_id    INTEGER NOT NULL,          -- the basket
    line         INTEGER NOT NULL,          -- its place, from 0
    item_id      INTEGER NOT NULL,          -- as in sold_item
    variation_id INTEGER NOT NULL,          -- as in sold_item
    item_version INTEGER NOT NULL,          -- as in sold_item
    units        INTEGER NOT NULL,          -- how many
    unit_cents   INTEGER NOT NULL,          -- price of one
    fee_cents    INTEGER,                   -- commission for all of them; NULL until the marketplace tells
    PRIMARY KEY (basket_id, line)
) STRICT, WITHOUT ROWID;

CREATE INDEX basket_line_of_item ON basket_line (item_id, basket_id);

-- Orders of several lines by what they sold beside their first line, so that each is found by all its listings.
CREATE TABLE sale_line (
    owner_id   INTEGER NOT NULL,            -- as in sale_order
    item_id    INTEGER NOT NULL,            -- number of a further listing, each once
    created_at INTEGER NOT NULL,            -- as in sale_order
    order_id   INTEGER NOT NULL,            -- the order
    ml_user_id INTEGER NOT NULL,            -- as in sale_order
    status     INTEGER NOT NULL,            -- as in sale_order
    PRIMARY KEY (owner_id, item_id, created_at, order_id)
) STRICT, WITHOUT ROWID;

-- Other numbers by which an order is named: by claims, and by people who search.
CREATE TABLE sale_number (
    owner_id INTEGER NOT NULL,              -- as in sale_order
    number   INTEGER NOT NULL,              -- the marketplace's number
    order_id INTEGER NOT NULL,              -- the order
    ml_user_id INTEGER NOT NULL,            -- as in sale_order
    kind     INTEGER NOT NULL CHECK (kind IN (1, 2)), -- 1 of the cart that it belongs to, 2 of a payment
    PRIMARY KEY (owner_id, number, order_id)
) STRICT, WITHOUT ROWID;

-- Labels that were printed together: one file of the marketplace.
CREATE TABLE label_batch (
    batch_id   INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with time, never given again
    owner_id   INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose account sends them
    ml_user_id INTEGER NOT NULL,            -- the account
    printed_at INTEGER NOT NULL,            -- when
    printed_by INTEGER NOT NULL             -- who pressed: the owner, or somebody of the agency
) STRICT;

CREATE INDEX label_batch_of_store ON label_batch (owner_id, ml_user_id, batch_id);
CREATE INDEX label_batch_by_age ON label_batch (printed_at);

-- Parcels whose label was printed. Without a row it is still to be printed.
CREATE TABLE label_print (
    owner_id    INTEGER NOT NULL,           -- as its batch has it
    ml_user_id  INTEGER NOT NULL,           -- the same
    shipping_id INTEGER NOT NULL,           -- the parcel
    batch_id    INTEGER NOT NULL REFERENCES label_batch (batch_id) ON DELETE CASCADE, -- the file that it is in
    place       INTEGER NOT NULL,           -- its page in the file, from 0
    order_id    INTEGER NOT NULL,           -- its first order
    PRIMARY KEY (owner_id, ml_user_id, shipping_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX label_print_of_batch ON label_print (batch_id, place);

-- Number of orders by store, status and civil day of date_created: the totals of order lists.
CREATE TABLE order_count (
    owner_id   INTEGER NOT NULL,            -- whose orders
    ml_user_id INTEGER NOT NULL,            -- 0, with status 0, holds the sum of all stores and states
    status     INTEGER NOT NULL,            -- word
    day        INTEGER NOT NULL,            -- civil day; -1 holds the sum of all days
    orders     INTEGER NOT NULL,            -- how many
    PRIMARY KEY (owner_id, ml_user_id, status, day)
) STRICT, WITHOUT ROWID;

-- Sales by account and civil day of date_closed: what dashboards add up.
CREATE TABLE sales_day (
    owner_id    INTEGER NOT NULL,           -- whose sales
    ml_user_id  INTEGER NOT NULL,           -- the selling account
    day         INTEGER NOT NULL,           -- civil day
    orders      INTEGER NOT NULL,           -- orders that count as a sale
    units       INTEGER NOT NULL,           -- things sold
    gross_cents INTEGER NOT NULL,           -- their value, without shipping
    PRIMARY KEY (owner_id, ml_user_id, day)
) STRICT, WITHOUT ROWID;

-- Sales by account, state, time of date_created and what was sold: what is left of them is computed from these sums and
-- the costs of the moment. Told orders are those whose commission and freight are known.
CREATE TABLE sold_sum (
    owner_id      INTEGER NOT NULL,         -- whose sales
    ml_user_id    INTEGER NOT NULL,         -- the selling account
    status        INTEGER NOT NULL,         -- word; only states that count as a sale
    span          INTEGER NOT NULL,         -- civil day; -1 all days; -(12 * year + month) a month
    item_id       INTEGER NOT NULL,         -- as in sold_item; below zero that of a basket
    variation_id  INTEGER NOT NULL,         -- as in sold_item; 0 of a basket
    item_version  INTEGER NOT NULL,         -- as in sold_item; 0 of a basket
    orders        INTEGER NOT NULL,         -- how many
    gross_cents   INTEGER NOT NULL,         -- their value, without shipping
    told          INTEGER NOT NULL,         -- told orders
    told_units    INTEGER NOT NULL,         -- units of told orders
    told_cents    INTEGER NOT NULL,         -- value of told orders
    charged_cents INTEGER NOT NULL,         -- commission and freight of told orders
    units         INTEGER NOT NULL DEFAULT 0, -- things sold, of all of them
    PRIMARY KEY (owner_id, ml_user_id, status, span, item_id, variation_id, item_version)
) STRICT, WITHOUT ROWID;

-- What a unit of a listing costs its seller, where no product has the SKU.
CREATE TABLE listing_cost (
    owner_id   INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- who sells it
    item_id    INTEGER NOT NULL,            -- number of the listing id, without the site
    cost_cents INTEGER NOT NULL CHECK (cost_cents > 0), -- for one unit
    updated_at INTEGER NOT NULL,            -- when it was set
    PRIMARY KEY (owner_id, item_id)
) STRICT, WITHOUT ROWID;

-- Newest change of what pollers follow, for Last-Modified.
CREATE TABLE owner_change (
    owner_id   INTEGER NOT NULL,            -- whose data
    topic      INTEGER NOT NULL,            -- 1 orders
    changed_at INTEGER NOT NULL,            -- never a second that was already given out
    PRIMARY KEY (owner_id, topic)
) STRICT, WITHOUT ROWID;

-- Notifications of the marketplace as they came in. The answer is given once the row is stored.
CREATE TABLE ml_notification (
    notification_id INTEGER PRIMARY KEY,    -- grows with time
    received_at     INTEGER NOT NULL,       -- when it came
    topic           TEXT NOT NULL,          -- such as orders_v2
    resource        TEXT NOT NULL,          -- path at the marketplace, with leading slash
    ml_user_id      INTEGER NOT NULL,       -- the account it is about
    body            BLOB NOT NULL,          -- as received
    delivery_key    BLOB,                   -- digest of request id and resource
    event_key       BLOB,                   -- digest of resource, topic and sent
    state           INTEGER NOT NULL,       -- 0 waiting, 1 done, 2 ignored, 3 failed, 4 waiting for a handler to come
    attempts        INTEGER NOT NULL DEFAULT 0, -- tries so far
    next_try_at     INTEGER NOT NULL,       -- not tried before
    outcome         TEXT,                   -- what became of it, or the last error
    counted         INTEGER NOT NULL DEFAULT 0 CHECK (counted IN (0, 1)) -- 1 when lists can be narrowed to its topic
) STRICT;

CREATE UNIQUE INDEX ml_notification_delivery ON ml_notification (delivery_key) WHERE delivery_key IS NOT NULL;
CREATE UNIQUE INDEX ml_notification_event ON ml_notification (event_key) WHERE event_key IS NOT NULL;
CREATE INDEX ml_notification_waiting ON ml_notification (next_try_at, notification_id) WHERE state = 0;
CREATE INDEX ml_notification_failed ON ml_notification (notification_id) WHERE state = 3;
CREATE INDEX ml_notification_later ON ml_notification (notification_id) WHERE state = 4;
CREATE INDEX ml_notification_ignored ON ml_notification (notification_id) WHERE state = 2;
CREATE INDEX ml_notification_by_topic ON ml_notification (topic, notification_id);

-- Notifications by topic and state, kept by triggers: the totals of their list. Those that are not counted by topic count as ''.
CREATE TABLE ml_notification_count (
    topic         TEXT NOT NULL,            -- a topic that lists can be narrowed to, or empty
    state         INTEGER NOT NULL,         -- as in ml_notification
    notifications INTEGER NOT NULL,         -- how many
    PRIMARY KEY (topic, state)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER ml_notification_comes AFTER INSERT ON ml_notification
BEGIN
    INSERT INTO ml_notification_count (topic, state, notifications)
    VALUES (iif(NEW.counted, NEW.topic, ''), NEW.state, 1)
    ON CONFLICT DO UPDATE SET notifications = notifications + 1;
END;
CREATE TRIGGER ml_notification_goes AFTER DELETE ON ml_notification
BEGIN
    UPDATE ml_notification_count SET notifications = notifications - 1
    WHERE topic = iif(OLD.counted, OLD.topic, '') AND state = OLD.state;
END;
CREATE TRIGGER ml_notification_moves AFTER UPDATE OF state ON ml_notification WHEN NEW.state <> OLD.state
BEGIN
    UPDATE ml_notification_count SET notifications = notifications - 1
    WHERE topic = iif(OLD.counted, OLD.topic, '') AND state = OLD.state;
    INSERT INTO ml_notification_count (topic, state, notifications)
    VALUES (iif(NEW.counted, NEW.topic, ''), NEW.state, 1)
    ON CONFLICT DO UPDATE SET notifications = notifications + 1;
END;

-- How far an account is mirrored, by area.
CREATE TABLE ml_sync (
    ml_user_id INTEGER NOT NULL REFERENCES ml_account (ml_user_id) ON DELETE CASCADE, -- the account
    area       INTEGER NOT NULL,            -- number of a kind of record; 5 is the account itself
    good_until INTEGER,                     -- what changed before is here; NULL until the first reading is over
    started_at INTEGER,                     -- when the reading under way, or the last one, began
    ended_at   INTEGER,                     -- when it ended; NULL while it is under way
    position   TEXT NOT NULL DEFAULT '',    -- where the reading under way goes on, in the area's own words
    done       INTEGER NOT NULL DEFAULT 0,  -- records that it has read
    expected   INTEGER,                     -- how many there are, as far as the marketplace says
    next_at    INTEGER NOT NULL,            -- not read before
    at_once    INTEGER NOT NULL CHECK (at_once IN (0, 1)), -- 1 when somebody waits for it: it does not wait for a run of the periodic tasks
    asked_at   INTEGER,                     -- when the account's owner last asked for it
    attempts   INTEGER NOT NULL DEFAULT 0,  -- failures in a row
    error      TEXT,                        -- the last failure, in words for the account's owner
    PRIMARY KEY (ml_user_id, area)
) STRICT, WITHOUT ROWID;

CREATE INDEX ml_sync_due ON ml_sync (at_once, next_at, ml_user_id, area);

-- Listings that a reading under way has met at the marketplace.
CREATE TABLE ml_seen (
    ml_user_id INTEGER NOT NULL REFERENCES ml_account (ml_user_id) ON DELETE CASCADE, -- the account
    item_id    INTEGER NOT NULL,            -- number of the listing id, without the site
    site       TEXT NOT NULL,               -- such as MLB
    looked     INTEGER NOT NULL CHECK (looked IN (0, 1, 2)), -- 0 not yet, 1 its details were read, 2 they are to be read alone
    PRIMARY KEY (ml_user_id, item_id)
) STRICT, WITHOUT ROWID;

-- Listings of linked accounts, as the marketplace shows them to their seller.
CREATE TABLE listing (
    owner_id      INTEGER NOT NULL,         -- the person whose account it is of
    item_id       INTEGER NOT NULL,         -- number of the listing id, without the site
    ml_user_id    INTEGER NOT NULL,         -- the selling account
    site          TEXT NOT NULL,            -- such as MLB
    title         TEXT NOT NULL,            -- as buyers see it
    status        INTEGER NOT NULL,         -- word
    sub_status    TEXT NOT NULL,            -- why, in the marketplace's words with blanks between; may be empty
    price_cents   INTEGER,                  -- what it costs; NULL when the marketplace does not say it
    currency      INTEGER NOT NULL,         -- word
    available     INTEGER NOT NULL,         -- units for sale
    sold          INTEGER NOT NULL,         -- units sold since it was published
    listing_type  INTEGER NOT NULL,         -- word, such as gold_special
    logistic_type INTEGER,                  -- word, such as drop_off
    category      TEXT NOT NULL,            -- such as MLB31447; may be empty
    sku           TEXT NOT NULL,            -- empty when it has none
    ean           TEXT NOT NULL,            -- empty when it has none
    permalink     TEXT NOT NULL,            -- its page; may be empty
    thumbnail     TEXT NOT NULL,            -- address of its small picture; may be empty
    created_at    INTEGER NOT NULL,         -- when it was published
    updated_at    INTEGER NOT NULL,         -- last_updated of the state stored here
    PRIMARY KEY (owner_id, item_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX listing_run ON listing (owner_id, ml_user_id, status, updated_at, item_id);
CREATE INDEX listing_by_change ON listing (owner_id, updated_at, item_id);
CREATE INDEX listing_by_number ON listing (item_id);
-- What a list of listings is worth.
CREATE INDEX listing_worth ON listing (owner_id, ml_user_id, status, available, price_cents);
CREATE INDEX listing_by_sku ON listing (owner_id, sku) WHERE sku <> '';

-- Listings by account and state, kept by triggers: the totals of their list.
CREATE TABLE listing_count (
    owner_id   INTEGER NOT NULL,            -- as in listing
    ml_user_id INTEGER NOT NULL,            -- as in listing
    status     INTEGER NOT NULL,            -- as in listing
    listings   INTEGER NOT NULL,            -- how many
    PRIMARY KEY (owner_id, ml_user_id, status)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER listing_comes AFTER INSERT ON listing
BEGIN
    INSERT INTO listing_count (owner_id, ml_user_id, status, listings)
    VALUES (NEW.owner_id, NEW.ml_user_id, NEW.status, 1)
    ON CONFLICT DO UPDATE SET listings = listings + 1;
END;
CREATE TRIGGER listing_goes AFTER DELETE ON listing
BEGIN
    UPDATE listing_count SET listings = listings - 1
    WHERE owner_id = OLD.owner_id AND ml_user_id = OLD.ml_user_id AND status = OLD.status;
END;
CREATE TRIGGER listing_moves AFTER UPDATE OF ml_user_id, status ON listing
WHEN NEW.status <> OLD.status OR NEW.ml_user_id <> OLD.ml_user_id
BEGIN
    UPDATE listing_count SET listings = listings - 1
    WHERE owner_id = OLD.owner_id AND ml_user_id = OLD.ml_user_id AND status = OLD.status;
    INSERT INTO listing_count (owner_id, ml_user_id, status, listings)
    VALUES (NEW.owner_id, NEW.ml_user_id, NEW.status, 1)
    ON CONFLICT DO UPDATE SET listings = listings + 1;
END;

-- Questions of buyers, clustered by owner and time.
CREATE TABLE question (
    owner_id    INTEGER NOT NULL,           -- the person whose listing it is about
    asked_at    INTEGER NOT NULL,           -- when it was asked
    question_id INTEGER NOT NULL,           -- the marketplace's number
    ml_user_id  INTEGER NOT NULL,           -- the selling account
    item_id     INTEGER NOT NULL,           -- number of the listing id
    state       INTEGER NOT NULL,           -- 1 without an answer, 2 answered, 3 closed without one
    status      TEXT NOT NULL,              -- as the marketplace calls it
    text        TEXT NOT NULL,              -- empty when it was banned
    answer      TEXT,                       -- NULL without one
    answered_at INTEGER,                    -- when it was answered
    asker_id    INTEGER,                    -- the buyer's number
    updated_at  INTEGER,                    -- last_updated of the state stored here, when the marketplace told it
    PRIMARY KEY (owner_id, asked_at, question_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX question_by_number ON question (question_id);
CREATE INDEX question_run ON question (owner_id, state, ml_user_id, asked_at, question_id);
CREATE INDEX question_of_item ON question (owner_id, item_id, state, asked_at, question_id);
-- Questions in a state, the last asked first.
CREATE INDEX question_by_time ON question (owner_id, state, asked_at, question_id);
-- What one buyer asked before.
CREATE INDEX question_of_asker ON question (owner_id, asker_id, asked_at) WHERE asker_id IS NOT NULL;

-- Answers to questions that were sent and of which nobody saw yet whether they arrived.
CREATE TABLE answer_sent (
    question_id INTEGER PRIMARY KEY,        -- the marketplace's number
    sent_at     INTEGER NOT NULL            -- when
) STRICT;

CREATE INDEX answer_sent_by_time ON answer_sent (sent_at);

-- Claims of buyers, clustered by owner and time.
CREATE TABLE claim (
    owner_id    INTEGER NOT NULL,           -- the person whose sale it is about
    opened_at   INTEGER NOT NULL,           -- when it was opened
    claim_id    INTEGER NOT NULL,           -- the marketplace's number
    ml_user_id  INTEGER NOT NULL,           -- the selling account
    state       INTEGER NOT NULL,           -- 1 open, 2 closed
    kind        TEXT NOT NULL,              -- such as mediations
    stage       TEXT NOT NULL,              -- such as claim or dispute
    reason      TEXT NOT NULL,              -- the marketplace's code for the reason
    resource    TEXT NOT NULL,              -- what it is about: order, shipment, payment or purchase
    resource_id INTEGER,                    -- its number
    due_at      INTEGER,                    -- until when the seller has to act
    action      TEXT NOT NULL,              -- what the seller has to do; may be empty
    resolution  TEXT NOT NULL,              -- how it ended; empty while it is open
    updated_at  INTEGER NOT NULL,           -- last_updated of the state stored here
    order_id    INTEGER,                    -- the order that it is about, or the first of its parcel, its cart or its payment;
                                            -- NULL when not known
    came_back   INTEGER NOT NULL DEFAULT 0 CHECK (came_back IN (0, 1)), -- 1 once the goods are said to be back with the seller
    PRIMARY KEY (owner_id, opened_at, claim_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX claim_by_number ON claim (claim_id);
CREATE INDEX claim_run ON claim (owner_id, state, ml_user_id, opened_at, claim_id);
-- Open ones by deadline, then those that ended, the last one first.
CREATE INDEX claim_by_deadline ON claim (owner_id, state, iif(state = 1, coalesce(due_at, 9000000000), -updated_at), claim_id);
-- The claims about an order or its parcel.
CREATE INDEX claim_of_resource ON claim (owner_id, resource_id) WHERE resource_id IS NOT NULL;
CREATE INDEX claim_came_back ON claim (owner_id, resource_id) WHERE came_back = 1;
CREATE INDEX claim_of_order ON claim (owner_id, order_id) WHERE order_id IS NOT NULL;

-- Accounts that were unlinked and whose listings, questions and claims are being removed.
CREATE TABLE ml_unlinked (
    owner_id   INTEGER NOT NULL,            -- whose they are
    ml_user_id INTEGER NOT NULL,            -- the account
    PRIMARY KEY (owner_id, ml_user_id)
) STRICT, WITHOUT ROWID;

-- Fees as the marketplace last told them, kept for a day. What is asked decides the slot, so there are never more than slots.
CREATE TABLE ml_fee (
    slot       INTEGER PRIMARY KEY,         -- from the question's digest
    question   TEXT NOT NULL,               -- what was asked: account, category, price, kind of shipping
    answer     TEXT NOT NULL,               -- JSON of what matters of the answer
    fetched_at INTEGER NOT NULL             -- when it was told
) STRICT;

-- Tax rates that students set for their own calculations.
CREATE TABLE own_tax (
    user_id    INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE, -- whose rate
    rate_bp    INTEGER NOT NULL CHECK (rate_bp BETWEEN 0 AND 10000), -- hundredths of a percent
    updated_at INTEGER NOT NULL             -- when it was set
) STRICT;

-- ----------------------------------------------------------------- catalog

-- Products of sellers and suppliers.
CREATE TABLE product (
    product_id  INTEGER PRIMARY KEY,        -- grows with time
    owner_id    INTEGER NOT NULL REFERENCES user (user_id), -- whose
    sku         TEXT NOT NULL CHECK (sku <> ''), -- the owner's own code
    ean         TEXT NOT NULL,              -- empty when it has none
    title       TEXT NOT NULL CHECK (title <> ''), -- what it is called
    cost_cents  INTEGER NOT NULL,           -- what it costs its owner
    price_cents INTEGER NOT NULL,           -- what its owner asks for it
    stock       INTEGER NOT NULL,           -- the balance of its movements
    created_at  INTEGER NOT NULL,           -- when it was entered
    updated_at  INTEGER NOT NULL,           -- when it or its stock last changed
    search_key  TEXT NOT NULL,              -- title, SKU and EAN without case and accents, for sorting and searching
    low_stock   INTEGER CHECK (low_stock >= 0), -- its owner is warned when so many are left, or fewer; NULL: never
    UNIQUE (owner_id, sku)
) STRICT;

CREATE INDEX product_by_title ON product (owner_id, search_key, product_id);
-- Also what a list adds up.
CREATE INDEX product_by_stock ON product (owner_id, stock, product_id, low_stock, cost_cents);
CREATE INDEX product_by_change ON product (owner_id, updated_at, product_id);
CREATE INDEX product_by_ean ON product (owner_id, ean) WHERE ean <> '';

-- A file of products that is becoming products: all of it does, whatever happens, or nothing.
CREATE TABLE product_import (
    owner_id   INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE, -- whose products they become
    import_id  BLOB NOT NULL,               -- tells one import of the person from the next
    is_whole   INTEGER NOT NULL,            -- 1 once all parts are here: from then on all of it becomes products
    room       INTEGER NOT NULL,            -- products that it may make in all
    created    INTEGER NOT NULL,            -- products that it has made
    changed    INTEGER NOT NULL,            -- products that it has changed
    unchanged  INTEGER NOT NULL,            -- rows that were as the product already is
    touched_at INTEGER NOT NULL             -- when a job last worked at it
) STRICT;

-- What is left of it.
CREATE TABLE product_import_part (
    owner_id INTEGER NOT NULL REFERENCES product_import (owner_id) ON DELETE CASCADE, -- whose import
    part     INTEGER NOT NULL,              -- in the order of the file
    rows     TEXT NOT NULL,                 -- JSON: some rows of the file, which are removed when they are done
    PRIMARY KEY (owner_id, part)
) STRICT, WITHOUT ROWID;

-- What came in and went out of a product's stock; only ever added.
CREATE TABLE stock_movement (
    product_id  INTEGER NOT NULL REFERENCES product (product_id) ON DELETE CASCADE, -- the product
    movement_id INTEGER NOT NULL,           -- grows with time, by product
    kind        INTEGER NOT NULL CHECK (kind IN (1, 2, 3)), -- 1 in, 2 out, 3 adjust
    quantity    INTEGER NOT NULL CHECK (quantity >= 0), -- units; for adjust, the distance
    change      INTEGER NOT NULL,           -- what it adds to the balance
    balance     INTEGER NOT NULL,           -- what there was after it
    reason      TEXT NOT NULL,              -- why
    order_id    INTEGER,                    -- the order that moved it
    created_at  INTEGER NOT NULL,           -- when it was noted
    number      INTEGER NOT NULL DEFAULT 0, -- grows with time over all products, never given again
    PRIMARY KEY (product_id, movement_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX stock_movement_of_order ON stock_movement (order_id, product_id) WHERE order_id IS NOT NULL;

-- The number that was given last to a movement of stock. A product that goes takes its movements along, not their numbers.
CREATE TABLE stock_movement_last (
    only   INTEGER PRIMARY KEY CHECK (only = 1), -- one row
    number INTEGER NOT NULL                 -- 0 before the first movement
) STRICT;

INSERT INTO stock_movement_last (only, number) VALUES (1, 0);

-- ---------------------------------------------------------------- messages

-- What people are told inside the platform, clustered by person and time.
CREATE TABLE notification (
    owner_id        INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- who is told
    created_at      INTEGER NOT NULL,       -- when it was told
    notification_id INTEGER NOT NULL,       -- grows with time, unique
    kind            INTEGER NOT NULL,       -- 1 venda, 2 reclamacao, 3 pergunta, 4 anuncio, 5 meet, 6 programa, 7 parceiro, 8 sistema
    title           TEXT NOT NULL,          -- what happened
    message         TEXT NOT NULL,          -- the details, may be empty
    ml_user_id      INTEGER,                -- the account it is about
    reference       TEXT,                   -- such as the order id
    read_at         INTEGER,                -- when it was read; NULL while unread
    PRIMARY KEY (owner_id, created_at, notification_id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX notification_by_number ON notification (owner_id, notification_id);
CREATE INDEX notification_unread ON notification (owner_id, created_at, notification_id) WHERE read_at IS NULL;

-- What has been told already, so that a repeated cause says nothing twice.
CREATE TABLE notification_key (
    owner_id        INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- who was told
    cause           TEXT NOT NULL,          -- such as venda:2000001
    notification_id INTEGER NOT NULL,       -- the notification that told it
    PRIMARY KEY (owner_id, cause)
) STRICT, WITHOUT ROWID;

-- Unread notifications a person, kept with each write.
CREATE TABLE notification_count (
    owner_id INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE, -- the person
    unread   INTEGER NOT NULL,              -- those not read yet
    told     INTEGER NOT NULL,              -- all of them
    last_id  INTEGER NOT NULL               -- newest notification_id given out
) STRICT;

-- Messages that leave the platform, queued in the transaction that causes them.
CREATE TABLE outbox (
    message_id INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with time, and is never given again
    channel    TEXT NOT NULL CHECK (channel IN ('chat', 'telegram', 'email', 'push')), -- the way it leaves by
    user_id    INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- the recipient
    kind       TEXT NOT NULL,               -- such as boas_vindas
    params     TEXT NOT NULL,               -- JSON: what fills its text; never a secret
    dedup_key  TEXT NOT NULL UNIQUE,        -- what it is sent for, once
    state      INTEGER NOT NULL,            -- 0 waiting, 1 sent, 2 dropped, 3 given up
    created_at INTEGER NOT NULL,            -- when it was queued
    run_at     INTEGER NOT NULL,            -- not before
    expires_at INTEGER,                     -- worthless after
    done_at    INTEGER,                     -- when it was sent, dropped or given up
    outcome    TEXT,                        -- why it waits or what became of it
    attempts   INTEGER NOT NULL DEFAULT 0,  -- tries to send it so far
    lease      INTEGER,                     -- number of the try that is under way; run_at is its end meanwhile
    provider   TEXT,                        -- what the provider calls it, or its last answer
    global_id  TEXT NOT NULL DEFAULT (lower(hex(randomblob(16)))), -- its name in the whole world: the left part of a Message-ID
    request_id TEXT NOT NULL DEFAULT '',    -- of the request that caused it; empty for what the service does by itself
    receipt    INTEGER NOT NULL DEFAULT 0,  -- what the provider told of it after taking it: 0 nothing, 1 sent on, 2 delivered, 3 read
    receipt_at INTEGER                      -- when that was
) STRICT;

CREATE INDEX outbox_due ON outbox (channel, run_at, message_id) WHERE state = 0;
CREATE INDEX outbox_leased ON outbox (message_id) WHERE lease IS NOT NULL;
CREATE INDEX outbox_of_person ON outbox (user_id, state, channel, message_id);
CREATE INDEX outbox_by_state ON outbox (state, message_id);
CREATE INDEX outbox_by_channel ON outbox (channel, message_id);
CREATE INDEX outbox_by_kind ON outbox (kind, message_id);
CREATE INDEX outbox_done ON outbox (done_at) WHERE done_at IS NOT NULL;
CREATE INDEX outbox_bodies ON outbox (done_at) WHERE done_at IS NOT NULL AND params <> '{}';
CREATE INDEX outbox_of_request ON outbox (request_id) WHERE request_id <> '';
-- Those that failed lately, which the menu of operators counts.
CREATE INDEX outbox_failed ON outbox (done_at) WHERE state = 3;
-- The chat network tells later what became of a message, by the id that it gave it.
CREATE INDEX outbox_by_provider ON outbox (provider) WHERE channel = 'chat' AND provider IS NOT NULL;

-- Chat numbers that the network did not reach, until a message arrives there. Only the person's present number counts.
CREATE TABLE chat_unreachable (
    user_id INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE, -- whose number
    number  TEXT NOT NULL,                  -- which, as in user
    times   INTEGER NOT NULL,               -- refusals in a row
    since   INTEGER NOT NULL,               -- when the first of them was
    reason  TEXT NOT NULL                   -- what the network said last
) STRICT;

-- Messages by channel, kind and state, kept by triggers: the totals of the queue.
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

-- What somebody wants or does not want of messages that can be done without; without a row, the platform's custom.
CREATE TABLE message_choice (
    user_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose choice
    about   TEXT NOT NULL,                  -- a channel, or a kind of message, as in outbox
    wanted  INTEGER NOT NULL CHECK (wanted IN (0, 1)), -- 1 when it is wanted
    PRIMARY KEY (user_id, about)
) STRICT, WITHOUT ROWID;

-- Texts of messages that staff has changed; without a row, the text that ships.
CREATE TABLE message_text (
    kind       TEXT PRIMARY KEY,            -- as in outbox
    subject    TEXT NOT NULL,               -- subject or title, with placeholders
    body       TEXT NOT NULL,               -- text, with placeholders
    changed_at INTEGER NOT NULL             -- when it was changed
) STRICT, WITHOUT ROWID;

-- Messages that were done with, by quarter of an hour, kept by triggers: the figures by civil day of any zone.
CREATE TABLE outbox_done_count (
    quarter  INTEGER NOT NULL,              -- quarters of an hour since 1970
    channel  TEXT NOT NULL,                 -- as in outbox
    state    INTEGER NOT NULL,              -- as in outbox
    messages INTEGER NOT NULL,              -- how many
    PRIMARY KEY (quarter, channel, state)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER outbox_ends AFTER UPDATE OF state ON outbox WHEN NEW.state <> OLD.state AND NEW.done_at IS NOT NULL
BEGIN
    INSERT INTO outbox_done_count (quarter, channel, state, messages)
    VALUES (NEW.done_at / 900, NEW.channel, NEW.state, 1)
    ON CONFLICT DO UPDATE SET messages = messages + 1;
END;
CREATE TRIGGER outbox_begins_again AFTER UPDATE OF state ON outbox WHEN NEW.state <> OLD.state AND OLD.done_at IS NOT NULL
BEGIN
    UPDATE outbox_done_count SET messages = messages - 1
    WHERE quarter = OLD.done_at / 900 AND channel = OLD.channel AND state = OLD.state;
END;

-- Announcements of the operator to students.
CREATE TABLE announcement (
    announcement_id INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with time, and is never given again: notices name it
    title      TEXT NOT NULL,               -- in one line
    body       TEXT NOT NULL,               -- plain text of several lines
    roles      TEXT NOT NULL,               -- the plans it is for, names between commas; empty for all students
    channels   TEXT NOT NULL,               -- the channels beside the notice, in the same way; empty for none
    state      INTEGER NOT NULL,            -- 1 draft, 2 scheduled, 3 being sent, 4 sent, 5 cancelled
    by_name    TEXT NOT NULL,               -- who wrote it
    created_at INTEGER NOT NULL,            -- when it was written
    send_at    INTEGER,                     -- not before; NULL in a draft that is for at once
    begun_at   INTEGER,                     -- when the first person was told
    done_at    INTEGER,                     -- when the last was told, or when it was cancelled
    position   INTEGER NOT NULL DEFAULT 0,  -- the last person who was told
    audience   INTEGER NOT NULL DEFAULT 0,  -- people it was for when it began
    told       INTEGER NOT NULL DEFAULT 0,  -- people who were told
    messages   INTEGER NOT NULL DEFAULT 0,  -- messages that were queued for them
    readers    INTEGER NOT NULL DEFAULT 0   -- people who read it, kept by a trigger
) STRICT;

CREATE INDEX announcement_due ON announcement (send_at, announcement_id) WHERE state IN (2, 3);

-- Who was told of an announcement, and read it.
CREATE TABLE announcement_told (
    announcement_id INTEGER NOT NULL REFERENCES announcement (announcement_id) ON DELETE CASCADE, -- which
    user_id         INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- who was told
    notification_id INTEGER NOT NULL,       -- the person's notice about it
    read_at         INTEGER,                -- when the notice was read
    PRIMARY KEY (announcement_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX announcement_told_by_person ON announcement_told (user_id, notification_id);
CREATE INDEX announcement_told_by_reading ON announcement_told (announcement_id, read_at, user_id);

CREATE TRIGGER announcement_is_read AFTER UPDATE OF read_at ON notification
WHEN OLD.read_at IS NULL AND NEW.read_at IS NOT NULL AND NEW.reference GLOB '/painel/comunicados/*'
BEGIN
    UPDATE announcement SET readers = readers + 1 WHERE announcement_id IN (
        SELECT announcement_id FROM announcement_told
        WHERE user_id = NEW.owner_id AND notification_id = NEW.notification_id AND read_at IS NULL);
    UPDATE announcement_told SET read_at = NEW.read_at
    WHERE user_id = NEW.owner_id AND notification_id = NEW.notification_id AND read_at IS NULL;
END;

-- Private Telegram chats that people have linked.
CREATE TABLE telegram_chat (
    user_id    INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE, -- whose
    chat_id    INTEGER NOT NULL UNIQUE,     -- Telegram's number of the chat; one chat belongs to one person
    name       TEXT NOT NULL,               -- what the person is called there, or empty
    linked_at  INTEGER NOT NULL,            -- when it was linked
    blocked_at INTEGER                      -- since when the person has the bot blocked
) STRICT;

-- Codes of links that tie a Telegram chat to a person, each used once; at most one a person.
CREATE TABLE telegram_code (
    user_id    INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE, -- who asked for it
    hash       BLOB NOT NULL UNIQUE,        -- digest of the code
    expires_at INTEGER NOT NULL             -- works until then
) STRICT;

-- Browsers in which people have switched messages on.
CREATE TABLE push_device (
    device_id  INTEGER PRIMARY KEY,         -- the newest has the highest; one that is free may be given again
    user_id    INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose
    endpoint   TEXT NOT NULL UNIQUE,        -- address at the browser's push service
    p256dh     BLOB NOT NULL CHECK (length(p256dh) = 65), -- the browser's public key, uncompressed
    auth       BLOB NOT NULL CHECK (length(auth) = 16), -- the browser's secret for the encryption
    agent      TEXT NOT NULL,               -- what the browser calls itself
    created_at INTEGER NOT NULL,            -- when it was switched on
    sent_at    INTEGER                      -- when the service last took a message for it
) STRICT;

CREATE INDEX push_device_by_person ON push_device (user_id, device_id);


-- ---------------------------------------------------------------- checkout

-- Purchase events of the checkout platform, each once, with what it did. Bodies lie apart, so that lists stay dense.
CREATE TABLE checkout_event (
    event_id    INTEGER PRIMARY KEY,        -- grows in the order of arrival
    received_at INTEGER NOT NULL,           -- when it first came in
    dedup_key   BLOB NOT NULL UNIQUE,       -- digest of the event's id, else of transaction and event
    event       TEXT NOT NULL,              -- as the platform calls it
    kind        INTEGER NOT NULL,           -- what it means: 1 approved, 2 complete, 3 refunded, 4 chargeback, 5 canceled, 6 protest, 7 delayed, 8 expired, 9 subscription cancelled, 10 plan switched, 11 slip printed, 12 charge date, 13 cart, 14 partly refunded, 0 anything else
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
    recurrence  INTEGER,                    -- number of the charge, 1 for the first
    apart       INTEGER NOT NULL DEFAULT 1, -- 0 while the address is that of its student's account, by which it is found
    amount_cents INTEGER,                   -- for how much it was sold; NULL when the event does not tell
    product_name TEXT NOT NULL DEFAULT '',  -- name of what was sold; empty when the platform did not say it
    currency    TEXT NOT NULL DEFAULT ''    -- such as BRL
) STRICT;

CREATE INDEX checkout_event_by_user ON checkout_event (user_id, event_id) WHERE user_id IS NOT NULL;
-- Most events are only kept, and are looked for among the newest.
CREATE INDEX checkout_event_by_email ON checkout_event (email, event_id) WHERE email <> '' AND state <> 3 AND apart = 1;
CREATE INDEX checkout_event_by_purchase ON checkout_event (purchase, event_id) WHERE purchase IS NOT NULL AND state <> 3;
CREATE INDEX checkout_event_by_kind ON checkout_event (kind, event_id);
CREATE INDEX checkout_event_by_state ON checkout_event (state, event_id);
-- Revenue and cancellations by time, read from the index alone.
CREATE INDEX checkout_event_back ON checkout_event (happened_ms, purchase) WHERE kind IN (3, 4) AND state <> 3;
CREATE INDEX checkout_event_paid ON checkout_event (happened_ms, role, amount_cents, currency, purchase) WHERE kind = 1 AND state <> 3;
CREATE INDEX checkout_event_left ON checkout_event (happened_ms) WHERE kind = 9 AND state <> 3;

CREATE TRIGGER buyer_changes_address AFTER UPDATE OF email ON user WHEN NEW.email <> OLD.email
BEGIN UPDATE checkout_event SET apart = 1 WHERE user_id = OLD.user_id; END;
CREATE TRIGGER buyer_goes BEFORE DELETE ON user
BEGIN UPDATE checkout_event SET apart = 1 WHERE user_id = OLD.user_id; END;

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

-- ----------------------------------------------------------------- partner

-- API plan of an account.
CREATE TABLE partner_account (
    user_id    INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE, -- the account's person
    plan       TEXT NOT NULL CHECK (plan IN ('starter', 'pro', 'scale')), -- which of the plans
    until_day  INTEGER,                     -- last civil day it is valid; NULL without end
    updated_at INTEGER NOT NULL             -- when it was last set
) STRICT;

-- Personal tokens for the Partner API. They do not expire.
CREATE TABLE partner_token (
    token_id     INTEGER PRIMARY KEY,       -- the token's number
    token_hash   BLOB NOT NULL UNIQUE,      -- SHA-256 of the token
    user_id      INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose data it opens
    name         TEXT NOT NULL,             -- what its owner calls it
    prefix       TEXT NOT NULL,             -- first characters, for recognising it
    created_at   INTEGER NOT NULL,          -- when it was made
    last_used_at INTEGER,                   -- written behind
    revoked_at   INTEGER,                   -- NULL while it works
    last_address TEXT,                      -- where the last call came from
    may_change   INTEGER NOT NULL DEFAULT 0 CHECK (may_change IN (0, 1)), -- whether it may change the shop: partner:write
    test         INTEGER NOT NULL DEFAULT 0 CHECK (test IN (0, 1)) -- 1 opens a shop of sample data, and nothing of its owner's
) STRICT;

CREATE INDEX partner_token_by_user ON partner_token (user_id, token_id);

-- Programs that people connect to their account by OAuth: those that registered
-- themselves, and documents that were fetched from where they say they are.
CREATE TABLE oauth_client (
    client_no   INTEGER PRIMARY KEY,        -- the program's number
    client_id   TEXT NOT NULL UNIQUE,       -- as requests name it: app_ and hexadecimal digits, or the address of its document
    name        TEXT NOT NULL,              -- as it calls itself
    redirects   TEXT NOT NULL,              -- JSON list of the addresses that people may be sent back to
    created_at  INTEGER NOT NULL,           -- when it registered or was first fetched
    fresh_until INTEGER,                    -- a document is fetched again after this; NULL for those that registered
    keep_until  INTEGER NOT NULL,           -- removed after this; each connection and renewal puts it off
    known       INTEGER NOT NULL DEFAULT 0 CHECK (known IN (0, 1)) -- whether somebody signed in, or an address with a good login, brought it
) STRICT;

CREATE INDEX oauth_client_by_end ON oauth_client (keep_until);
CREATE INDEX oauth_client_unused ON oauth_client (known, keep_until);

-- What a program asks of a person who has still to decide.
CREATE TABLE oauth_request (
    request_hash BLOB PRIMARY KEY,          -- SHA-256 of the number in the address of the page
    client_no    INTEGER NOT NULL REFERENCES oauth_client (client_no) ON DELETE CASCADE, -- who asks
    redirect_uri TEXT NOT NULL,             -- where the answer goes
    state        BLOB,                      -- sent back byte for byte; NULL without one
    challenge    BLOB NOT NULL,             -- SHA-256 of what will redeem the code
    may_write    INTEGER NOT NULL CHECK (may_write IN (0, 1)), -- whether it asks to act, not only to read
    session_hash BLOB,                      -- the session that saw it first, which alone decides
    expires_at   INTEGER NOT NULL,          -- nobody decides after this
    known        INTEGER NOT NULL DEFAULT 0 CHECK (known IN (0, 1)) -- as in oauth_client, or seen in a session
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth_request_by_end ON oauth_request (expires_at);
CREATE INDEX oauth_request_waiting ON oauth_request (known, expires_at);
CREATE INDEX oauth_request_by_client ON oauth_request (client_no);

-- What a person gave to a program: a connected app. One that ends is removed, and its tokens with it.
CREATE TABLE oauth_grant (
    grant_id     INTEGER PRIMARY KEY,       -- the connection's number
    user_id      INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose data it opens
    client_no    INTEGER NOT NULL REFERENCES oauth_client (client_no) ON DELETE CASCADE, -- to whom
    client_name  TEXT NOT NULL,             -- as it was called when the person allowed it
    may_write    INTEGER NOT NULL CHECK (may_write IN (0, 1)), -- whether it may act, not only read
    created_at   INTEGER NOT NULL,          -- when the person allowed it
    ends_at      INTEGER NOT NULL,          -- the end of its code, then of its refresh token
    last_used_at INTEGER,                   -- written behind
    last_address TEXT,                      -- where the last call came from
    code_hash    BLOB NOT NULL UNIQUE,      -- SHA-256 of the code, kept so that a second use is noticed
    redirect_uri TEXT NOT NULL,             -- where the code went
    challenge    BLOB NOT NULL,             -- as in oauth_request
    family_hash  BLOB UNIQUE,               -- SHA-256 of what all its refresh tokens have in common; NULL until the code is redeemed
    refresh_hash BLOB,                      -- SHA-256 of the newest refresh token, the only one that is good
    may_change   INTEGER NOT NULL DEFAULT 0 CHECK (may_change IN (0, 1)) -- whether may_write was given since it also lets change the shop
) STRICT;

CREATE INDEX oauth_grant_by_user ON oauth_grant (user_id, grant_id);
CREATE INDEX oauth_grant_by_client ON oauth_grant (client_no);
CREATE INDEX oauth_grant_by_end ON oauth_grant (ends_at);

-- Access tokens of connected apps, the newest few of each.
CREATE TABLE oauth_token (
    token_hash BLOB PRIMARY KEY,            -- SHA-256 of the token
    grant_id   INTEGER NOT NULL REFERENCES oauth_grant (grant_id) ON DELETE CASCADE, -- what it was given for
    may_write  INTEGER NOT NULL CHECK (may_write IN (0, 1)), -- never more than the grant
    expires_at INTEGER NOT NULL             -- it opens nothing from then on
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth_token_by_grant ON oauth_token (grant_id, expires_at);
CREATE INDEX oauth_token_by_end ON oauth_token (expires_at);

-- Calls a day and operation; the monthly quota is their sum. Written behind.
CREATE TABLE partner_usage (
    user_id   INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose calls
    day       INTEGER NOT NULL,             -- civil day
    operation TEXT NOT NULL,                -- such as list_orders
    calls     INTEGER NOT NULL,             -- how many
    PRIMARY KEY (user_id, day, operation)
) STRICT, WITHOUT ROWID;

-- Each account that has or had an API plan or a token, kept by triggers: the operator's list of them.
CREATE TABLE partner_summary (
    user_id      INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE, -- the account's person
    name_key     TEXT NOT NULL,             -- as in user
    search       TEXT NOT NULL,             -- as in user
    plan         TEXT,                      -- as in partner_account; NULL without one
    until_day    INTEGER,                   -- as in partner_account
    month        INTEGER NOT NULL DEFAULT 0, -- first civil day of the last month with calls
    calls        INTEGER NOT NULL DEFAULT 0, -- calls of that month
    tokens       INTEGER NOT NULL DEFAULT 0, -- how many work
    last_used_at INTEGER                    -- last use of any of them
) STRICT;

CREATE INDEX partner_summary_by_name ON partner_summary (name_key, user_id);
CREATE INDEX partner_summary_by_use ON partner_summary (month, calls, user_id, plan, until_day);
CREATE INDEX partner_summary_by_end ON partner_summary (coalesce(until_day, 1000000), user_id);

CREATE TRIGGER partner_plan_comes AFTER INSERT ON partner_account
BEGIN
    INSERT INTO partner_summary (user_id, name_key, search, plan, until_day)
    SELECT user_id, name_key, search, NEW.plan, NEW.until_day FROM user WHERE user_id = NEW.user_id
    ON CONFLICT (user_id) DO UPDATE SET plan = NEW.plan, until_day = NEW.until_day;
END;
CREATE TRIGGER partner_plan_changes AFTER UPDATE OF plan, until_day ON partner_account
BEGIN
    UPDATE partner_summary SET plan = NEW.plan, until_day = NEW.until_day WHERE user_id = NEW.user_id;
END;
CREATE TRIGGER partner_plan_goes AFTER DELETE ON partner_account
BEGIN
    UPDATE partner_summary SET plan = NULL, until_day = NULL WHERE user_id = OLD.user_id;
END;
CREATE TRIGGER partner_token_comes AFTER INSERT ON partner_token
BEGIN
    INSERT INTO partner_summary (user_id, name_key, search)
    SELECT user_id, name_key, search FROM user WHERE user_id = NEW.user_id
    ON CONFLICT (user_id) DO NOTHING;
    UPDATE partner_summary
    SET tokens = tokens + (NEW.revoked_at IS NULL),
        last_used_at = nullif(max(coalesce(last_used_at, 0), coalesce(NEW.last_used_at, 0)), 0)
    WHERE user_id = NEW.user_id;
END;
CREATE TRIGGER partner_token_changes AFTER UPDATE OF revoked_at, last_used_at ON partner_token
BEGIN
    UPDATE partner_summary
    SET tokens = tokens + (NEW.revoked_at IS NULL) - (OLD.revoked_at IS NULL),
        last_used_at = nullif(max(coalesce(last_used_at, 0), coalesce(NEW.last_used_at, 0)), 0)
    WHERE user_id = NEW.user_id;
END;
CREATE TRIGGER partner_token_goes AFTER DELETE ON partner_token WHEN OLD.revoked_at IS NULL
BEGIN
    UPDATE partner_summary SET tokens = tokens - 1 WHERE user_id = OLD.user_id;
END;
CREATE TRIGGER partner_name_changes AFTER UPDATE OF name, email ON user
BEGIN
    UPDATE partner_summary SET name_key = NEW.name_key, search = NEW.search WHERE user_id = NEW.user_id;
END;

-- A month begins anew; what comes late for one before it changes nothing here.
CREATE TRIGGER partner_usage_comes AFTER INSERT ON partner_usage
BEGIN
    UPDATE partner_summary
    SET calls = NEW.calls + iif(month = unixepoch(NEW.day * 86400, 'unixepoch', 'start of month') / 86400, calls, 0),
        month = unixepoch(NEW.day * 86400, 'unixepoch', 'start of month') / 86400
    WHERE user_id = NEW.user_id AND month <= NEW.day;
END;
CREATE TRIGGER partner_usage_changes AFTER UPDATE OF calls ON partner_usage
BEGIN
    UPDATE partner_summary SET calls = calls + NEW.calls - OLD.calls
    WHERE user_id = NEW.user_id AND month = unixepoch(NEW.day * 86400, 'unixepoch', 'start of month') / 86400;
END;

-- Notifications that partner programs send to the owner of their token, in the order of their making.
CREATE TABLE partner_notification (
    owner_id        INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- who is told
    notification_id INTEGER NOT NULL,       -- from 1, by owner
    message_id      INTEGER NOT NULL UNIQUE, -- the message in the outbox, which goes earlier
    channel         TEXT NOT NULL,          -- as in outbox
    event           TEXT NOT NULL,          -- such as custom
    title           TEXT NOT NULL,          -- one line
    body            TEXT NOT NULL,          -- its text
    created_at      INTEGER NOT NULL,       -- when it was queued
    state           INTEGER NOT NULL,       -- as in outbox, kept by a trigger
    done_at         INTEGER,                -- when it was sent, dropped or given up
    outcome         TEXT,                   -- why it was not sent
    receipt         INTEGER NOT NULL DEFAULT 0, -- as in outbox, kept by the trigger, too
    PRIMARY KEY (owner_id, notification_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX partner_notification_by_age ON partner_notification (created_at, message_id);

CREATE TRIGGER partner_notification_moves AFTER UPDATE OF state, receipt ON outbox
WHEN NEW.kind = 'aviso_de_parceiro' AND (NEW.state <> OLD.state OR NEW.receipt <> OLD.receipt)
BEGIN
    UPDATE partner_notification
    SET state = NEW.state, done_at = NEW.done_at, outcome = NEW.outcome, receipt = NEW.receipt
    WHERE message_id = NEW.message_id;
END;

-- Answers of partner calls that came with an Idempotency-Key, for a day.
CREATE TABLE partner_call (
    call_id INTEGER PRIMARY KEY,            -- in the order of time
    user_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose call
    key     BLOB NOT NULL,                  -- digest of the operation and the caller's key
    body    BLOB NOT NULL,                  -- digest of what was sent with it
    made_at INTEGER NOT NULL,               -- when the work was done
    reply   BLOB NOT NULL,                  -- the answer; empty when newer ones of the account took its place
    kept_from INTEGER NOT NULL DEFAULT 0,   -- bytes of the account's answers before it
    UNIQUE (user_id, key)
) STRICT;

CREATE INDEX partner_call_by_age ON partner_call (made_at);
CREATE INDEX partner_call_kept ON partner_call (user_id, kept_from) WHERE reply <> x'';

-- Addresses of sellers and suppliers that are told what happens, by the Standard Webhooks specification.
CREATE TABLE webhook_endpoint (
    endpoint_id   INTEGER PRIMARY KEY AUTOINCREMENT, -- never given again
    user_id       INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose
    url           TEXT NOT NULL,            -- where it is told
    events        INTEGER NOT NULL,         -- of which types: one bit each
    secret        BLOB NOT NULL,            -- what signs, sealed
    old_secret    BLOB,                     -- the one before, sealed; signs as well for a day
    old_until     INTEGER,                  -- until then
    created_at    INTEGER NOT NULL,         -- when it was made
    state         INTEGER NOT NULL,         -- 1 on, 2 switched off by its owner, 3 gone (410), 4 given up after days of failures
    off_at        INTEGER,                  -- when it was switched off
    failing_since INTEGER,                  -- first failure since the last success
    error         TEXT,                     -- the last failure since then
    delivered_at  INTEGER,                  -- the last success
    lost          INTEGER NOT NULL DEFAULT 0, -- events that found no place in a full queue
    last_number   INTEGER NOT NULL DEFAULT 0, -- number of its newest delivery
    next_at       INTEGER,                  -- when one of its waiting deliveries is due next; NULL when none waits
    paused_until  INTEGER,                  -- until when its receiver asked to be left alone
    client_no     INTEGER                   -- the app that made it, while that is connected; NULL otherwise
) STRICT;

CREATE INDEX webhook_endpoint_of_user ON webhook_endpoint (user_id, endpoint_id);
CREATE INDEX webhook_endpoint_due ON webhook_endpoint (user_id, next_at) WHERE next_at IS NOT NULL AND state = 1;

-- What an app made tells nothing once the app has no connection to that account.
CREATE TRIGGER webhook_endpoint_loses_app AFTER DELETE ON oauth_grant
WHEN NOT EXISTS (SELECT 1 FROM oauth_grant WHERE user_id = OLD.user_id AND client_no = OLD.client_no)
BEGIN
    UPDATE webhook_endpoint
    SET state = 2, off_at = unixepoch(), error = 'o aplicativo que o criou foi desconectado'
    WHERE user_id = OLD.user_id AND client_no = OLD.client_no AND state = 1;
    UPDATE webhook_endpoint SET client_no = NULL WHERE user_id = OLD.user_id AND client_no = OLD.client_no;
END;

-- What happened and waits to be told, written in the transaction of its cause; gone milliseconds later.
CREATE TABLE webhook_event (
    event_id INTEGER PRIMARY KEY AUTOINCREMENT, -- in the order in which it happened
    user_id  INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- who is told
    kind     INTEGER NOT NULL,              -- type of the event; its tens say of what kind of object
    object   INTEGER NOT NULL,              -- number of the object
    movement INTEGER,                       -- of a product's stock: the movement that is told, as in stock_movement; NULL otherwise
    at       INTEGER NOT NULL,              -- when it happened
    data     TEXT                           -- what is told, where that may be gone by then; NULL where it is read from the object
) STRICT;

CREATE INDEX webhook_event_of_user ON webhook_event (user_id, event_id);

-- What an account's programs were told, for those that pull it; removed after 30 days, but for an account's newest.
CREATE TABLE partner_event (
    user_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose
    number  INTEGER NOT NULL,               -- from 1 on, by account, without a gap
    message BLOB NOT NULL,                  -- 16 bytes: its id, as in webhook_delivery
    kind    INTEGER NOT NULL,               -- as in webhook_event
    at      INTEGER NOT NULL,               -- when it happened
    body    TEXT NOT NULL,                  -- the event, as webhooks send it
    PRIMARY KEY (user_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX partner_event_by_kind ON partner_event (user_id, kind, number);
CREATE INDEX partner_event_by_age ON partner_event (at);

-- Events on their way to an endpoint, and what became of them; removed after 30 days.
CREATE TABLE webhook_delivery (
    endpoint_id INTEGER NOT NULL REFERENCES webhook_endpoint (endpoint_id) ON DELETE CASCADE, -- where to
    number      INTEGER NOT NULL,           -- from 1, by endpoint
    message     BLOB NOT NULL,              -- 16 bytes: what webhook-id says, the same for all endpoints and all tries
    kind        INTEGER NOT NULL,           -- as in webhook_event
    object      INTEGER NOT NULL,           -- as in webhook_event
    body        TEXT NOT NULL,              -- what is sent, the same in all tries
    state       INTEGER NOT NULL,           -- 0 waiting, 1 delivered, 2 given up
    created_at  INTEGER NOT NULL,           -- when it happened
    run_at      INTEGER NOT NULL,           -- not before; the largest number while an earlier one about the same object waits
    tries       INTEGER NOT NULL DEFAULT 0, -- since it was queued, or sent again by hand
    tried_at    INTEGER,                    -- the last of them
    status      INTEGER,                    -- what it was answered with; NULL without an answer
    ms          INTEGER,                    -- how long that took
    answer      TEXT,                       -- beginning of the answer's body
    error       TEXT,                       -- why it was no success
    early       INTEGER NOT NULL DEFAULT 0, -- of its tries, those after a shorter pause that the receiver asked for
    PRIMARY KEY (endpoint_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint_id, run_at, number) WHERE state = 0;
CREATE INDEX webhook_delivery_in_line ON webhook_delivery (endpoint_id, kind / 10, object, number) WHERE state = 0;
CREATE INDEX webhook_delivery_by_state ON webhook_delivery (endpoint_id, state, number);
CREATE INDEX webhook_delivery_by_kind ON webhook_delivery (endpoint_id, kind, number);
CREATE INDEX webhook_delivery_by_age ON webhook_delivery (created_at);
CREATE INDEX webhook_delivery_by_time ON webhook_delivery (endpoint_id, created_at, number);

-- Every attempt of a delivery, the newest hundred; gone with the delivery.
CREATE TABLE webhook_attempt (
    endpoint_id INTEGER NOT NULL,           -- as in webhook_delivery
    number      INTEGER NOT NULL,           -- as in webhook_delivery
    attempt     INTEGER NOT NULL,           -- from 1 on, by delivery
    at          INTEGER NOT NULL,           -- when it ended
    ms          INTEGER NOT NULL,           -- how long it took
    status      INTEGER,                    -- what it was answered with; NULL without an answer
    error       TEXT,                       -- why it was no success
    PRIMARY KEY (endpoint_id, number, attempt),
    FOREIGN KEY (endpoint_id, number) REFERENCES webhook_delivery (endpoint_id, number) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Deliveries by endpoint, state and type, kept by triggers: the totals of the lists.
CREATE TABLE webhook_count (
    endpoint_id INTEGER NOT NULL REFERENCES webhook_endpoint (endpoint_id) ON DELETE CASCADE, -- as in webhook_delivery
    state       INTEGER NOT NULL,           -- as in webhook_delivery
    kind        INTEGER NOT NULL,           -- as in webhook_delivery
    deliveries  INTEGER NOT NULL,           -- how many
    PRIMARY KEY (endpoint_id, state, kind)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER webhook_delivery_comes AFTER INSERT ON webhook_delivery
BEGIN
    INSERT INTO webhook_count (endpoint_id, state, kind, deliveries) VALUES (NEW.endpoint_id, NEW.state, NEW.kind, 1)
    ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
END;
CREATE TRIGGER webhook_delivery_goes AFTER DELETE ON webhook_delivery
BEGIN
    UPDATE webhook_count SET deliveries = deliveries - 1
    WHERE endpoint_id = OLD.endpoint_id AND state = OLD.state AND kind = OLD.kind;
END;
CREATE TRIGGER webhook_delivery_moves AFTER UPDATE OF state ON webhook_delivery WHEN NEW.state <> OLD.state
BEGIN
    UPDATE webhook_count SET deliveries = deliveries - 1
    WHERE endpoint_id = OLD.endpoint_id AND state = OLD.state AND kind = OLD.kind;
    INSERT INTO webhook_count (endpoint_id, state, kind, deliveries) VALUES (NEW.endpoint_id, NEW.state, NEW.kind, 1)
    ON CONFLICT DO UPDATE SET deliveries = deliveries + 1;
END;

-- -------------------------------------------------------------------- drop

-- Suppliers and the sellers who sell what they supply: invitations and what became of them.
CREATE TABLE drop_relation (
    relation_id INTEGER PRIMARY KEY AUTOINCREMENT, -- also the number of the invitation
    supplier_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose products are sold
    seller_id   INTEGER REFERENCES user (user_id) ON DELETE CASCADE, -- who sells them; NULL until the invitation is accepted
    email       TEXT NOT NULL,              -- whom the supplier invited, as accounts are known
    state       INTEGER NOT NULL CHECK (state IN (1, 2, 3, 4, 5)), -- 1 invited, 2 active, 3 refused, 4 withdrawn, 5 ended
    invited_at  INTEGER NOT NULL,           -- when it was made
    since       INTEGER,                    -- when it became active
    ended_at    INTEGER                     -- when it was refused, withdrawn or ended
) STRICT;

-- One invitation or relation at a time between the same two.
CREATE UNIQUE INDEX drop_relation_open ON drop_relation (supplier_id, email) WHERE state IN (1, 2);
CREATE UNIQUE INDEX drop_relation_active ON drop_relation (supplier_id, seller_id) WHERE state = 2;
CREATE INDEX drop_relation_of_supplier ON drop_relation (supplier_id, state);
CREATE INDEX drop_relation_of_seller ON drop_relation (seller_id, state);
CREATE INDEX drop_relation_by_state ON drop_relation (state, relation_id);
CREATE INDEX drop_relation_by_email ON drop_relation (email, state);
CREATE INDEX drop_relation_by_end ON drop_relation (ended_at) WHERE ended_at IS NOT NULL;

-- Which product of a supplier a seller's listing sells. Lives within an active relation.
CREATE TABLE drop_link (
    link_id     INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with time, never given again
    supplier_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose product
    seller_id   INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose listing
    item_id     INTEGER NOT NULL,           -- number of the listing id, without the site
    site        TEXT NOT NULL,              -- such as MLB
    product_id  INTEGER NOT NULL REFERENCES product (product_id) ON DELETE CASCADE, -- the supplier's product
    created_at  INTEGER NOT NULL,           -- orders from here on are the supplier's business
    UNIQUE (seller_id, item_id)
) STRICT;

CREATE INDEX drop_link_of_supplier ON drop_link (supplier_id, link_id);
CREATE INDEX drop_link_of_both ON drop_link (supplier_id, seller_id, link_id);
CREATE INDEX drop_link_of_product ON drop_link (product_id);

-- Listings of related sellers of which a supplier said that they sell nothing of theirs. Live within an
-- active relation.
CREATE TABLE drop_foreign (
    supplier_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- who said it
    seller_id   INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose listing
    item_id     INTEGER NOT NULL,           -- number of the listing id, without the site
    noted_at    INTEGER NOT NULL,           -- when it was said
    PRIMARY KEY (supplier_id, seller_id, item_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX drop_foreign_of_seller ON drop_foreign (seller_id);

-- What a seller owes a supplier for an order of a linked listing.
CREATE TABLE drop_order (
    drop_order_id INTEGER PRIMARY KEY AUTOINCREMENT, -- grows with time
    supplier_id   INTEGER NOT NULL,         -- who is paid, also when that person is gone
    seller_id     INTEGER NOT NULL,         -- who pays, also when that person is gone
    order_id      INTEGER NOT NULL,         -- the marketplace's order id
    ordered_at    INTEGER NOT NULL,         -- date_created of that order
    sku           TEXT NOT NULL,            -- of the product, as it was then
    title         TEXT NOT NULL,            -- of the product, as it was then
    quantity      INTEGER NOT NULL,         -- units sold
    unit_cents    INTEGER NOT NULL,         -- the supplier's price then
    amount_cents  INTEGER NOT NULL,         -- what is owed
    state         INTEGER NOT NULL CHECK (state IN (1, 2, 3)), -- 1 pending, 2 paid, 3 cancelled
    due_at        INTEGER NOT NULL,         -- overdue from here on
    paid_at       INTEGER,                  -- when the supplier said that it was paid
    reminded_at   INTEGER,                  -- the last reminder
    batch         INTEGER,                  -- of payments noted by one press, drawn at random; NULL else
    item_id       INTEGER NOT NULL DEFAULT 0, -- number of the listing that sold it; 0 before this was kept
    UNIQUE (order_id, supplier_id)
) STRICT;

-- What else a drop order is for, beside what stands in its row.
CREATE TABLE drop_order_line (
    drop_order_id INTEGER NOT NULL REFERENCES drop_order (drop_order_id) ON DELETE CASCADE, -- the drop order
    line          INTEGER NOT NULL,         -- its place, from 1
    item_id       INTEGER NOT NULL,         -- number of the listing that sold it
    sku           TEXT NOT NULL,            -- of the product, as it was then
    title         TEXT NOT NULL,            -- of the product, as it was then
    quantity      INTEGER NOT NULL,         -- units sold
    unit_cents    INTEGER NOT NULL,         -- the supplier's price then
    PRIMARY KEY (drop_order_id, line)
) STRICT, WITHOUT ROWID;

CREATE INDEX drop_order_of_supplier ON drop_order (supplier_id, ordered_at, drop_order_id);
CREATE INDEX drop_order_of_both ON drop_order (supplier_id, seller_id, ordered_at, drop_order_id);
CREATE INDEX drop_order_due ON drop_order (supplier_id, state, due_at, seller_id, amount_cents);
CREATE INDEX drop_order_of_seller ON drop_order (seller_id, ordered_at, drop_order_id);
CREATE INDEX drop_order_owed ON drop_order (seller_id, state, due_at, supplier_id, amount_cents);
CREATE INDEX drop_order_paid ON drop_order (supplier_id, paid_at, amount_cents) WHERE state = 2;
CREATE INDEX drop_order_of_batch ON drop_order (supplier_id, batch) WHERE batch IS NOT NULL;

-- Drop orders by supplier, seller and state, kept by triggers: totals of lists, and what is owed.
CREATE TABLE drop_order_count (
    supplier_id INTEGER NOT NULL,            -- as in drop_order
    seller_id   INTEGER NOT NULL,            -- as in drop_order
    state       INTEGER NOT NULL,            -- as in drop_order
    orders      INTEGER NOT NULL,            -- how many
    cents       INTEGER NOT NULL,            -- what they come to
    PRIMARY KEY (supplier_id, seller_id, state)
) STRICT, WITHOUT ROWID;

CREATE INDEX drop_order_count_of_seller ON drop_order_count (seller_id, state);

CREATE TRIGGER drop_order_comes AFTER INSERT ON drop_order
BEGIN
    INSERT INTO drop_order_count (supplier_id, seller_id, state, orders, cents)
    VALUES (NEW.supplier_id, NEW.seller_id, NEW.state, 1, NEW.amount_cents)
    ON CONFLICT DO UPDATE SET orders = orders + 1, cents = cents + NEW.amount_cents;
END;
CREATE TRIGGER drop_order_goes AFTER DELETE ON drop_order
BEGIN
    UPDATE drop_order_count SET orders = orders - 1, cents = cents - OLD.amount_cents
    WHERE supplier_id = OLD.supplier_id AND seller_id = OLD.seller_id AND state = OLD.state;
END;
CREATE TRIGGER drop_order_moves AFTER UPDATE OF state, amount_cents ON drop_order
WHEN NEW.state <> OLD.state OR NEW.amount_cents <> OLD.amount_cents
BEGIN
    UPDATE drop_order_count SET orders = orders - 1, cents = cents - OLD.amount_cents
    WHERE supplier_id = OLD.supplier_id AND seller_id = OLD.seller_id AND state = OLD.state;
    INSERT INTO drop_order_count (supplier_id, seller_id, state, orders, cents)
    VALUES (NEW.supplier_id, NEW.seller_id, NEW.state, 1, NEW.amount_cents)
    ON CONFLICT DO UPDATE SET orders = orders + 1, cents = cents + NEW.amount_cents;
END;

-- ------------------------------------------------------------------ agency

-- Sellers whose marketplace accounts the agency looks after.
CREATE TABLE agency_client (
    client_id         INTEGER PRIMARY KEY,  -- the client's number
    name              TEXT NOT NULL CHECK (name <> ''), -- as the agency calls it
    search            TEXT NOT NULL,        -- name and tags without case and accents
    notes             TEXT NOT NULL DEFAULT '', -- what the team should know
    tags              TEXT NOT NULL DEFAULT '', -- in lower case, with ", " between
    keeper_id         INTEGER REFERENCES user (user_id) ON DELETE SET NULL, -- who of the team looks after it
    shell_id          INTEGER REFERENCES user (user_id), -- empty shell of user that owns the accounts linked by invitation
    invite_hash       BLOB UNIQUE,          -- SHA-256 of the code in the invitation; NULL without one
    invite_expires_at INTEGER,              -- the invitation works until then
    created_at        INTEGER NOT NULL,     -- when the client was made
    wanted            INTEGER NOT NULL DEFAULT 0 CHECK (wanted IN (0, 1)), -- 1 while it waits for its turn because all were asked for
    tried_at          INTEGER,              -- when a cycle last read its accounts, or tried to
    synced_at         INTEGER,              -- when one last read all of them
    failures          INTEGER NOT NULL DEFAULT 0, -- cycles in a row that did not
    error             TEXT                  -- why, in words for the team
) STRICT;

CREATE INDEX agency_client_by_name ON agency_client (search, client_id);
CREATE INDEX agency_client_by_keeper ON agency_client (keeper_id, client_id);
CREATE INDEX agency_client_by_turn ON agency_client (tried_at, client_id);
CREATE INDEX agency_client_by_shell ON agency_client (shell_id) WHERE shell_id IS NOT NULL;

-- Accounts that the agency looks after, each for one client. They leave with their link.
CREATE TABLE agency_account (
    ml_user_id INTEGER PRIMARY KEY REFERENCES ml_account (ml_user_id) ON DELETE CASCADE, -- the account
    client_id  INTEGER NOT NULL REFERENCES agency_client (client_id) ON DELETE CASCADE, -- whose it is
    owner_id   INTEGER NOT NULL,            -- as in ml_account: whose books hold what was read of it
    joined_at  INTEGER NOT NULL,            -- when it came
    checked_at INTEGER                      -- last checkup
) STRICT;

CREATE INDEX agency_account_by_client ON agency_account (client_id, ml_user_id);
CREATE INDEX agency_account_by_checkup ON agency_account (checked_at, ml_user_id);

-- What every account of a client was like at the end of a civil day; the present day grows.
CREATE TABLE agency_day (
    client_id   INTEGER NOT NULL,           -- 0 holds the sum of all clients
    day         INTEGER NOT NULL,           -- civil day
    ml_user_id  INTEGER NOT NULL,           -- the account; 0 in the sum
    orders      INTEGER NOT NULL,           -- orders that count as a sale
    gross_cents INTEGER NOT NULL,           -- their value, without shipping
    listings    INTEGER NOT NULL,           -- active listings
    claims      INTEGER NOT NULL,           -- open claims
    questions   INTEGER NOT NULL,           -- questions without an answer
    reputation  INTEGER NOT NULL,           -- 1 red to 5 green, 0 without one; in the sum the accounts with 1 or 2
    seen        INTEGER NOT NULL,           -- 1 when the account was looked at that day, 0 when only its sales are known; in the sum how many were
    PRIMARY KEY (client_id, day, ml_user_id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER agency_day_comes AFTER INSERT ON agency_day WHEN NEW.client_id > 0
BEGIN
    INSERT INTO agency_day (client_id, day, ml_user_id, orders, gross_cents, listings, claims, questions, reputation, seen)
    VALUES (0, NEW.day, 0, NEW.orders, NEW.gross_cents, NEW.listings, NEW.claims, NEW.questions,
            NEW.reputation IN (1, 2), NEW.seen)
    ON CONFLICT DO UPDATE SET
        orders = orders + NEW.orders, gross_cents = gross_cents + NEW.gross_cents,
        listings = listings + NEW.listings, claims = claims + NEW.claims,
        questions = questions + NEW.questions, reputation = reputation + (NEW.reputation IN (1, 2)),
        seen = seen + NEW.seen;
END;
CREATE TRIGGER agency_day_goes AFTER DELETE ON agency_day WHEN OLD.client_id > 0
BEGIN
    UPDATE agency_day SET
        orders = orders - OLD.orders, gross_cents = gross_cents - OLD.gross_cents,
        listings = listings - OLD.listings, claims = claims - OLD.claims,
        questions = questions - OLD.questions, reputation = reputation - (OLD.reputation IN (1, 2)),
        seen = seen - OLD.seen
    WHERE client_id = 0 AND day = OLD.day AND ml_user_id = 0;
END;
CREATE TRIGGER agency_day_changes AFTER UPDATE ON agency_day WHEN NEW.client_id > 0
BEGIN
    UPDATE agency_day SET
        orders = orders + NEW.orders - OLD.orders,
        gross_cents = gross_cents + NEW.gross_cents - OLD.gross_cents,
        listings = listings + NEW.listings - OLD.listings, claims = claims + NEW.claims - OLD.claims,
        questions = questions + NEW.questions - OLD.questions,
        reputation = reputation + (NEW.reputation IN (1, 2)) - (OLD.reputation IN (1, 2)),
        seen = seen + NEW.seen - OLD.seen
    WHERE client_id = 0 AND day = NEW.day AND ml_user_id = 0;
END;

-- What the last checkup found wrong with an account.
CREATE TABLE agency_finding (
    ml_user_id INTEGER NOT NULL REFERENCES agency_account (ml_user_id) ON DELETE CASCADE, -- the account
    kind       INTEGER NOT NULL,            -- 1 link lost, 2 not read of late, 3 reputation, 4 old claim, 5 old question, 6 no active listing, 7 without stock
    since      INTEGER NOT NULL,            -- since when it is so, as far as is known
    things     INTEGER NOT NULL,            -- how many claims, questions or listings it is about; 1 for the others
    PRIMARY KEY (ml_user_id, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX agency_finding_by_kind ON agency_finding (kind, since, ml_user_id);

-- Questions to the agency's accounts in the order in which the team answers them, kept by triggers.
CREATE TABLE agency_question (
    client_id   INTEGER NOT NULL,           -- whose account was asked
    state       INTEGER NOT NULL,           -- as in question
    place       INTEGER NOT NULL,           -- asked_at of those without an answer, oldest first; else less than 0, newest first
    question_id INTEGER NOT NULL,           -- the marketplace's number
    owner_id    INTEGER NOT NULL,           -- as in question
    ml_user_id  INTEGER NOT NULL,           -- the account
    PRIMARY KEY (client_id, state, place, question_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX agency_question_by_state ON agency_question (state, place, question_id);

-- How many there are by client and state.
CREATE TABLE agency_question_count (
    client_id INTEGER NOT NULL,             -- as in agency_question
    state     INTEGER NOT NULL,             -- as in agency_question
    questions INTEGER NOT NULL,             -- how many
    PRIMARY KEY (client_id, state)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER agency_question_is_counted AFTER INSERT ON agency_question
BEGIN
    INSERT INTO agency_question_count (client_id, state, questions) VALUES (NEW.client_id, NEW.state, 1)
    ON CONFLICT DO UPDATE SET questions = questions + 1;
END;
CREATE TRIGGER agency_question_is_not_counted AFTER DELETE ON agency_question
BEGIN
    UPDATE agency_question_count SET questions = questions - 1
    WHERE client_id = OLD.client_id AND state = OLD.state;
END;

-- A question that is stored again replaces its row without a DELETE that triggers see.
CREATE TRIGGER question_is_queued AFTER INSERT ON question
WHEN EXISTS (SELECT 1 FROM agency_account WHERE ml_user_id = NEW.ml_user_id AND owner_id = NEW.owner_id)
BEGIN
    DELETE FROM agency_question
    WHERE client_id = (SELECT client_id FROM agency_account WHERE ml_user_id = NEW.ml_user_id)
        AND state = 1 AND place = NEW.asked_at AND question_id = NEW.question_id;
    DELETE FROM agency_question
    WHERE client_id = (SELECT client_id FROM agency_account WHERE ml_user_id = NEW.ml_user_id)
        AND state IN (2, 3) AND place = -NEW.asked_at AND question_id = NEW.question_id;
    INSERT INTO agency_question (client_id, state, place, question_id, owner_id, ml_user_id)
    SELECT client_id, NEW.state, iif(NEW.state = 1, NEW.asked_at, -NEW.asked_at), NEW.question_id, NEW.owner_id, NEW.ml_user_id
    FROM agency_account WHERE ml_user_id = NEW.ml_user_id;
END;
CREATE TRIGGER question_is_not_queued AFTER DELETE ON question
WHEN EXISTS (SELECT 1 FROM agency_account WHERE ml_user_id = OLD.ml_user_id AND owner_id = OLD.owner_id)
BEGIN
    DELETE FROM agency_question
    WHERE client_id = (SELECT client_id FROM agency_account WHERE ml_user_id = OLD.ml_user_id)
        AND state = 1 AND place = OLD.asked_at AND question_id = OLD.question_id;
    DELETE FROM agency_question
    WHERE client_id = (SELECT client_id FROM agency_account WHERE ml_user_id = OLD.ml_user_id)
        AND state IN (2, 3) AND place = -OLD.asked_at AND question_id = OLD.question_id;
END;

CREATE TRIGGER agency_account_comes AFTER INSERT ON agency_account
BEGIN
    INSERT INTO agency_question (client_id, state, place, question_id, owner_id, ml_user_id)
    SELECT NEW.client_id, state, iif(state = 1, asked_at, -asked_at), question_id, owner_id, ml_user_id
    FROM question WHERE owner_id = NEW.owner_id AND state IN (1, 2, 3) AND ml_user_id = NEW.ml_user_id;
END;
CREATE TRIGGER agency_account_goes AFTER DELETE ON agency_account
BEGIN
    DELETE FROM agency_question WHERE client_id = OLD.client_id AND ml_user_id = OLD.ml_user_id;
    DELETE FROM agency_day WHERE client_id = OLD.client_id AND ml_user_id = OLD.ml_user_id;
END;

-- Texts that are kept to answer questions with.
CREATE TABLE saved_reply (
    reply_id   INTEGER PRIMARY KEY,         -- the reply's number
    owner_id   INTEGER REFERENCES user (user_id) ON DELETE CASCADE, -- the seller whose it is; NULL for the agency's
    title      TEXT NOT NULL CHECK (title <> ''), -- what it is chosen by
    text       TEXT NOT NULL CHECK (text <> ''), -- with {comprador}, {anuncio}, {preco}, {estoque} and {loja} to be filled in
    updated_at INTEGER NOT NULL             -- when it was last changed
) STRICT;

CREATE INDEX saved_reply_by_owner ON saved_reply (owner_id, title COLLATE NOCASE, reply_id);

-- What buyers who asked are called, as the marketplace said; forgotten after half a year.
CREATE TABLE buyer_name (
    buyer_id INTEGER PRIMARY KEY,           -- the marketplace's number
    nickname TEXT NOT NULL,                 -- empty when there is none to see
    read_at  INTEGER NOT NULL               -- when it was asked for
) STRICT;

CREATE INDEX buyer_name_by_age ON buyer_name (read_at);

-- --------------------------------------------------------------- the clock

-- Runs of the periodic tasks, one row a run; archived after 90 days.
CREATE TABLE cron_run (
    run_id     INTEGER PRIMARY KEY,         -- grows with time
    started_at INTEGER NOT NULL,            -- when its turn came
    ended_at   INTEGER NOT NULL,            -- when its last task was done
    ms         INTEGER NOT NULL,            -- how long it took
    origin     TEXT NOT NULL CHECK (origin IN ('relogio', 'endereco', 'painel')), -- what asked for it: the tick, the address, somebody in the panel
    outcome    INTEGER NOT NULL,            -- 0 nothing to do, 1 something was done, 2 a task failed
    counts     TEXT NOT NULL,               -- JSON: what was done, without zeros
    errors     TEXT NOT NULL                -- JSON list of {tarefa, mensagem}
) STRICT;

CREATE INDEX cron_run_by_outcome ON cron_run (outcome, run_id);

-- Number of runs by outcome, kept by triggers: the totals of their list.
CREATE TABLE cron_run_count (
    outcome INTEGER PRIMARY KEY,            -- as in cron_run
    runs    INTEGER NOT NULL                -- how many
) STRICT;

CREATE TRIGGER cron_run_comes AFTER INSERT ON cron_run
BEGIN
    INSERT INTO cron_run_count (outcome, runs) VALUES (NEW.outcome, 1)
    ON CONFLICT DO UPDATE SET runs = runs + 1;
END;
CREATE TRIGGER cron_run_goes AFTER DELETE ON cron_run
BEGIN
    UPDATE cron_run_count SET runs = runs - 1 WHERE outcome = OLD.outcome;
END;

-- Periodic tasks as they last ran. A task has a row once it ran or was paused.
CREATE TABLE cron_task (
    name       TEXT PRIMARY KEY,            -- such as lembretes_encontros
    title      TEXT NOT NULL,               -- as people read it
    started_at INTEGER,                     -- when it last began
    ended_at   INTEGER,                     -- when it was done then
    ms         INTEGER,                     -- how long it took then
    failures   INTEGER NOT NULL DEFAULT 0,  -- failures in a row, up to now
    error      TEXT,                        -- the last failure; kept when it works again
    failed_at  INTEGER,                     -- when that was
    paused_at  INTEGER                      -- left out since then; NULL while it runs
) STRICT, WITHOUT ROWID;

-- How far a task has come with what it does once for many people; removed when its time is over.
CREATE TABLE cron_mark (
    name       TEXT PRIMARY KEY,            -- what is done, such as inativos:20777
    position   INTEGER NOT NULL,            -- the last person that was looked at
    done       INTEGER NOT NULL CHECK (done IN (0, 1)), -- 1 when all were
    expires_at INTEGER NOT NULL             -- its time is over then
) STRICT, WITHOUT ROWID;

-- The newest inactivity alert of each student: one for each stretch without activity.
CREATE TABLE inactivity_alert (
    user_id   INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE, -- the student
    active_at INTEGER NOT NULL,             -- last activity before the stretch
    queued_at INTEGER NOT NULL              -- when the alert was queued
) STRICT;

-- Answers to requests: all of them up to a rate, a sample above it; archived after 90 days, or earlier when there are too many.
CREATE TABLE request_log (
    entry_id   INTEGER PRIMARY KEY,         -- microseconds since 1970: the second of the request, numbered within it
    at         INTEGER NOT NULL,            -- when the request came
    request_id TEXT NOT NULL,               -- what x-request-id says
    method     TEXT NOT NULL,               -- such as GET; empty for what was no request
    path       TEXT NOT NULL,               -- as it was asked for, without the query, cut; the pattern where a part is secret
    status     INTEGER NOT NULL,            -- of the answer
    us         INTEGER NOT NULL,            -- until the headers of the answer, in microseconds
    caller     TEXT NOT NULL,               -- who asked: sessao, extensao, chave, parceiro, segredo, or empty when nobody was known
    caller_id  INTEGER,                     -- number of the person or of the key, when there is one
    address    TEXT NOT NULL,               -- where from
    sampled    INTEGER NOT NULL             -- how many answers it stands for
) STRICT;

CREATE INDEX request_log_by_class ON request_log (status / 100, entry_id, caller);
CREATE INDEX request_log_by_caller ON request_log (caller, entry_id);
-- Few requests are slow, so this is small.
CREATE INDEX request_log_slow ON request_log (us, entry_id) WHERE us >= 100000;
-- Looks at the operator's pages, which a list of theirs leaves out and counts.
CREATE INDEX request_log_of_operators ON request_log (caller_id, entry_id)
    WHERE caller = 'sessao' AND method = 'GET' AND path >= '/admin' AND path < '/admin0';

-- Entries of the request log by class of status and by caller, kept by triggers: the totals of the list.
CREATE TABLE request_log_count (
    class   INTEGER NOT NULL,               -- first digit of the status
    caller  TEXT NOT NULL,                  -- as in request_log
    entries INTEGER NOT NULL,               -- how many
    PRIMARY KEY (class, caller)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER request_log_comes AFTER INSERT ON request_log
BEGIN
    INSERT INTO request_log_count (class, caller, entries) VALUES (NEW.status / 100, NEW.caller, 1)
    ON CONFLICT DO UPDATE SET entries = entries + 1;
END;
CREATE TRIGGER request_log_goes AFTER DELETE ON request_log
BEGIN
    UPDATE request_log_count SET entries = entries - 1
    WHERE class = OLD.status / 100 AND caller = OLD.caller;
END;

-- Calls to other services that were made for a request; removed after 30 days.
CREATE TABLE outside_call (
    call_id    INTEGER PRIMARY KEY,         -- grows with time
    at         INTEGER NOT NULL,            -- when it began
    request_id TEXT NOT NULL,               -- of the request that caused it
    service    TEXT NOT NULL,               -- such as marketplace or email
    what       TEXT NOT NULL,               -- method and path without the query, or the kind of message
    status     INTEGER,                     -- what it was answered with; NULL without an answer
    us         INTEGER NOT NULL,            -- how long it took, in microseconds
    error      TEXT NOT NULL                -- why it was no success; empty when it was one
) STRICT;

CREATE INDEX outside_call_of_request ON outside_call (request_id);

-- Warnings and errors of the service's log, without secrets and addresses of people; removed after 30 days.
CREATE TABLE error_log (
    error_id   INTEGER PRIMARY KEY,         -- grows with time
    at         INTEGER NOT NULL,            -- when it was logged
    is_error   INTEGER NOT NULL CHECK (is_error IN (0, 1)), -- 0 a warning
    message    TEXT NOT NULL,               -- what the log says
    cause      TEXT NOT NULL,               -- why, with the other fields of the line; may be empty
    request_id TEXT NOT NULL                -- of the request that failed; empty for what the service does by itself
) STRICT;

CREATE INDEX error_log_of_request ON error_log (request_id) WHERE request_id <> '';

-- Old entries of logs, packed by civil day and kept. Large days have several parts.
CREATE TABLE log_batch (
    batch_id   INTEGER PRIMARY KEY,         -- grows with time
    kind       TEXT NOT NULL,               -- which log, such as cron
    day        INTEGER NOT NULL,            -- civil day of its entries
    part       INTEGER NOT NULL,            -- from 1 within the day
    entries    INTEGER NOT NULL,            -- how many entries it holds
    first_id   INTEGER NOT NULL,            -- number of its first entry in the log
    last_id    INTEGER NOT NULL,            -- number of its last entry
    bytes      INTEGER NOT NULL,            -- size before packing
    digest     BLOB NOT NULL,               -- SHA-256 of the lines before packing
    created_at INTEGER NOT NULL,            -- when it was packed
    body       BLOB NOT NULL,               -- gzip of one JSON object a line
    UNIQUE (kind, day, part)
) STRICT;

CREATE INDEX log_batch_by_day ON log_batch (day, kind, part);
