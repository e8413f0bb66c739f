"""What schemathesis cannot know: credentials, signatures, who exists.

It loads this file through SCHEMATHESIS_HOOKS; `run` in this folder sets that
and the variables that are read here.
"""

import hashlib
import hmac
import json
import os
import uuid

import requests
import schemathesis
from schemathesis import GenerationMode

BEARERS = {
    "extensionToken": "EXTENSION_TOKEN",
    "partnerToken": "PARTNER_TOKEN",
    "apiKey": "API_KEY",
    "cronSecret": "CRON_SECRET",
}
# What changes a seller's shop.
OWN = ("/stock/set", "/stock/adjust", "/products/price", "/questions/answer", "/labels/printed")
HEADERS = {
    "checkoutToken": ("X-HOTMART-HOTTOK", "CHECKOUT_TOKEN"),
    "telegramSecret": ("X-Telegram-Bot-Api-Secret-Token", "TELEGRAM_SECRET"),
}


@schemathesis.auth(refresh_interval=None)
class Credentials:
    """The credential of the first scheme that an operation names."""

    def get(self, case, context):
        security = case.operation.definition.raw["security"]
        return next(iter(security[0])) if security else None

    def set(self, case, scheme, context):
        if scheme in BEARERS:
            is_suppliers = case.operation.path.startswith("/drop/")
            variable = "SUPPLIER_TOKEN" if is_suppliers else BEARERS[scheme]
            if "/sandbox/" in case.operation.path:
                # These make sample data, and take the token for it.
                variable = "SUPPLIER_TEST_TOKEN" if is_suppliers else "PARTNER_TEST_TOKEN"
            case.headers["Authorization"] = "Bearer " + os.environ[variable]
        elif scheme in HEADERS:
            name, variable = HEADERS[scheme]
            case.headers[name] = os.environ[variable]
        elif scheme in ("chatToken", "chatSignature"):
            pass  # What proves it depends on the finished body; see `sign_receipts`.
        else:
            assert scheme == "marketplaceSignature", scheme
            sign(case)


def sign(case):
    """Signs a notification as the marketplace does: by what it is about."""
    body = case.body if isinstance(case.body, dict) else {}
    resource = body.get("resource")
    about = resource.strip().rsplit("/", 1)[-1] if isinstance(resource, str) else ""
    if "data.id" in (case.query or {}) and is_valid(case):
        case.query["data.id"] = about
    manifest = f"id:{about};request-id:tests;ts:1;".encode("utf-8", "surrogatepass")
    digest = hmac.new(os.environ["CLIENT_SECRET"].encode(), manifest, hashlib.sha256)
    case.headers["X-Signature"] = f"ts=1;v1={digest.hexdigest()}"
    case.headers["X-Request-Id"] = "tests"


def sign_receipts(case):
    """Receipts of chat messages as their service sends them; the address is proved by its token."""
    if case.query and "hub.verify_token" in case.query:
        case.query["hub.verify_token"] = os.environ["CHAT_TOKEN"]
    if isinstance(case.body, dict):
        # What is signed is what is sent, byte for byte.
        case.body = json.dumps(case.body).encode()
        digest = hmac.new(os.environ["CHAT_SECRET"].encode(), case.body, hashlib.sha256)
        case.headers["X-Hub-Signature-256"] = f"sha256={digest.hexdigest()}"


def is_valid(case):
    return case.meta is not None and case.meta.generation.mode == GenerationMode.POSITIVE


def unpay(address, order):
    """Has the order of `run` owed again, so that it can be reminded of."""
    bearer = {"Authorization": "Bearer " + os.environ["SUPPLIER_TOKEN"]}
    requests.post(f"{address}/drop/orders/unpaid", json={"order_id": order}, headers=bearer, timeout=30).raise_for_status()


def name_what_exists(case):
    """The seller, the listing, the product and the order that `run` made, in half of the calls."""
    if case.operation.path.endswith("/remind"):
        unpay(case.operation.base_url, os.environ["DROP_ORDER"])
    known = {"ml_id": "MLB1", "sku": "COPO", "seller_id": os.environ["SELLER"], "order_id": os.environ["DROP_ORDER"]}
    if len(str(case.body)) % 2 == 0:
        if case.operation.path.endswith("/unlink"):
            case.body = make_link(case.operation.base_url, known)
        case.body |= {name: value for name, value in known.items() if name in case.body}


def name_webhook(case, hook):
    """An address that is taken, as no schema says which are public; that of `run`, or a new one where it is removed."""
    if "url" in case.body:
        case.body["url"] = "https://example.com/webhooks"
    if "webhook_id" in case.body and case.operation.path.endswith("/remove"):
        case.body["webhook_id"] = make_webhook(case.operation.base_url, case.operation.path.removesuffix("/remove"))
    elif "webhook_id" in case.body:
        case.body["webhook_id"] = hook
        # One that is off cannot be tested.
        case.body.pop("enabled", None)


