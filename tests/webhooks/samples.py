"""Runs the code that the page about webhooks shows, in each of its languages, on
what check.py received, and posts a message to the receiver of the page."""

import html
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

SEEN, WORK = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])

# What stands around the code: it reads a message, and fails when that is not ours.
PROGRAMS = {
    "python": (["/usr/bin/python3"], "verify.py", """{code}
import sys
told = json.load(sys.stdin)
print(verify(told["secret"], told["headers"], told["body"].encode())["type"])
"""),
    "javascript": (["node"], "verify.mjs", """import {{ readFileSync }} from "node:fs";
{code}
const {{ secret, headers, body }} = JSON.parse(readFileSync(0, "utf8"));
console.log(verify(secret, headers, body).type);
"""),
    "php": (["php"], "verify.php", """<?php
{code}
$told = json_decode(stream_get_contents(STDIN), true);
echo verify($told['secret'], $told['headers'], $told['body'])['type'];
"""),
}


def code_of(name):
    found = re.search(rf'<code id="{name}">(.*?)</code>', SEEN["page"], re.S)
    assert found, f"the page has no {name}"
    return html.unescape(found[1])


def run(program, file, message):
    sent = json.dumps(message)
    return subprocess.run(
        [*program, str(WORK / file)], input=sent, capture_output=True, text=True, timeout=60
    )


def try_language(language):
    program, file, around = PROGRAMS[language]
    code = code_of(f"conferir-{language}")
    assert len(code.splitlines()) <= 12, f"{language} takes more than ten lines"
    (WORK / file).write_text(around.format(code=code))
    one = SEEN["came"][-1]
    good = {"secret": SEEN["second"], **one}
    old = {**one["headers"], "webhook-timestamp": str(int(time.time()) - 3600)}
    said = run(program, file, good)
    assert said.stdout.strip() == "endpoint.test", (language, said)
    assert run(program, file, {**good, "secret": SEEN["first"]}).returncode == 0, language
    for changed in [
        {"body": one["body"] + " "},
        {"secret": "whsec_" + "A" * 43 + "="},
        {"headers": {**one["headers"], "webhook-signature": "v1,AAAA v2,BBBB"}},
        {"headers": old},
    ]:
        assert run(program, file, {**good, **changed}).returncode != 0, (language, changed)


def post(url, message, body):
    request = urllib.request.Request(url, body.encode(), message["headers"])
    try:
        return urllib.request.urlopen(request).status
    except urllib.error.HTTPError as error:
        return error.code


def try_receiver():
    code = code_of("conferir-python") + "\n" + code_of("receber-python")
    assert '"whsec_…"' in code and ", 8000)" in code
    code = code.replace('"whsec_…"', repr(SEEN["second"])).replace(", 8000)", ", 0)")
    # It says where it listens, as the port of the page may be taken here.
    begin, end = code.rsplit("HTTPServer((", 1)
    end = end.replace(".serve_forever()", "")
    code = f"{begin}server = HTTPServer(({end}\nprint(server.server_port, flush=True)\nserver.serve_forever()"
    (WORK / "receiver.py").write_text(code)
    receiver = subprocess.Popen(
        ["/usr/bin/python3", str(WORK / "receiver.py")],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        url = f"http://127.0.0.1:{int(receiver.stdout.readline())}/"
        one = SEEN["came"][-1]
        assert post(url, one, one["body"]) == 204
        assert receiver.stdout.readline().startswith("endpoint.test")
        assert post(url, one, one["body"]) == 204
        assert post(url, one, one["body"][:-1] + " ") == 401
    finally:
        receiver.kill()
        # What came twice was told once.
        assert receiver.stdout.read() == ""


for language in PROGRAMS:
    try_language(language)
try_receiver()
print(f"pages: the code in {', '.join(PROGRAMS)} and the receiver take what is ours, and nothing else")
