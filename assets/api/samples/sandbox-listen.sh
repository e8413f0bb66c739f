seller-platform listen --forward-to http://localhost:3000/webhooks --token ptk_test_… --url {address}
