"""Runs the demonstration, has it send webhooks here, and verifies each with the
Python library of Standard Webhooks. What came is written to a file for the
library of Node and the code of the developer pages."""

import http.server
import json
import sys
import threading
import time
import urllib.request

import demo
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

EXECUTABLE, SEEN = sys.argv[1:]
came = []
# What came to the address that the API made.
by_api = []


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        headers = {name.lower(): value for name, value in self.headers.items()}
        (by_api if self.path == "/api" else came).append({"headers": headers, "body": body})
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def kinds():
    return [json.loads(one["body"])["type"] for one in came]


def wait_until(holds):
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end, f"only {kinds()} came, {len(by_api)} by the API"
        time.sleep(0.05)


def verify(secret, one):
    return Webhook(secret).verify(one["body"], one["headers"])


def refuse(secret, one):
    try:
        verify(secret, one)
    except WebhookVerificationError:
        return
    raise AssertionError("a message that is not ours was accepted")


def keep_by_api(base, url, cookie):
    """Makes an address with a token, tests it with its first and its second secret, and removes it."""
    token = demo.post(base, "/painel/parceiro/tokens", {"nome": "Webhooks"}, cookie)[1]["token"]

    def call(path, body):
        return demo.post(base, f"/api/v1/partner/webhooks{path}", body, token=token)[1]["data"]

    made = call("", {"url": url, "events": ["claim.closed"]})
    own = {"webhook_id": made["webhook"]["webhook_id"]}
    call("/test", own)
    wait_until(lambda: len(by_api) == 1)
    second = call("/change", own | {"new_secret": True})["secret"]
    time.sleep(1.1)
    call("/test", own)
    wait_until(lambda: len(by_api) == 2)
    call("/remove", own)
    verify(made["secret"], by_api[0])
    verify(made["secret"], by_api[1])
    verify(second, by_api[1])
    refuse(second, by_api[0])


def main():
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{receiver.server_port}/webhooks"
    with demo.running(EXECUTABLE) as (base, sandbox, cookie, _):
        wanted = {"url": url, "eventos": ["order.created", "order.paid", "question.received"]}
        made = demo.post(base, demo.LIST, wanted, cookie)[1]
        first, own = made["segredo"], f"{demo.LIST}/{made['id']}"
        demo.post(base, f"{own}/testar", {}, cookie)
        wait_until(lambda: "endpoint.test" in kinds())
        demo.post(sandbox, "/_sandbox/sales", {"ml_user_id": demo.shops(sandbox)[0]})
        wait_until(lambda: "order.paid" in kinds())
        second = demo.post(base, f"{own}/segredo", {}, cookie)[1]["segredo"]
        # A second test within the same second would be the same one.
        time.sleep(1.1)
        demo.post(base, f"{own}/testar", {}, cookie)
        wait_until(lambda: kinds().count("endpoint.test") == 2)
        keep_by_api(base, url.replace("/webhooks", "/api"), cookie)
        page = urllib.request.urlopen(f"{base}/desenvolvedores/webhooks").read().decode()
    seen = [verify(first, one)["type"] for one in came]
    # The demonstration may have sales of its own on their way.
    assert set(seen) == {"endpoint.test", "order.created", "order.paid"}, seen
    both = [one for one in came if json.loads(one["body"])["type"] == "endpoint.test"][1]
    assert len(both["headers"]["webhook-signature"].split()) == 2
    verify(second, both)
    refuse(second, came[0])
    refuse(first, {**came[0], "body": came[0]["body"].replace("teste", "tosto")})
    with open(SEEN, "w", encoding="utf-8") as file:
        json.dump({"first": first, "second": second, "came": came, "page": page}, file)
    print(f"Python: {len(came)} messages verified, what was changed refused")


main()
