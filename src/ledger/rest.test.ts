/** One exchange with an ERP over HTTP, and what a failed one proves. */
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { serving } from "../../test/support/http.ts";
import { Decimal } from "../core/decimal.ts";
import { decimal } from "./documents.ts";
import { LedgerError } from "./port.ts";
import { openRest } from "./rest.ts";

const never = new AbortController().signal;
const Total = z.object({ total: decimal });

/** Answers each path as given. */
async function opened(
  answers: Record<string, [status: number, body: string, wait?: string | undefined]>,
) {
  const { url, close } = await serving((request, response) => {
    const [status, body, wait] = answers[`${request.method} ${request.url}`] ?? [404, ""];
    response.writeHead(status, wait === undefined ? {} : { "retry-after": wait }).end(body);
  });
  const rest = openRest({
    url: `${url}/erp/`,
    deadlineMs: 5_000,
    headers: {},
    error: z.object({ code: z.string(), message: z.string() }),
  });
  onTestFinished(async () => {
    await rest.close();
    await close();
  });
  return rest;
}

test("an answer is read with exact numbers, below the address that the configuration names", async () => {
  const rest = await opened({ "GET /erp/invoices/1": [200, '{"total": 19934.080}'] });
  const { total } = await rest.call("/invoices/1", null, Total, never);
  expect(total).toEqual(Decimal.of("19934.080"));
});

test.each([
  ["says no", 422, '{"code":"closed","message":"the period is closed"}', undefined, "answered"],
  ["is busy for a while", 429, "", "7", "answered"],
  ["answers in another form", 200, '{"total":"much"}', undefined, "torn"],
  ["answers with no JSON", 200, "<html>", undefined, "torn"],
] as const)("an ERP that %s is told as what it proves", async (_, status, body, wait, phase) => {
  const rest = await opened({ "POST /erp/invoices": [status, body, wait] });
  const failed = await rest.call("/invoices", {}, Total, never).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(LedgerError);
  expect(failed).toMatchObject({
    phase,
    ...(status === 422
      ? { status, code: "closed", message: expect.stringContaining("period is closed") }
      : {}),
    ...(wait === undefined ? {} : { waitMs: 7_000 }),
  });
});

test.each([429, 200])("what was asked for stays out of what people read of %i", async (status) => {
  const path = "/invoices?filters=%5B%5B%22modified%22%5D%5D";
  const rest = await opened({ [`GET /erp${path}`]: [status, "Too Many Requests"] });
  const failed = await rest.call(path, null, Total, never).catch((error: unknown) => error);
  expect((failed as Error).message).toMatch(/^\/invoices: /);
});

test("an ERP that is not there got nothing", async () => {
  const rest = openRest({
    url: "http://127.0.0.1:9",
    deadlineMs: 5_000,
    headers: {},
    error: z.any(),
  });
  await expect(rest.call("/invoices", {}, Total, never)).rejects.toMatchObject({
    phase: "not-sent",
  });
  await rest.close();
});

test("a link of an answer is followed below the configured address, whatever host it names", async () => {
  const rest = await opened({ "GET /erp/invoices?page=2": [200, '{"total": 1}'] });
  const path = rest.pathIn("https://elsewhere.example/erp/invoices?page=2");
  await expect(rest.call(path, null, Total, never)).resolves.toMatchObject({});
  expect(() => rest.pathIn("https://elsewhere.example/other")).toThrow(/another address/);
});
