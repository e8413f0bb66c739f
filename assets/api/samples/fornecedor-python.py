import csv, sys
from seller_platform import PartnerApi

api = PartnerApi("ptk_…")

def show_failed(rows):
    for row in rows:
        if row["status"] == "failed":
            print("failed:", row["code"], row.get("ml_id") or row.get("order_id"))

def link(path):
    """Links listings to products: a CSV with seller_id, ml_id and sku, at most 500 rows."""
    with open(path, encoding="utf-8") as links:
        done = api.drop_link_listings_bulk(csv=links.read())["data"]
    print(done["created"], "linked,", done["unchanged"], "known")
    show_failed(done["rows"])

def owed():
    """What sellers owe, by order and in all."""
    for order in api.drop_all_orders(status="open"):
        print(order["order_id"], order["seller_name"], order["amount_due"], order["status"], order["due_at"])
    total = api.drop_get_totals()["total"]
    print(total["pending"]["amount"], "pending,", total["overdue"]["amount"], "overdue")

def remind():
    """Reminds each seller once of all that is overdue."""
    told = api.drop_remind_all()["data"]
    print(told["sellers"], "sellers reminded of", told["orders"], "orders")

def paid(path):
    """Marks as paid what a statement shows: a CSV with the order in its first column."""
    with open(path, encoding="utf-8") as statement:
        orders = [row[0] for row in csv.reader(statement) if row]
    for first in range(0, len(orders), 200):
        done = api.drop_mark_paid_bulk(order_ids=orders[first:first + 200])["data"]
        print(done["paid"], "paid,", done["amount"], "in all; to take it back:", done["batch_id"])
        show_failed(done["rows"])

{"link": link, "owed": owed, "remind": remind, "paid": paid}[sys.argv[1]](*sys.argv[2:])
