-- The audit log becomes a chain: each entry has a hash over itself and the one before.

DROP TRIGGER audit_is_not_changed;

ALTER TABLE audit ADD COLUMN who BLOB NOT NULL DEFAULT x'';
ALTER TABLE audit ADD COLUMN what BLOB NOT NULL DEFAULT x'';
ALTER TABLE audit ADD COLUMN link BLOB NOT NULL DEFAULT x'';

UPDATE audit SET who = randomblob(16), what = randomblob(16);

WITH RECURSIVE chain (audit_id, link) AS (
    SELECT (SELECT min(audit_id) - 1 FROM audit), zeroblob(32)
    UNION ALL
    SELECT a.audit_id,
           audit_link(c.link, a.audit_id, a.at, a.actor_kind, a.actor_id, a.action, a.object_kind, a.object_id,
                      a.who, a.actor_name, a.address, a.request_id, a.what, a.object_name, a.before, a.after)
    FROM chain c
    JOIN audit a ON a.audit_id = (SELECT min(audit_id) FROM audit WHERE audit_id > c.audit_id)
)
UPDATE audit SET link = chain.link FROM chain WHERE chain.audit_id = audit.audit_id;

-- Words that are blanked leave no trace in the index either.
INSERT INTO audit_search (audit_search, rank) VALUES ('secure-delete', 1);

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
