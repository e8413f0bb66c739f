import json, urllib.request

request = urllib.request.Request(
    "{address}/orders?limit=5",
    headers={"Authorization": "Bearer ptk_…"},
)
with urllib.request.urlopen(request) as answer:
    for order in json.load(answer)["data"]:
        print(order["order_id"], order["title"], order["total_amount"])
