TOKEN=ptk_test_…
curl '{address}/orders?limit=5' -H "Authorization: Bearer $TOKEN"
curl '{address}/sandbox/events' -H "Authorization: Bearer $TOKEN" \
  -H 'Content-Type: application/json' -d '{"type": "order.paid"}'
