claude mcp add --transport http seller-platform {address} \
  --header "Authorization: Bearer ptk_…"
