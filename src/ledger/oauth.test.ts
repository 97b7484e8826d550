/** Tokens of an application over a token address and an interface of the test's own. */
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { serving } from "../../test/support/http.ts";
import { clientCredentials, openRest } from "./rest.ts";

const never = new AbortController().signal;
const CLIENT = { clientId: "client", clientSecret: "secret", scope: "books" };

/** Tokens are numbered, and only the last one is good. */
async function opened(token: (count: number) => [status: number, body: object]) {
  const asked: string[] = [];
  let [count, revoked] = [0, 0];
  const { url, close } = await serving(async (request, response) => {
    const form = Buffer.concat(await request.toArray()).toString();
    const isToken = request.url === "/token";
    if (isToken) count++;
    const isGood = request.headers.authorization === `Bearer token-${count}` && count > revoked;
    asked.push(`${request.url} ${isToken ? form : request.headers.authorization}`);
    const [status, body] = isToken ? token(count) : [isGood ? 200 : 401, { next: "" }];
    response.writeHead(status).end(JSON.stringify(body));
  });
  let now = 0;
  const rest = openRest({
    url: `${url}/books`,
    deadlineMs: 5_000,
    headers: clientCredentials({ url: `${url}/token`, ...CLIENT }, () => new Date(now)),
    error: z.object({ code: z.string(), message: z.string() }),
  });
  onTestFinished(async () => {
    await rest.close();
    await close();
  });
  return {
    asked,
    read: () => rest.call("/parties", null, z.unknown(), never),
    revoke: () => void (revoked = count),
    later: (ms: number) => void (now += ms),
  };
}

const good = (count: number): [number, object] => [
  200,
  { access_token: `token-${count}`, expires_in: 3600 },
];
const tokensOf = (asked: readonly string[]) => asked.filter((one) => one.startsWith("/token"));

test("one token serves until shortly before its end, and one that is refused is replaced once", async () => {
  const { asked, read, revoke, later } = await opened(good);
  await Promise.all([read(), read()]);
  expect(tokensOf(asked)).toEqual([
    "/token grant_type=client_credentials&client_id=client&client_secret=secret&scope=books",
  ]);
  later(54 * 60_000);
  await read();
  expect(tokensOf(asked)).toHaveLength(1);
  later(2 * 60_000);
  await read();
  expect(tokensOf(asked)).toHaveLength(2);
  revoke();
  await read();
  expect(tokensOf(asked)).toHaveLength(3);
});

test.each([
  ["a wrong secret", 401, { error: "invalid_client" }, "answered", "invalid_client"],
  ["a gateway that fails", 502, {}, "not-sent", null],
  ["an answer in another form", 200, { token: "x" }, "not-sent", null],
] as const)("%s has sent nothing of a document", async (_, status, body, phase, code) => {
  const { asked, read } = await opened(() => [status, body]);
  await expect(read()).rejects.toMatchObject({ phase, code });
  expect(tokensOf(asked)).toEqual(asked);
});

test("a token address that answers with more than any token has gives none", async () => {
  const { read } = await opened((count) => [
    200,
    { access_token: `token-${count}`, expires_in: 3_600, more: "x".repeat(70_000) },
  ]);
  await expect(read()).rejects.toMatchObject({ phase: "not-sent" });
});
