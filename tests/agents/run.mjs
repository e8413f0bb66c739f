// The agent endpoint with the clients that people use.
//
//     target/agents/node_modules/.bin/node target/agents/run.mjs EXECUTABLE
//
// `tests/run` copies this folder to `target/agents` and installs there what
// `package.json` and `requirements.txt` name. Exit status 0: everything held.
import path from "node:path";
import { demonstration } from "./demonstration.mjs";
import * as conformance from "./conformance.mjs";
import * as oauth from "./oauth.mjs";
import * as python from "./python.mjs";
import * as questions from "./questions.mjs";
import * as schemas from "./schemas.mjs";
import * as tokens from "./tokens.mjs";

process.env.PATH = `${path.join(import.meta.dirname, "node_modules/.bin")}:${process.env.PATH}`;

const server = await demonstration(path.resolve(process.argv[2]));
try {
  for (const [what, group] of Object.entries({ schemas, questions, conformance, tokens, oauth, python })) {
    await group.all(server);
    console.log(`${what}: held`);
  }
} finally {
  await server.stop();
}
process.exit(0);
