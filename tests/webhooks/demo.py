"""The demonstration, run and called by the scripts beside this file."""

import contextlib
import json
import re
import subprocess
import tempfile
import urllib.error
import urllib.request

LIST = "/painel/parceiro/webhooks"


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirect)


def post(base, path, body, cookie="", token=""):
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Origin": base}
    if cookie:
        headers["Cookie"] = cookie
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(base + path, json.dumps(body).encode(), headers)
    try:
        answer = opener.open(request)
    except urllib.error.HTTPError as error:
        answer = error
    text = answer.read()
    assert answer.status < 400, (path, answer.status, text)
    return answer.headers, json.loads(text) if text else None


@contextlib.contextmanager
def running(executable):
    """Gives the addresses of the demonstration and of its sandbox, and a session and
    a token of its student."""
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [executable, "serve", "--demo", "--listen", "127.0.0.1:0"],
            cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        try:
            said = ""
            while "partner " not in said:
                line = server.stdout.readline()
                assert line, "the demonstration did not start"
                said += line
            base = re.search(r"listening on (\S+)", said)[1]
            sandbox = re.search(r"sandbox\s+(\S+)", said)[1]
            login = {"email": "ana@exemplo.com", "senha": "demonstracao"}
            cookie = post(base, "/entrar", login)[0]["set-cookie"].split(";")[0]
            yield base, sandbox, cookie, re.search(r"ptk_[0-9a-f]{48}", said)[0]
        finally:
            server.terminate()
            server.wait(timeout=20)


def shops(sandbox):
    state = json.load(urllib.request.urlopen(sandbox + "/_sandbox/state"))
    return [seller["ml_user_id"] for seller in state["sellers"]]
