import { createHmac, timingSafeEqual } from "node:crypto";

export function verify(secret, headers, body) {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": given } = headers;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const good = Buffer.from("v1," + createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64"));
  const isGood = (one) => one.length === good.length && timingSafeEqual(Buffer.from(one), good);
  const isFresh = Math.abs(Date.now() / 1000 - Number(at)) <= 300;
  if (!isFresh || !given.split(" ").some(isGood)) throw new Error("not from the platform");
  return JSON.parse(body);
}
