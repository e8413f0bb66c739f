from seller_platform import PartnerApi

api = PartnerApi("ptk_…")
for product in api.all_stock():
    print(product["sku"], product["balance"])
