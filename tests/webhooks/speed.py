"""How many webhooks leave a second, and how soon one leaves after its sale.

    python3 tests/webhooks/speed.py EXECUTABLE

Receivers here answer at once. What is measured includes them: they share the
processors with the server.
"""

import asyncio
import statistics
import sys
import threading
import time
import urllib.request

import demo

PRODUCTS = 4000
ENDPOINTS = 4
SALES = 60
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


def main():
    port = listen()
    with demo.running(sys.argv[1]) as (base, sandbox, cookie):
        def make(path, events):
            wanted = {"url": f"http://127.0.0.1:{port}{path}", "eventos": events}
            made = demo.post(base, demo.LIST, wanted, cookie)[1]
            return f"{demo.LIST}/{made['id']}"

        own = make("/sale", ["order.paid"])
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

        came.clear()
        for number in range(ENDPOINTS):
            make(f"/stock/{number}", ["stock.changed"])
        rows = "".join(f"V-{n},Produto {n},10,{n % 50 + 1}\n" for n in range(PRODUCTS))
        headers = {"Content-Type": "text/csv", "Accept": "application/json", "Origin": base,
                   "Cookie": cookie}
        file = ("sku,title,price,stock\n" + rows).encode()
        request = urllib.request.Request(base + "/painel/produtos/importar", file, headers)
        urllib.request.urlopen(request).read()
        wait_for(PRODUCTS * ENDPOINTS)
        spent = came[-1][0] - came[0][0]
        print(f"{len(came)} webhooks to {ENDPOINTS} endpoints in {spent:.1f} s: "
              f"{len(came) / spent:.0f} a second")


main()
