-- Rows and entries that come one after the other stand one after the other, and
-- searches are indexed behind, so that a busy second writes few pages.

-- Messages of a person, by state: which waits in line, and which are shown.
DROP INDEX outbox_in_line;
DROP INDEX outbox_by_person;
CREATE INDEX outbox_of_person ON outbox (user_id, state, channel, message_id);

DROP INDEX partner_notification_by_age;
CREATE INDEX partner_notification_by_age ON partner_notification (created_at, message_id);

DROP INDEX partner_call_by_age;
ALTER TABLE partner_call RENAME TO partner_call_once;
CREATE TABLE partner_call (
    call_id INTEGER PRIMARY KEY,            -- in the order of time
    user_id INTEGER NOT NULL REFERENCES user (user_id) ON DELETE CASCADE, -- whose call
    key     BLOB NOT NULL,                  -- digest of the operation and the caller's key
    body    BLOB NOT NULL,                  -- digest of what was sent with it
    made_at INTEGER NOT NULL,               -- when the work was done
    reply   BLOB NOT NULL,                  -- the answer
    UNIQUE (user_id, key)
) STRICT;
INSERT INTO partner_call (user_id, key, body, made_at, reply)
    SELECT user_id, key, body, made_at, reply FROM partner_call_once ORDER BY made_at;
DROP TABLE partner_call_once;
CREATE INDEX partner_call_by_age ON partner_call (made_at);

-- The last entry whose words are in audit_search; those behind it are searched by reading them.
CREATE TABLE audit_searched (
    one      INTEGER PRIMARY KEY CHECK (one = 1), -- 1
    audit_id INTEGER NOT NULL               -- its number
) STRICT;
INSERT INTO audit_searched (one, audit_id) SELECT 1, coalesce(max(audit_id), 0) FROM audit;
DROP TRIGGER audit_is_searched;

-- People who are made or renamed and not in person_search yet: written behind, many at a time,
-- because each job that adds to such an index writes pages of its own. A search looks at them too.
CREATE TABLE person_unsearched (
    user_id INTEGER PRIMARY KEY             -- the person
) STRICT;
DROP TRIGGER user_is_made;
DROP TRIGGER user_is_renamed;
DROP TRIGGER user_is_removed;
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
CREATE TRIGGER user_is_removed AFTER DELETE ON user
BEGIN
    INSERT INTO person_search (person_search, rowid, search)
    SELECT 'delete', OLD.user_id, OLD.search
    WHERE OLD.user_id NOT IN (SELECT user_id FROM person_unsearched);
    DELETE FROM person_unsearched WHERE user_id = OLD.user_id;
    UPDATE person_count SET people = people - 1
    WHERE kind = OLD.kind AND standing = OLD.standing AND disputed = OLD.disputed AND role = OLD.role;
END;