def make_webhook(address, path):
    """Makes an address of webhooks, so that there is one to remove; returns its number."""
    is_drop = path.startswith("/drop/")
    bearer = {"Authorization": "Bearer " + os.environ["SUPPLIER_TOKEN" if is_drop else "PARTNER_TOKEN"]}
    wanted = {"url": "https://example.com/webhooks", "events": ["drop_order.paid" if is_drop else "order.paid"]}
    made = requests.post(address + path, json=wanted, headers=bearer, timeout=30)
    # The account may have as many as it can already: then any number will do.
    return made.json()["data"]["webhook"]["webhook_id"] if made.ok else "999999999"


def make_link(address, known):
    """Makes a link, so that there is one to remove; returns by what it is named."""
    link = {name: known[name] for name in ("seller_id", "ml_id", "sku")}
    bearer = {"Authorization": "Bearer " + os.environ["SUPPLIER_TOKEN"]}
    requests.post(f"{address}/drop/catalog/links", json=link, headers=bearer, timeout=30).raise_for_status()
    link.pop("sku")
    return link


def name_own(case):
    """The product, the order and the question of the seller; amounts have two decimals at most."""
    known = {"sku": "COPO", "question_id": os.environ["QUESTION"], "order_ids": [os.environ["ORDER"]]}
    if case.body.pop("product_id", None) is not None:
        case.body["sku"] = "COPO"
    case.body |= {name: value for name, value in known.items() if name in case.body}
    if "question_id" in case.body:
        case.body["text"] = os.environ["ANSWER"]
    for name in ("price", "cost"):
        if name in case.body:
            case.body[name] = round(case.body[name], 2)


@schemathesis.hook
def before_call(context, case, **kwargs):
    """Half of the valid calls that name a person name one who exists; so do some stores, and keys are new."""
    if is_valid(case) and "Idempotency-Key" in (case.headers or {}):
        # The same key with another body is refused, as it must be.
        case.headers["Idempotency-Key"] = uuid.uuid4().hex
    if case.operation.path == "/stores/{ml_id}/metrics" and is_valid(case):
        case.path_parameters["ml_id"] = os.environ["STORE"]
    if is_valid(case) and case.operation.path.startswith("/orders/{"):
        case.path_parameters["order_id"] = os.environ["ORDER"]
    for name in ("question", "claim"):
        if is_valid(case) and case.operation.path == f"/{name}s/{{{name}_id}}":
            case.path_parameters[f"{name}_id"] = os.environ[name.upper()]
    hook = os.environ["DROP_WEBHOOK" if case.operation.path.startswith("/drop/") else "WEBHOOK"]
    if is_valid(case) and case.operation.path.startswith(("/webhooks/{", "/drop/webhooks/{")):
        case.path_parameters["webhook_id"] = hook
    if is_valid(case) and isinstance(case.body, dict) and "/webhooks" in case.operation.path:
        name_webhook(case, hook)
    if is_valid(case) and case.query:
        # No schema says which text is a cursor or an event of ours, how long a month is, nor
        # which days make a period.
        case.query.pop("cursor", None)
        for name, known in (("after", "latest"), ("updated_since", "2026-11-20T09:00:00"), ("since", "2026-11-20T09:00:00")):
            if name in case.query:
                case.query[name] = known
        if "from" in case.query:
            case.query["to"] = case.query["from"]
    if is_valid(case) and isinstance(case.body, dict) and case.operation.path.startswith("/drop/"):
        name_what_exists(case)
    if is_valid(case) and isinstance(case.body, dict) and case.operation.path in OWN:
        name_own(case)
    if is_valid(case) and isinstance(case.body, dict) and "file" in case.body:
        # Of a binary format no pattern is kept.
        case.body["file"] = "seller_id,ml_id,sku\n7,MLB123,A\n"
    if is_valid(case) and case.operation.path == "/api/v1/webhook/chat":
        return sign_receipts(case)
    names_a_person = isinstance(case.body, dict) and isinstance(case.body.get("email"), str)
    if not names_a_person or not is_valid(case) or len(case.body["email"]) % 2:
        return
    if case.operation.path == "/api/ext/auth":
        case.body |= {"email": os.environ["LOGIN_EMAIL"], "senha": os.environ["LOGIN_PASSWORD"]}
    elif case.operation.path in ("/api/v1/alunos/suspender", "/api/v1/alunos/reativar"):
        case.body["email"] = os.environ["STUDENT_EMAIL"]
