// Verifies what check.py received with the Node library of Standard Webhooks.
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const { first, second, came } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const verify = (secret, one) => new Webhook(secret).verify(one.body, one.headers);
const refuse = (secret, one) => {
  try {
    verify(secret, one);
  } catch {
    return;
  }
  throw new Error("a message that is not ours was accepted");
};
for (const one of came) {
  const told = verify(first, one);
  if (told.id !== one.headers["webhook-id"]) throw new Error("another id in the body");
}
verify(second, came.findLast((one) => JSON.parse(one.body).type === "endpoint.test"));
refuse(second, came[0]);
refuse(first, { ...came[0], body: came[0].body + " " });
console.log(`Node: ${came.length} messages verified, what was changed refused`);
