npx @modelcontextprotocol/inspector --cli {address} --transport http \
  --method tools/list --header "Authorization: Bearer ptk_…"
