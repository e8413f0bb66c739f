"""The Python SDK with partner tokens, and let in by a person through OAuth.

    python3 sdk.py ORIGIN SELLERS_TOKEN SUPPLIERS_TOKEN

Asks a demonstration. Exit status 0: everything held.
"""

import json
import logging
import re
import sys
import time
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urljoin, urlsplit

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

ORIGIN, SELLERS_TOKEN, SUPPLIERS_TOKEN = sys.argv[1:]
ENDPOINT = f"{ORIGIN}/mcp"
CALLBACK = "http://127.0.0.1:8978/callback"
DEADLINE_S = 60
# How the client may choose the revision of the protocol, and what it comes to.
MODES = {"legacy": "2025-11-25", "auto": "2026-07-28", "2026-07-28": "2026-07-28"}


@asynccontextmanager
async def connected(mode, **http):
    async with httpx2.AsyncClient(trust_env=False, **http) as sender:
        transport = streamable_http_client(ENDPOINT, http_client=sender)
        async with Client(transport, mode=mode) as client:
            yield client


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


async def raised(doing):
    """The error of the protocol that something ends with."""
    try:
        await doing
    except (MCPError, BaseExceptionGroup) as error:
        while isinstance(error, BaseExceptionGroup):
            [error] = error.exceptions
        assert isinstance(error, MCPError), repr(error)
        return error
    raise AssertionError("nothing was raised")


async def use(client, prefix=""):
    """Lists and calls. The client compares results with the tools' output schemas itself."""
    names = [tool.name for tool in (await client.list_tools()).tools]
    assert {f"{prefix}health", f"{prefix}list_orders"} <= set(names), names
    assert all(name.startswith("drop_") == bool(prefix) for name in names), names

    health = await client.call_tool(f"{prefix}health")
    assert not health.is_error and health.structured_content["ok"] is True, health
    page = await client.call_tool(f"{prefix}list_orders", {"limit": 3})
    assert not page.is_error and len(page.structured_content["data"]) == 3, page
    assert len(json.loads(page.content[0].text)["data"]["rows"]) == 3

    wrong = await client.call_tool(f"{prefix}list_orders", {"limit": "three"})
    assert wrong.is_error and wrong.structured_content is None, wrong
    assert "must be a whole number" in wrong.content[0].text, wrong
    unknown = await raised(client.call_tool("no_such_tool"))
    assert unknown.code == -32602 and "no_such_tool" in unknown.message, unknown


async def with_tokens():
    for token, prefix in ((SELLERS_TOKEN, ""), (SUPPLIERS_TOKEN, "drop_")):
        for mode, revision in MODES.items():
            async with connected(mode, headers=bearer(token)) as client:
                assert client.protocol_version == revision, client.protocol_version
                await use(client, prefix)


async def with_nobodys_token(mode):
    """Why it is refused reaches the caller, although the token is looked at
    before the message."""
    answers = set()

    async def note(reply):
        answers.add(reply.status_code)

    async def listing():
        async with connected(mode, headers=bearer(f"ptk_{'0' * 48}"), event_hooks={"response": [note]}) as client:
            await client.list_tools()

    error = await raised(listing())
    assert (error.code, answers) == (401, {401}), (error, answers)


class Person:
    """Somebody with a browser, who allows what programs ask for."""

    def __init__(self, browser):
        self.browser = browser
        self.asked = []

    async def submit(self, path, **fields):
        reply = await self.browser.post(path, data=fields)
        assert reply.status_code == 303, reply.text
        return reply.headers["location"]

    async def sign_in(self, email, password):
        await self.submit("/entrar", email=email, senha=password)

    async def visit(self, address):
        """Where a program sends the browser; it stays at the page that asks."""
        self.asked.append(parse_qs(urlsplit(address).query))
        reply = await self.browser.get(address)
        while reply.status_code == 303:
            reply = await self.browser.get(urljoin(address, reply.headers["location"]))
        assert reply.status_code == 200, reply.text
        self.page = reply.text

    async def allow(self):
        """Allows it; what the browser brings back to the program."""
        request = re.search(r'name="pedido" value="([^"]*)"', self.page)
        assert request, self.page
        back = urlsplit(await self.submit("/oauth/authorize", pedido=request[1], decisao="permitir"))
        assert back._replace(query="").geturl() == CALLBACK, back
        brought = {name: value for name, [value] in parse_qs(back.query).items()}
        return AuthorizationCodeResult(**brought)


class Kept:
    """What an app keeps, in memory."""

    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def app(kept, person):
    """As an app is after a start: it knows what it kept."""
    metadata = OAuthClientMetadata(
        client_name="Assistente em Python",
        redirect_uris=[CALLBACK],
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(
        server_url=ENDPOINT,
        client_metadata=metadata,
        storage=kept,
        redirect_handler=person.visit,
        callback_handler=person.allow,
    )


async def through_oauth(mode, person):
    kept = Kept()
    person.asked.clear()
    provider = app(kept, person)
    async with connected(mode, auth=provider) as client:
        await use(client)
        [first] = person.asked
        assert first["resource"] == [ENDPOINT], first
        assert first["client_id"] == [kept.client.client_id], first
        assert first["code_challenge_method"] == ["S256"], first
        assert kept.client.issuer == ORIGIN, kept.client

        # What is over is renewed without the person.
        before = kept.tokens
        provider.context.token_expiry_time = time.time() - 1
        await use(client)
        assert kept.tokens.access_token != before.access_token
        assert kept.tokens.refresh_token != before.refresh_token

    async with connected(mode, auth=app(kept, person)) as client:
        await use(client)
        # The challenge named both scopes, so what acts is there from the start.
        message = {"event": "custom", "channel": "email", "title": "Oi", "body": "Do teste"}
        sent = await client.call_tool("notify_seller", message)
        assert sent.is_error and "has not connected email" in sent.content[0].text, sent
    assert [asked["scope"] for asked in person.asked] == [["partner:read partner:write"]], person.asked
    assert kept.tokens.scope == "partner:read partner:write", kept.tokens.scope


class Complaints(logging.Handler):
    """What the SDK finds odd in an answer and goes on after."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.heard = []

    def emit(self, record):
        self.heard.append(self.format(record))


async def main():
    complaints = Complaints()
    logging.getLogger().addHandler(complaints)
    with anyio.fail_after(DEADLINE_S):
        await with_tokens()
        for mode in MODES:
            await with_nobodys_token(mode)
        # Forms are taken from pages of the same origin only.
        same_origin = {"Origin": ORIGIN, "Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
        async with httpx2.AsyncClient(base_url=ORIGIN, headers=same_origin, trust_env=False) as browser:
            person = Person(browser)
            await person.sign_in("ana@exemplo.com", "demonstracao")
            for mode in MODES:
                await through_oauth(mode, person)
    assert not complaints.heard, "\n".join(complaints.heard)


anyio.run(main)
