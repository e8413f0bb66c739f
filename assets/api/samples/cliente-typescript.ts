import { PartnerApi } from "./seller-platform.ts";

const api = new PartnerApi("ptk_…");
for await (const order of api.allOrders({ status: "paid" })) {
  console.log(order.order_id, order.title, order.total_amount);
}
