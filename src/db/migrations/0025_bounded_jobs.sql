-- Long work in small jobs: what is left of an import, and queues that are taken by account.

DROP INDEX webhook_endpoint_due;
CREATE INDEX webhook_endpoint_due ON webhook_endpoint (user_id, next_at) WHERE next_at IS NOT NULL AND state = 1;
CREATE INDEX webhook_event_of_user ON webhook_event (user_id, event_id);

ALTER TABLE student_import ADD COLUMN begun_by TEXT;
ALTER TABLE student_import ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
ALTER TABLE student_import ADD COLUMN late TEXT NOT NULL DEFAULT '[]';

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

CREATE TABLE product_import_part (
    owner_id INTEGER NOT NULL REFERENCES product_import (owner_id) ON DELETE CASCADE, -- whose import
    part     INTEGER NOT NULL,              -- in the order of the file
    rows     TEXT NOT NULL,                 -- JSON: some rows of the file, which are removed when they are done
    PRIMARY KEY (owner_id, part)
) STRICT, WITHOUT ROWID;
