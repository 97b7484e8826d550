/** Servers of the tests' own, for what is reached over HTTP. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * On a port of its own, until it is closed. Where `answer` fails, the request is answered with 500 and the failure is told as
 * unhandled: a caller would wait for its deadline, and no test would name the cause. A caller that is gone is no failure.
 */
export async function serving(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    void (async () => answer(request, response))().catch((error: unknown) => {
      if (!request.complete) return;
      if (!response.headersSent) response.writeHead(500);
      response.end();
      throw error;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
