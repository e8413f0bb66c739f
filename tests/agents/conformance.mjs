// The protocol's own suite, for each revision that is served. What is not
// offered stands in the baseline files, each with its reason.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { outputOf } from "./programs.mjs";
import { proxy } from "./proxy.mjs";

const REVISIONS = ["2025-11-25", "2026-07-28"];

export async function all(server) {
  const between = await proxy(server.origin, server.partner);
  for (const revision of REVISIONS) {
    const out = fs.mkdtempSync(path.join(os.tmpdir(), "conformance-"));
    try {
      await outputOf("conformance", [
        "server",
        // Scenarios about other origins run on loopback names only.
        ...["--url", `http://localhost:${between.port}/mcp`],
        ...["--requirements", revision],
        ...["--expected-failures", path.join(import.meta.dirname, `conformance-${revision}.yml`)],
        ...["-o", out],
      ]);
    } finally {
      fs.rmSync(out, { recursive: true });
    }
  }
  between.close();
}
