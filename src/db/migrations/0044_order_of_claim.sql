-- The order of a claim, also of one about a parcel: that of the parcel, the first where it holds several.
CREATE INDEX sale_order_of_parcel ON sale_order (owner_id, shipping_id) WHERE shipping_id IS NOT NULL;
ALTER TABLE claim ADD COLUMN order_id INTEGER;
UPDATE claim SET order_id = CASE resource
    WHEN 'order' THEN resource_id
    WHEN 'shipment' THEN (SELECT o.order_id FROM sale_order o
        WHERE o.owner_id = claim.owner_id AND o.shipping_id = claim.resource_id ORDER BY o.created_at, o.order_id LIMIT 1)
END;
