seller-platform trigger order.paid --token ptk_test_… --url {address}
