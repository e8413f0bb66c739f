import json, time, urllib.error, urllib.request

URL, TOKEN = "{address}/orders?limit=50", "ptk_…"
etag, seen = "", set()

while True:
    request = urllib.request.Request(URL, headers={"Authorization": f"Bearer {TOKEN}"})
    if etag:
        request.add_header("If-None-Match", etag)
    pause = 30
    try:
        with urllib.request.urlopen(request) as answer:
            etag = answer.headers["ETag"]
            for order in json.load(answer)["data"]:
                state = (order["order_id"], order["status"], order["shipping"]["status"])
                if state not in seen:
                    seen.add(state)
                    print(*state)
    except urllib.error.HTTPError as error:
        if error.code in (429, 503):
            pause = int(error.headers["Retry-After"])
        elif error.code != 304:
            raise
    time.sleep(pause)
