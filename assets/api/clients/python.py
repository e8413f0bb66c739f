"""The Partner API in Python: one file, for Python 3.11 or newer, without other packages.

    from seller_platform import PartnerApi

    api = PartnerApi("ptk_…")
    for order in api.all_orders(status="paid"):
        print(order["order_id"], order["total_amount"])

Each operation is a method with its name, and answers what the reference shows. Lists also
have a method that begins with `all` and reads page after page. The client repeats what is
safe to repeat, keeps to `Retry-After`, gives each POST an `Idempotency-Key`, and asks with
the `ETag` that it has, so that what did not change costs no quota.

Made by {address}/desenvolvedores/cliente.py
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from email.message import Message
from typing import Any, Literal, NotRequired, TypedDict, cast

BASE_URL = "{base_url}"

# A type for each object of the API.

{types}


class ApiError(Exception):
    """An answer that is an error, or none at all: then `status` is 0. Branch on `code`."""

    def __init__(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.status, self.headers = status, headers
        self.code = "no_answer" if status == 0 else ""
        self.message, self.request_id = body.decode(errors="replace")[:200], headers.get("x-request-id", "")
        self.fields: dict[str, str] = {}
        try:
            error = json.loads(body)["error"]
            self.code, self.message, self.fields = error["code"], error["message"], error.get("fields", {})
        except (ValueError, KeyError, TypeError):
            pass
        super().__init__(f"{status} {self.code}: {self.message} {self.fields or ''}({self.request_id})")


class PartnerApi:
    """The operations that a token opens. One object is for one thread at a time."""

    def __init__(self, token: str, base_url: str = BASE_URL, timeout_s: float = 30, tries: int = 5) -> None:
        self.token, self.base_url, self.timeout_s, self.tries = token, base_url.rstrip("/"), timeout_s, tries
        self.status = 0
        """The status of the last answer; 304 says that it came from memory."""
        self.headers: Mapping[str, str] = {}
        """The headers of the last answer, in small letters."""
        self._kept: OrderedDict[str, tuple[str, Any]] = OrderedDict()

    def call(self, method: str, path: str, query: Mapping[str, Any], body: Mapping[str, Any] | None = None,
             key: str | None = None, is_file: bool = False) -> Any:
        """Calls an address; for operations that are newer than this file."""
        asked = urllib.parse.urlencode({name: value for name, value in query.items() if value is not None})
        url = f"{self.base_url}{path}" + (f"?{asked}" if asked else "")
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "*/*", "User-Agent": "seller-platform-python"}
        data = None
        if body is not None:
            sent = {name: value for name, value in body.items() if value is not None}
            headers["Content-Type"], data = "application/json", json.dumps(sent).encode()
        if key is not None:
            headers["Idempotency-Key"] = key
        kept = self._kept.get(url) if method == "GET" else None
        if kept:
            headers["If-None-Match"] = kept[0]
        answer = self._send(urllib.request.Request(url, data, headers, method=method), method == "GET" or key is not None)
        if self.status == 304 and kept:
            self._kept.move_to_end(url)
            return kept[1]
        value = answer if is_file else json.loads(answer) if answer else None
        if method == "GET" and not is_file and "etag" in self.headers:
            self._kept[url] = self.headers["etag"], value
            while len(self._kept) > 64:
                self._kept.popitem(last=False)
        return value

    def _send(self, request: urllib.request.Request, is_repeatable: bool) -> bytes:
        for turn in range(1, self.tries + 1):
            pause = min(2 ** (turn - 1), 60) * (0.5 + random.random() / 2)
            try:
                with urllib.request.urlopen(request, timeout=self.timeout_s) as answer:
                    self.status, self.headers = answer.status, _headers(answer.headers)
                    return cast(bytes, answer.read())
            except urllib.error.HTTPError as error:
                self.status, self.headers = error.code, _headers(error.headers)
                with error:
                    said = error.read()
                if error.code == 304:
                    return b""
                # Of 429 and 503 nothing was done.
                if error.code in (429, 503):
                    after = self.headers.get("retry-after", "")
                    pause = float(after) if after.isdigit() else pause
                elif error.code != 500 or not is_repeatable:
                    raise ApiError(error.code, said, self.headers) from None
                # What is open again in more than a minute is the caller's to wait for.
                if turn == self.tries or pause > 60:
                    raise ApiError(error.code, said, self.headers) from None
            except (OSError, http.client.HTTPException) as error:
                if turn == self.tries or not is_repeatable:
                    self.status, self.headers = 0, {}
                    raise ApiError(0, str(error).encode(), {}) from error
            time.sleep(pause)
        raise AssertionError

    def _all(self, path: str, query: dict[str, Any]) -> Iterator[Any]:
        while True:
            page = self.call("GET", path, query)
            yield from page["data"]
            at = page["pagination"]
            if "next_after" in at:
                query["after"] = at["next_after"]
                if not at["has_more"]:
                    return
            elif "next_cursor" in at:
                query["cursor"] = at["next_cursor"]
                if at["next_cursor"] is None:
                    return
            else:
                query["offset"] = at["offset"] + len(page["data"])
                if not page["data"] or query["offset"] >= at["total"]:
                    return

{operations}


def verify_webhook(secret: str, headers: Mapping[str, str], body: bytes) -> Event:
    """The event of a message that came; ValueError unless it is ours and fresh. `body` as it came."""
    told = _headers(headers)
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = f"{told['webhook-id']}.{told['webhook-timestamp']}.".encode() + body
        age = abs(time.time() - int(told["webhook-timestamp"]))
        given = told["webhook-signature"].encode().split(b" ")
    except KeyError as missing:
        raise ValueError(f"not from the platform: no {missing}") from None
    good = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    if age > 300 or not any(hmac.compare_digest(good, one) for one in given):
        raise ValueError("not from the platform")
    return cast(Event, json.loads(body))


def _headers(headers: Mapping[str, str] | Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _in_path(value: object) -> str:
    return urllib.parse.quote(str(value), safe="")
