-- Products warn of a low stock; pages of one listing, and what a list of listings is worth.
ALTER TABLE product ADD COLUMN low_stock INTEGER CHECK (low_stock >= 0);
DROP INDEX product_by_stock;
CREATE INDEX product_by_stock ON product (owner_id, stock, product_id, low_stock, cost_cents);
CREATE INDEX question_of_item ON question (owner_id, item_id, state, asked_at, question_id);
CREATE INDEX listing_worth ON listing (owner_id, ml_user_id, status, available, price_cents);
