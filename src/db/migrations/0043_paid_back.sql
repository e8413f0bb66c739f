-- Refunds and chargebacks by day: what went back does not count as revenue.
CREATE INDEX checkout_event_back ON checkout_event (happened_ms, purchase) WHERE kind IN (3, 4) AND state <> 3;
