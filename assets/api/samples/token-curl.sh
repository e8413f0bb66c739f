curl {address} -H 'Authorization: Bearer ptk_…' -H 'Content-Type: application/json' -d '{
  "jsonrpc": "2.0", "id": 1, "method": "tools/call",
  "params": { "name": "list_orders", "arguments": { "limit": 5 } }
}'
