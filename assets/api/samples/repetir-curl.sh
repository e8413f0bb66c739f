curl --retry 5 --retry-all-errors '{address}/notify' \
  -H "Authorization: Bearer $TOKEN" \
  -H 'Content-Type: application/json' \
  -H 'Idempotency-Key: estoque-GAR-500-2026-11-20' \
  -d '{"channel":"email","event":"custom","title":"Estoque baixo","body":"Restam 3."}'
