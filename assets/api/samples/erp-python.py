import csv, os
from seller_platform import PartnerApi

MARK, SHEET = "marca.txt", "vendas.csv"
api = PartnerApi("ptk_…")
since = open(MARK).read() if os.path.exists(MARK) else "2026-01-01T00:00:00"

changed = {}
for order in api.all_orders(updated_since=since):
    changed[order["order_id"]] = order
    since = order["updated_at"]

with open(SHEET, "w", newline="", encoding="utf-8") as sheet:
    lines = csv.writer(sheet, delimiter=";")
    lines.writerow(["pedido", "situacao", "sku", "quantidade", "total", "data"])
    for order in changed.values():
        total = f"{order['total_amount']:.2f}".replace(".", ",")
        lines.writerow([order["order_id"], order["status"], order["sku"], order["quantity"], total, order["date_created_at"]])

# Only now: if this program dies before, the next run reads the same sales again.
with open(MARK + ".novo", "w") as mark:
    mark.write(since)
os.replace(MARK + ".novo", MARK)
print(f"{len(changed)} vendas novas ou mudadas")
