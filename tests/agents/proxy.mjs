// Adds a token to what the conformance suite sends, which cannot send one itself.
import http from "node:http";

/** Starts a proxy in front of `target` (an origin); resolves to its port. */
export function proxy(target, token) {
  const to = new URL(target);
  const server = http.createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${token}` };
    const onward = { host: to.hostname, port: to.port, method: request.method, path: request.url, headers };
    const call = http.request(onward, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    call.on("error", (error) => response.destroy(error));
    request.pipe(call);
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({ port: server.address().port, close: () => server.close() }));
  });
}
