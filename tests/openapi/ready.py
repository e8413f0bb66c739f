"""The client in Python that the developer pages offer: every operation, and what it does by itself.

    ready.py FOLDER ADDRESS

FOLDER has it as `seller_platform.py`, and `calls.json`.
"""

import base64
import hashlib
import hmac
import http.server
import json
import keyword
import sys
import threading
import time
from pathlib import Path

FOLDER, ADDRESS = Path(sys.argv[1]), sys.argv[2]
sys.path.insert(0, str(FOLDER))

from seller_platform import ApiError, PartnerApi, verify_webhook  # noqa: E402


def call(given):
    """Calls an operation; returns its status."""
    api = PartnerApi(given["token"], ADDRESS)
    arguments = {**given["in"]["path"], **given["in"]["query"], **given.get("body", {})}
    arguments = {f"{name}_" if keyword.iskeyword(name) else name: value for name, value in arguments.items()}
    try:
        answer = getattr(api, given["id"])(**arguments)
        assert answer is not None or api.status == 204, given["id"]
        assert not given["file"] or isinstance(answer, bytes)
        return api.status
    except ApiError as error:
        assert error.code or given["file"], error
        return error.status


def try_lists(calls):
    """All entries of each list, whatever fits on a page."""
    count = 0
    for one in calls:
        api = PartnerApi(one["token"], ADDRESS)
        name = one["id"].replace("list_", "all_").replace("get_", "all_")
        if name != one["id"] and hasattr(api, name):
            page = getattr(api, one["id"])(**one["in"]["path"])
            total = page["pagination"].get("total", len(page["data"]))
            assert len(list(getattr(api, name)(limit=1, **one["in"]["path"]))) == total, one["id"]
            count += 1
    assert count > 8, count


def try_memory_and_keys(calls):
    token = next(one["token"] for one in calls if one["id"] == "list_orders")
    api = PartnerApi(token, ADDRESS)
    first = api.list_orders()
    assert api.status == 200
    assert api.list_orders() is first and api.status == 304
    notice = {"channel": "email", "event": "custom", "title": "Oi", "body": "Tudo bem?"}
    for replayed in (None, "true"):
        api.notify_seller(**notice, idempotency_key=f"ready-{id(calls)}")
        assert api.headers.get("idempotency-replayed") == replayed, api.headers
    try:
        api.list_orders(limit=1000)
        raise AssertionError("a limit of 1000 was taken")
    except ApiError as error:
        assert (error.status, error.code) == (400, "validation_failed") and "limit" in error.fields and error.request_id


class Moody(http.server.BaseHTTPRequestHandler):
    """A server that answers by a list of moods, and notes what it was asked."""

    moods, keys = [], []

    def do_GET(self):
        Moody.keys.append(self.headers["Idempotency-Key"])
        mood = Moody.moods.pop(0)
        if mood == "hang up":
            return
        self.send_response(mood)
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(b'{"data": 1}' if mood == 200 else b'{"error": {"code": "unavailable", "message": "busy"}}')

    do_POST = do_GET

    def log_message(self, *_):
        pass


def try_patience():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Moody)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    api = PartnerApi("t", f"http://127.0.0.1:{server.server_port}", tries=3)
    Moody.moods[:] = [503, 429, 200]
    assert api.health() == {"data": 1}
    Moody.moods[:] = ["hang up", 200]
    assert api.drop_remind_all() == {"data": 1}
    assert len(set(Moody.keys[-2:])) == 1 and Moody.keys[-1], "a POST is repeated with its key"
    Moody.moods[:] = [503, 503, 503, 200]
    try:
        api.health()
        raise AssertionError("it never gave up")
    except ApiError as error:
        assert error.code == "unavailable"
    server.shutdown()
    server.server_close()
    try:
        PartnerApi("t", api.base_url, tries=1).health()
        raise AssertionError("somebody answered")
    except ApiError as error:
        assert (error.status, error.code) == (0, "no_answer")


def try_signature():
    secret, body = "whsec_" + base64.b64encode(b"k" * 32).decode(), b'{"type":"order.paid","data":{}}'
    at = str(int(time.time()))
    signed = hmac.new(b"k" * 32, f"msg_1.{at}.".encode() + body, hashlib.sha256).digest()
    headers = {"Webhook-Id": "msg_1", "Webhook-Timestamp": at, "Webhook-Signature": "v1,AA== v1," + base64.b64encode(signed).decode()}
    assert verify_webhook(secret, headers, body)["type"] == "order.paid"
    for changed in ({}, {"Webhook-Timestamp": "7"}, {"Webhook-Signature": "v1,AAAA"}):
        try:
            verify_webhook(secret, {**headers, **changed} if changed else {}, body)
            raise AssertionError(f"taken: {changed}")
        except ValueError:
            pass


def main():
    calls = json.loads((FOLDER / "calls.json").read_text())
    for one in calls:
        status = call(one)
        if status not in one["expected"]:
            sys.exit(f"{one['id']}: {status}")
    try_lists(calls)
    try_memory_and_keys(calls)
    try_patience()
    try_signature()
    print(f"{len(calls)} operations called by our own Python client")


main()
