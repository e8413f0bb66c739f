async function* all(path) {
  for (let cursor = ""; ; ) {
    const answer = await fetch(`{address}${path}?limit=200${cursor && `&cursor=${cursor}`}`, {
      headers: { Authorization: `Bearer ${TOKEN}` },
    });
    const { data, pagination } = await answer.json();
    yield* data;
    if (!pagination.next_cursor) return;
    cursor = pagination.next_cursor;
  }
}

for await (const order of all("/orders")) console.log(order.order_id, order.status, order.updated_at);
