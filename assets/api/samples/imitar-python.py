import json, re, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

document = json.load(urllib.request.urlopen("{address}/openapi.json"))
failing = []  # For example [429, 503]: answered first, one at a time.

def example(method, path):
    for known, item in document["paths"].items():
        if method in item and re.fullmatch(re.sub(r"{\w+}", "[^/]+", known), path):
            good = next(one for status, one in item[method]["responses"].items() if status[0] == "2")
            return good.get("content", {}).get("application/json", {}).get("example")

class Imitation(BaseHTTPRequestHandler):
    def answer(self):
        self.rfile.read(int(self.headers["Content-Length"] or 0))
        said = example(self.command.lower(), self.path.split("?")[0])
        status = failing.pop(0) if failing else 200 if said else 404
        error = {"code": "unavailable", "message": "a test"}
        body = said if status == 200 else {"error": error}
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Retry-After", "1")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    do_GET = do_POST = do_PATCH = do_DELETE = answer

ThreadingHTTPServer(("127.0.0.1", 9000), Imitation).serve_forever()
