"""What Chromium asks of its maker's push service, for the tests: it checks a
device in, registers subscriptions, and hands messages down a long connection
(MCS over TLS), all as the real one does and without the network.

Prints two ports: of check-in, registration and `POST /deliver`, and of the long
connection. Ends with its input.
"""

import base64
import http.server
import itertools
import json
import os
import socket
import ssl
import struct
import sys
import tempfile
import threading
import urllib.parse

# Guards nothing: Chromium is told not to look at certificates.
PEM = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgvewPAMVXSQce2LG1
4Kxe60M+W8sboeqrtLWorW8BShyhRANCAAQXbv/30UENNTw6IccSLt5KjNSCVxqr
TXMxLHp9crJOsbkrXxgJSXYzSIyUmPSPRnC4EvM+eD5wyutjZs8WN3sJ
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBfjCCASWgAwIBAgIURb0TRaTbKIQXjQ8QayIrtLDeNc0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMDE2MDE0NFoYDzIxMjYxMDI3
MTYwMTQ0WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQXbv/30UENNTw6IccSLt5KjNSCVxqrTXMxLHp9crJOsbkrXxgJSXYz
SIyUmPSPRnC4EvM+eD5wyutjZs8WN3sJo1MwUTAdBgNVHQ4EFgQUSrLpxHt+pESL
J+hWbqrNYJtCWq0wHwYDVR0jBBgwFoAUSrLpxHt+pESLJ+hWbqrNYJtCWq0wDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiAhebpVUNzkrHGhL0amn8L9
pZDMcL/r//j7LnNew2ZzyAIgKyZFbT3vqP6hWzjcLoo2Q21aFP8c+1MLmQ1eAjwh
oQM=
-----END CERTIFICATE-----
"""

VERSION = 41
PING, PONG, LOGIN, LOGGED_IN, MESSAGE = 0, 1, 2, 3, 8

registrations = {}
numbers = itertools.count(1)
connected = threading.Condition()
connections = []


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def receive(stream, length):
    out = b""
    while len(out) < length:
        part = stream.recv(length - len(out))
        if not part:
            raise EOFError
        out += part
    return out


def receive_varint(stream):
    number, shift = 0, 0
    while True:
        byte = receive(stream, 1)[0]
        number |= (byte & 127) << shift
        if byte < 128:
            return number
        shift += 7


def keep_connection(raw, context):
    try:
        stream = context.wrap_socket(raw, server_side=True)
        receive(stream, 1)
        while True:
            tag = receive(stream, 1)[0]
            receive(stream, receive_varint(stream))
            if tag == LOGIN:
                answer = field(1, "login")
                stream.sendall(bytes([VERSION, LOGGED_IN]) + varint(len(answer)) + answer)
                with connected:
                    connections.append(stream)
                    connected.notify_all()
            elif tag == PING:
                stream.sendall(bytes([PONG, 0]))
    except (EOFError, OSError):
        pass


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path == "/checkin":
            # stats_ok, android_id, security_token.
            self.answer(b"\x08\x01\x39" + struct.pack("<Q", 42) + b"\x41" + struct.pack("<Q", 7))
        elif self.path == "/register":
            token = f"aparelho-{next(numbers)}"
            registrations[token] = dict(urllib.parse.parse_qsl(body.decode()))
            self.answer(f"token={token}".encode())
        else:
            asked = json.loads(body)
            self.deliver(asked["token"], base64.b64decode(asked["body"]))
            self.answer(b"{}")

    def deliver(self, token, body):
        to = registrations[token]
        said = {"subtype": to["X-subtype"], "content-encoding": "aes128gcm"}
        pairs = b"".join(field(7, field(1, name) + field(2, value)) for name, value in said.items())
        stanza = field(3, to["sender"]) + field(5, to["app"]) + pairs
        stanza += field(9, f"mensagem-{next(numbers)}") + field(21, body)
        with connected:
            connected.wait_for(lambda: connections, 20)
            connections[-1].sendall(bytes([MESSAGE]) + varint(len(stanza)) + stanza)

    def answer(self, body):
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def accept(listener, context):
    while True:
        raw, _ = listener.accept()
        threading.Thread(target=keep_connection, args=(raw, context), daemon=True).start()


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
        file.write(PEM)
        file.flush()
        context.load_cert_chain(file.name)
    listener = socket.create_server(("127.0.0.1", 0))
    service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=accept, args=(listener, context), daemon=True).start()
    threading.Thread(target=service.serve_forever, daemon=True).start()
    print(service.server_address[1], listener.getsockname()[1], flush=True)
    sys.stdin.read()
    os._exit(0)


main()
