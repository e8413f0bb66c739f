import json, sqlite3, time
from seller_platform import ApiError, PartnerApi

PAUSE_S, COMPARE_S = 30, 24 * 3600
api = PartnerApi("ptk_…")
copy = sqlite3.connect("espelho.db")
copy.executescript("""
    CREATE TABLE IF NOT EXISTS sale (order_id TEXT PRIMARY KEY, status TEXT, total REAL, whole TEXT);
    CREATE TABLE IF NOT EXISTS place (only_one INTEGER PRIMARY KEY CHECK (only_one = 1), after TEXT);
""")

def store(order):
    row = order["order_id"], order["status"], order["total_amount"], json.dumps(order)
    copy.execute("INSERT OR REPLACE INTO sale VALUES (?, ?, ?, ?)", row)

def go_on_after(event):
    copy.execute("INSERT OR REPLACE INTO place VALUES (1, ?)", (event,))

def read_all():
    """The place comes before the list: what changes meanwhile comes again as an event."""
    after = api.list_events(after="latest")["pagination"]["next_after"]
    with copy:
        copy.execute("DELETE FROM sale")
        for order in api.all_orders():
            store(order)
        go_on_after(after)

def follow():
    """A page of events and the place behind it are stored together, or not at all."""
    more = True
    while more:
        (after,) = copy.execute("SELECT after FROM place").fetchone()
        page = api.list_events(after=after, limit=200)
        with copy:
            for event in page["data"]:
                if event["type"].startswith("order."):
                    store(event["data"])
            go_on_after(page["pagination"]["next_after"])
        more = page["pagination"]["has_more"]

compare_at = time.monotonic() + COMPARE_S
while True:
    try:
        is_new = copy.execute("SELECT 1 FROM place").fetchone() is None
        if is_new or time.monotonic() > compare_at:
            read_all()
            compare_at = time.monotonic() + COMPARE_S
        follow()
    except ApiError as error:
        if error.code == "events_expired":
            with copy:
                copy.execute("DELETE FROM place")
        elif 400 <= error.status < 429:
            raise
    time.sleep(PAUSE_S)
