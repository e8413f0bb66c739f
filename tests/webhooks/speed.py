"""How many webhooks leave a second, how soon one leaves after its sale, how soon the
sale is among the events to pull, and what they add to the writer's work for a sale.

    python3 tests/webhooks/speed.py EXECUTABLE

Receivers here answer at once. What is measured includes them: they share the
processors with the server.
"""

import asyncio
import contextlib
import http.client
import json
import os
import pathlib
import statistics
import sys
import threading
import time
import urllib.request

import demo

PRODUCTS = 4000
ENDPOINTS = 4
SALES = 60
SALES_WORKED = 400
# Whoever asks every few milliseconds would be held back.
LIMITS = ["LIMITS__PARTNER_GET", "PARTNER__PLANS__STARTER__PER_MINUTE", "PARTNER__PLANS__STARTER__QUOTA"]
came = []


async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            came.append((time.monotonic(), body))
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def listen():
    ready, port = threading.Event(), []

    async def run():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port.append(server.sockets[0].getsockname()[1])
        ready.set()
        await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()
    ready.wait()
    return port[0]


def wait_for(count, seconds=120):
    until = time.monotonic() + seconds
    while len(came) < count:
        assert time.monotonic() < until, f"{len(came)} of {count} came"
        time.sleep(0.005)


def processor_us(thread=""):
    """Processor time of the server's threads, or of one. Linux tells it."""
    own = os.getpid()
    server = pathlib.Path(f"/proc/{own}/task/{own}/children").read_text().split()[0]
    spent = 0
    for task in pathlib.Path(f"/proc/{server}/task").iterdir():
        # One that has nothing to do ends when it likes.
        with contextlib.suppress(OSError):
            if thread in ("", (task / "comm").read_text().strip()):
                spent += int((task / "schedstat").read_text().split()[0])
    return spent / 1000


def work_of_a_sale(sandbox):
    shops, before = demo.shops(sandbox), processor_us("writer")
    for number in range(SALES_WORKED):
        demo.post(sandbox, "/_sandbox/sales", {"ml_user_id": shops[number % 3]})
    time.sleep(5)
    return (processor_us("writer") - before) / SALES_WORKED


def reader(base, token):
    """What a program sees that asks again and again: the events after an id, and the
    newest id."""
    wire = http.client.HTTPConnection(base.removeprefix("http://"))

    def after(last):
        wire.request("GET", f"/api/v1/partner/events?type=order.paid&after={last}",
                     headers={"Authorization": f"Bearer {token}"})
        answer = wire.getresponse()
        page = json.loads(answer.read())
        assert answer.status == 200, page
        return page["data"], page["pagination"]["next_after"]

    return after


def until_pulled(base, sandbox, token):
    after, took = reader(base, token), []
    last = after("latest")[1]
    for number in range(SALES):
        began, events = time.monotonic(), []
        demo.post(sandbox, "/_sandbox/sales", {"ml_user_id": demo.shops(sandbox)[number % 3]})
        while not events:
            assert time.monotonic() < began + 20, "a sale did not become an event"
            time.sleep(0.005)
            events, last = after(last)
        took.append((time.monotonic() - began) * 1000)
        time.sleep(0.3)
    return sorted(took)


def main():
    port = listen()
    os.environ.update({f"SELLER_PLATFORM__{limit}": "1000000000" for limit in LIMITS})
    with demo.running(sys.argv[1]) as (base, sandbox, cookie, token):
        def make(path, events):
            wanted = {"url": f"http://127.0.0.1:{port}{path}", "eventos": events}
            made = demo.post(base, demo.LIST, wanted, cookie)[1]
            return f"{demo.LIST}/{made['id']}"

        for shop in demo.shops(sandbox):
            item = {"ml_user_id": shop, "title": "Caneca", "price": 20, "stock": 10_000}
            demo.post(sandbox, "/_sandbox/items", item)
        work_of_a_sale(sandbox)
        alone = work_of_a_sale(sandbox)
        own = make("/sale", ["order.paid"])
        told = work_of_a_sale(sandbox)
        wait_for(SALES_WORKED)
        print(f"the writer's work for a sale, {SALES_WORKED} sales: {alone:.0f} us of processor "
              f"time without an endpoint, {told:.0f} us with one that is told")
        came.clear()
        took = []
        for number in range(SALES):
            count = len(came)
            began = time.monotonic()
            demo.post(sandbox, "/_sandbox/sales", {"ml_user_id": demo.shops(sandbox)[number % 3]})
            wait_for(count + 1)
            took.append((came[count][0] - began) * 1000)
            time.sleep(0.05)
        took.sort()
        print(f"from a sale at the marketplace to its webhook here, {SALES} sales: "
              f"median {statistics.median(took):.1f} ms, p95 {took[int(SALES * 0.95)]:.1f} ms")
        demo.post(base, own + "/excluir", {}, cookie)
        took = until_pulled(base, sandbox, token)
        print(f"from a sale at the marketplace to the events of the API, {SALES} sales: "
              f"median {statistics.median(took):.1f} ms, p95 {took[int(SALES * 0.95)]:.1f} ms")

        came.clear()
        for number in range(ENDPOINTS):
            make(f"/stock/{number}", ["stock.changed"])
        rows = "".join(f"V-{n},Produto {n},10,{n % 50 + 1}\n" for n in range(PRODUCTS))
        headers = {"Content-Type": "text/csv", "Accept": "application/json", "Origin": base,
                   "Cookie": cookie}
        file = ("sku,title,price,stock\n" + rows).encode()
        before = processor_us()
        request = urllib.request.Request(base + "/painel/produtos/importar", file, headers)
        urllib.request.urlopen(request).read()
        wait_for(PRODUCTS * ENDPOINTS)
        spent = came[-1][0] - came[0][0]
        print(f"{len(came)} webhooks to {ENDPOINTS} endpoints in {spent:.1f} s: "
              f"{len(came) / spent:.0f} a second, "
              f"{(processor_us() - before) / len(came):.0f} us of the server's processor time each")


main()
