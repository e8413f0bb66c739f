async function* all(path) {
  for (let offset = 0; ; offset += 200) {
    const answer = await fetch(`{address}${path}?limit=200&offset=${offset}`, {
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
    const { data, pagination } = await answer.json();
    yield* data;
    if (offset + data.length >= pagination.total || data.length === 0) return;
  }
}

for await (const product of all("/products")) console.log(product.sku, product.stock);
