-- A plan says what it grants; purchases keep their price, for revenue by time.
ALTER TABLE plan ADD COLUMN grants_role TEXT CHECK (grants_role IN ('free', 'pro', 'vip', 'piloto_pro', 'podio'));
ALTER TABLE plan ADD COLUMN grants_api TEXT CHECK (grants_api IN ('starter', 'pro', 'scale'));
ALTER TABLE plan ADD COLUMN codes TEXT NOT NULL DEFAULT '[]';

ALTER TABLE checkout_event ADD COLUMN amount_cents INTEGER;
UPDATE checkout_event SET amount_cents = (
    SELECT CAST(round(100 * json_extract(body, '$.data.purchase.price.value')) AS INTEGER)
    FROM checkout_body b
    WHERE b.event_id = checkout_event.event_id AND json_valid(body)
        AND json_type(body, '$.data.purchase.price.value') IN ('integer', 'real')
) WHERE kind = 1;
CREATE INDEX checkout_event_paid ON checkout_event (happened_ms, role, amount_cents, purchase) WHERE kind = 1 AND state <> 3;
CREATE INDEX checkout_event_left ON checkout_event (happened_ms) WHERE kind = 9 AND state <> 3;
CREATE INDEX user_overdue ON user (coalesce(paid_until, late_since), user_id) WHERE late_since IS NOT NULL AND suspended_at IS NULL;
