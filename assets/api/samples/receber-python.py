from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = "whsec_…"
seen = set()

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = verify(SECRET, self.headers, body)
        except (ValueError, TypeError):
            return self.answer(401)
        if self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            print(event["type"], event["data"], flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()

HTTPServer(("127.0.0.1", 8000), Receiver).serve_forever()
