-- An order may take the same goods out of stock again, after they came back.
DROP INDEX stock_movement_of_order;
CREATE INDEX stock_movement_of_order ON stock_movement (order_id, product_id) WHERE order_id IS NOT NULL;

-- Milestones that were lowered, until those whom they came down to are told.
CREATE TABLE milestone_lowered (
    number   INTEGER PRIMARY KEY REFERENCES milestone (number), -- the milestone
    until_xp INTEGER NOT NULL,              -- who has as many points had reached it before
    position INTEGER NOT NULL               -- the last student that was told
) STRICT;

-- The agency's days have the sales of the books, which keep no row of a day whose last sale was cancelled.
WITH sold AS (
    SELECT d.client_id, d.day, d.ml_user_id, coalesce(s.orders, 0) AS orders, coalesce(s.gross_cents, 0) AS gross_cents
    FROM agency_day d
    JOIN agency_account j ON j.client_id = d.client_id AND j.ml_user_id = d.ml_user_id
    LEFT JOIN sales_day s ON s.owner_id = j.owner_id AND s.ml_user_id = d.ml_user_id AND s.day = d.day)
UPDATE agency_day AS d SET orders = sold.orders, gross_cents = sold.gross_cents
FROM sold
WHERE (d.client_id, d.day, d.ml_user_id) = (sold.client_id, sold.day, sold.ml_user_id)
    AND (d.orders, d.gross_cents) IS NOT (sold.orders, sold.gross_cents);
