"""A mail server for the tests: takes mail for everybody, keeps each as a file.

A recipient that begins with `nao-existe` is refused with 550, one that begins
with `ocupada` with 451 the first time; to one that begins with `engasga` the
first mail is kept, but answered with 451. Takes addresses beyond ASCII only
when the third argument is `utf8`. Prints its port; ends with its input.
"""

import json
import pathlib
import sys

from aiosmtpd.controller import Controller


class Keeper:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.count = 0
        self.busy = set()

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nao-existe"):
            return "550 5.1.1 mailbox does not exist"
        if address.startswith("ocupada") and address not in self.busy:
            self.busy.add(address)
            return "451 4.3.0 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        self.count += 1
        mail = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "content": envelope.content.decode("utf-8"),
        }
        draft = self.folder / "draft"
        draft.write_text(json.dumps(mail))
        draft.rename(self.folder / f"{self.count:04}.json")
        first = envelope.rcpt_tos[0]
        if first.startswith("engasga") and first not in self.busy:
            self.busy.add(first)
            return "451 4.3.0 try again later"
        return f"250 kept as {self.count}"


class OnAnyPort(Controller):
    def _trigger_server(self):
        # The controller would knock at the port it was asked for, which is 0.
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


controller = OnAnyPort(
    Keeper(sys.argv[1]),
    hostname="127.0.0.1",
    port=int(sys.argv[2]),
    enable_SMTPUTF8=sys.argv[3:] == ["utf8"],
)
controller.start()
print(controller.server.sockets[0].getsockname()[1], flush=True)
sys.stdin.read()
controller.stop()
