-- Each account of the Partner API in one row, for the operator's list of them.

CREATE TABLE partner_summary (
    user_id      INTEGER PRIMARY KEY REFERENCES user (user_id) ON DELETE CASCADE,
    name_key     TEXT NOT NULL,
    search       TEXT NOT NULL,
    plan         TEXT,
    until_day    INTEGER,
    month        INTEGER NOT NULL DEFAULT 0,
    calls        INTEGER NOT NULL DEFAULT 0,
    tokens       INTEGER NOT NULL DEFAULT 0,
    last_used_at INTEGER
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

WITH party AS (
    SELECT user_id FROM partner_account UNION SELECT user_id FROM partner_token
), last AS (
    SELECT user_id, unixepoch(max(day) * 86400, 'unixepoch', 'start of month') / 86400 AS month
    FROM partner_usage GROUP BY user_id
)
INSERT INTO partner_summary (user_id, name_key, search, plan, until_day, month, calls, tokens, last_used_at)
SELECT u.user_id, u.name_key, u.search, p.plan, p.until_day, coalesce(last.month, 0),
       (SELECT coalesce(sum(calls), 0) FROM partner_usage c WHERE c.user_id = u.user_id AND c.day >= last.month),
       (SELECT count(*) FROM partner_token t WHERE t.user_id = u.user_id AND t.revoked_at IS NULL),
       (SELECT max(last_used_at) FROM partner_token t WHERE t.user_id = u.user_id)
FROM party
JOIN user u ON u.user_id = party.user_id
LEFT JOIN partner_account p ON p.user_id = party.user_id
LEFT JOIN last ON last.user_id = party.user_id;
