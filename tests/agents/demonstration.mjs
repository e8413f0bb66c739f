// The executable with its demonstration's data, on a port of its own.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Starts it; resolves once it printed its addresses. `stop` ends it. */
export function demonstration(executable) {
  const env = { ...process.env, SELLER_PLATFORM__PARTNER__PLANS__STARTER__PER_MINUTE: "1000000" };
  const server = spawn(executable, ["serve", "--demo", "--listen", "127.0.0.1:0"], { env });
  const found = { stop: () => new Promise((ended) => server.once("exit", ended).kill("SIGTERM")) };
  return new Promise((resolve, reject) => {
    server.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    server.stderr.resume();
    createInterface({ input: server.stdout }).on("line", (line) => {
      const origin = /listening on (\S+)/.exec(line);
      const token = /^ +(partner|drop) .*Bearer (ptk_[0-9a-f]{48})/.exec(line);
      if (origin) found.origin = origin[1];
      if (token) found[token[1]] = token[2];
      if (found.origin && found.partner && found.drop) {
        server.removeAllListeners("exit");
        resolve(found);
      }
    });
  });
}
