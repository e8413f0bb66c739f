"""What schemathesis cannot know: how notifications are signed, and who leaves.

Loaded by schemathesis through SCHEMATHESIS_HOOKS; see `run` in this folder.
"""

import hashlib
import hmac
import os

import schemathesis


@schemathesis.auth().apply_to(path="/ml/notificacoes")
class Signature:
    """Signs a notification as the marketplace does: by what it is about."""

    def get(self, case, context):
        return os.environ["CLIENT_SECRET"]

    def set(self, case, data, context):
        body = case.body if isinstance(case.body, dict) else {}
        resource = body.get("resource")
        resource = resource.strip() if isinstance(resource, str) else ""
        about = resource.rsplit("/", 1)[-1]
        manifest = f"id:{about};request-id:openapi;ts:1;"
        digest = hmac.new(data.encode(), manifest.encode(), hashlib.sha256).hexdigest()
        case.headers["X-Signature"] = f"ts=1;v1={digest}"
        case.headers["X-Request-Id"] = "openapi"
