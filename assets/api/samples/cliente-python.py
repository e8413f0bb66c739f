from seller_platform import ApiError, PartnerApi

api = PartnerApi("ptk_…")
try:
    for order in api.all_orders(status="paid"):
        print(order["order_id"], order["title"], order["total_amount"])
except ApiError as error:
    print(error.code, error.fields, error.request_id)
