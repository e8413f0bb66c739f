// The Python SDK, in a process of its own.
import path from "node:path";
import { outputOf } from "./programs.mjs";

export async function all(server) {
  const here = import.meta.dirname;
  const env = { ...process.env, PYTHONPATH: path.join(here, "python") };
  const args = [path.join(here, "sdk.py"), server.origin, server.partner, server.drop];
  await outputOf("/usr/bin/python3", args, { env });
}
