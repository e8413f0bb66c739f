claude mcp add --transport http seller-platform {address}
