import base64, hashlib, hmac, json, time

def verify(secret, headers, body):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    good = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = headers["webhook-signature"].encode().split(b" ")
    age = abs(time.time() - int(headers["webhook-timestamp"]))
    if age > 300 or not any(hmac.compare_digest(good, one) for one in given):
        raise ValueError("not from the platform")
    return json.loads(body)
