-- A plan says what it grants; purchases keep their price, for revenue by time.
ALTER TABLE plan ADD COLUMN grants_role TEXT CHECK (grants_role IN ('free', 'pro', 'vip', 'piloto_pro', 'podio'));
ALTER TABLE plan ADD COLUMN grants_api TEXT CHECK (grants_api IN ('starter', 'pro', 'scale'));
ALTER TABLE plan ADD COLUMN codes TEXT NOT NULL DEFAULT '[]';

ALTER TABLE checkout_event ADD COLUMN amount_cents INTEGER;
CREATE INDEX checkout_event_left ON checkout_event (happened_ms) WHERE kind = 9 AND state <> 3;
CREATE INDEX user_overdue ON user (coalesce(paid_until, late_since), user_id) WHERE late_since IS NOT NULL AND suspended_at IS NULL;
