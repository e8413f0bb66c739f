import base64, hashlib, hmac, json, time, urllib.request

SECRET, URL = "whsec_c2VncmVkbyBkZSB0ZXN0ZQ==", "http://127.0.0.1:8000/"

def send(kind, data, event="msg_" + "0" * 32):
    at = int(time.time())
    body = json.dumps({"type": kind, "id": event, "timestamp": "2026-11-20T12:01:00Z", "data": data}).encode()
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signed = hmac.new(key, f"{event}.{at}.".encode() + body, hashlib.sha256).digest()
    headers = {"Content-Type": "application/json", "webhook-id": event, "webhook-timestamp": str(at)}
    headers["webhook-signature"] = "v1," + base64.b64encode(signed).decode()
    with urllib.request.urlopen(urllib.request.Request(URL, body, headers)) as answer:
        return answer.status

order = {"order_id": "2000003508419013", "status": "paid", "total_amount": 179.8}
print(send("order.paid", order), send("order.paid", order))  # The second is a repetition.
