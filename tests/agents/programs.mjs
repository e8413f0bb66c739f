// Other programs, and what they print.
import { spawn } from "node:child_process";

/** Runs a program to its end; resolves to its output, rejects when it fails. */
export function outputOf(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  let [said, complained] = ["", ""];
  child.stdout.on("data", (chunk) => (said += chunk));
  child.stderr.on("data", (chunk) => (complained += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(said);
      else reject(new Error(`${program} ${args.join(" ")}: exit ${code}\n${said}\n${complained}`));
    });
  });
}
