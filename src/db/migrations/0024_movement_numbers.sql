-- Movements of stock have a number that no other movement has, also of another product.

ALTER TABLE stock_movement ADD COLUMN number INTEGER NOT NULL DEFAULT 0;

-- In the order in which they were made.
CREATE TEMP TABLE movement_number AS
SELECT product_id, movement_id, row_number() OVER (ORDER BY created_at, product_id, movement_id) AS number
FROM stock_movement;
CREATE UNIQUE INDEX movement_number_of ON movement_number (product_id, movement_id);
UPDATE stock_movement SET number = (
    SELECT n.number FROM movement_number n
    WHERE n.product_id = stock_movement.product_id AND n.movement_id = stock_movement.movement_id);
DROP TABLE movement_number;

-- The number that was given last to a movement of stock. A product that goes takes its movements along, not their numbers.
CREATE TABLE stock_movement_last (
    only   INTEGER PRIMARY KEY CHECK (only = 1), -- one row
    number INTEGER NOT NULL                 -- 0 before the first movement
) STRICT;

INSERT INTO stock_movement_last (only, number)
SELECT 1, coalesce(max(number), 0) FROM stock_movement;
