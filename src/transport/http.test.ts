import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { openHttp, TransportError } from "./http.ts";

test("a server is offered HTTP/1.1 alone: over HTTP/2 the client sends a request a second time by itself", async () => {
  const told = Promise.withResolvers<string>();
  const server = createServer((socket) =>
    socket.once("data", (hello) => {
      told.resolve(hello.toString("latin1"));
      socket.destroy();
    }),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const http = openHttp({ origin, connections: 1, headersMs: 5_000, bodyMs: 5_000 });
  const { signal } = new AbortController();
  const asked = http.ask({ method: "GET", path: "/", headers: {}, body: null, signal });
  await expect(asked).rejects.toThrow(TransportError);
  expect(await told.promise).toContain("\u0008http/1.1");
  expect(await told.promise).not.toContain("\u0002h2");
  await http.close();
  server.close();
});
