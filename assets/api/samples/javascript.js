const answer = await fetch("{address}/orders?limit=5", {
  headers: { Authorization: "Bearer ptk_…" },
});
const { data } = await answer.json();
console.table(data);
