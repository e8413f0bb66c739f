-- Whether a notification is counted by its topic is said when it is stored, not by a list in each trigger.
ALTER TABLE ml_notification ADD COLUMN counted INTEGER NOT NULL DEFAULT 0 CHECK (counted IN (0, 1));
UPDATE ml_notification SET counted = 1
WHERE topic IN ('orders_v2', 'questions', 'items', 'claims', 'post_purchase');
DROP TRIGGER ml_notification_comes;
DROP TRIGGER ml_notification_goes;
DROP TRIGGER ml_notification_moves;
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
