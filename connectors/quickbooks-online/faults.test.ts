/** Every status and fault code of QuickBooks Online, on a write: what becomes of the document, and of what is sent next. */
import { expect, test } from "vitest";
import type { Sink } from "../../src/core/contract.ts";
import { invoiceDocument, itemOf } from "../example/example.fixture.ts";
import { openCompany } from "./company-server.fixture.ts";
import { deliver, opened, settings } from "./quickbooks-online.fixture.ts";

const DONE = { outcome: "done" };
const refused = (code: string) => ({
  outcome: "refused",
  fault: { code, next: expect.stringMatching(/\w/) },
});
const stopped = (stop: string) => ({ outcome: "nothing", stop });
const later = (waitMs: number) => ({ outcome: "nothing", waitMs });
const UNKNOWN = { outcome: "unknown", holdMs: 60_000 };

interface Row {
  readonly status: number;
  readonly code?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly times?: number;
  /** What is written then; left out: the invoice. */
  readonly path?: RegExp;
  readonly becomes: object;
}

const gateway = JSON.stringify({ fault: { error: [{ code: "003001", message: "throttled" }] } });

/** As Intuit's gateways write it: small letters, and null for what there is not. */
const ofGateway = (code: unknown, message = "message=Refused; statusCode=400") =>
  JSON.stringify({
    warnings: null,
    fault: { error: [{ message, detail: null, code, element: null }], type: "SERVICE" },
    time: 1_795_420_000_000,
  });

/** As gateways write it to those who asked for JSON, too (routablehq/python-quickbooks, threads 43 and 120). */
const xml = (code: string, said: string): string =>
  '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>' +
  '<IntuitResponse time="2026-11-23T09:30:00.000-08:00" xmlns="http://schema.intuit.com/finance/v3">' +
  `<Fault type="SERVICE"><Error code="${code}"><Message>${said}</Message>` +
  "<Detail>The request limit was reached.  Try again later</Detail></Error></Fault></IntuitResponse>";
const throttledXml = (status: number): string =>
  xml("3001", `message=ThrottleExceeded; errorCode=003001; statusCode=${status}`);

const ROWS: readonly Row[] = [
  { status: 200, code: "6000", becomes: refused("business-rule") },
  { status: 400, code: "6000", becomes: refused("business-rule") },
  { status: 400, code: "2020", becomes: refused("wrong-reference") },
  { status: 400, code: "2170", becomes: refused("wrong-reference") },
  { status: 400, code: "2500", becomes: refused("wrong-reference") },
  { status: 400, code: "500", becomes: refused("unsupported") },
  { status: 400, code: "5020", becomes: refused("unsupported") },
  { status: 400, code: "5030", becomes: refused("unsupported") },
  { status: 400, code: "610", becomes: refused("not-in-quickbooks") },
  { status: 400, code: "6070", becomes: refused("does-not-add-up") },
  { status: 400, code: "6140", becomes: refused("number-in-use") },
  { status: 400, code: "6210", becomes: refused("closed-period") },
  { status: 400, code: "6540", becomes: refused("deposited") },
  { status: 400, code: "9999", becomes: refused("refused-by-quickbooks") },
  // Somebody was faster: it is read and tried again within the send.
  { status: 400, code: "600", becomes: DONE },
  { status: 400, code: "5010", becomes: DONE },
  // The name of another list: the customer is made with a suffix.
  { status: 400, code: "6240", path: /^customer /, becomes: DONE },
  { status: 401, code: "3200", becomes: DONE },
  { status: 401, code: "3200", times: 2, becomes: stopped("credentials") },
  { status: 400, code: "3200", becomes: stopped("credentials") },
  { status: 400, code: "120", becomes: stopped("credentials") },
  { status: 403, becomes: stopped("scope") },
  { status: 403, code: "9999", becomes: stopped("scope") },
  { status: 400, code: "6190", becomes: stopped("scope") },
  { status: 429, becomes: later(60_000) },
  { status: 429, headers: { "retry-after": "17" }, becomes: later(17_000) },
  {
    status: 429,
    headers: { "retry-after": "Mon, 23 Nov 2026 02:00:00 GMT" },
    becomes: later(60_000),
  },
  { status: 400, code: "003001", becomes: later(60_000) },
  { status: 400, code: "3001", becomes: later(60_000) },
  { status: 429, body: gateway, becomes: later(60_000) },
  { status: 400, body: gateway, becomes: later(60_000) },
  { status: 400, body: ofGateway("003001"), becomes: later(60_000) },
  { status: 400, body: ofGateway(3001), becomes: later(60_000) },
  {
    status: 400,
    body: ofGateway(null, "message=ThrottleExceeded; errorCode=003001; statusCode=429"),
    becomes: later(60_000),
  },
  { status: 429, body: throttledXml(429), becomes: later(60_000) },
  { status: 403, body: throttledXml(403), becomes: later(60_000) },
  { status: 401, body: xml("100", "General Authentication Error"), becomes: DONE },
  { status: 200, body: ofGateway(6210), becomes: refused("closed-period") },
  {
    status: 401,
    times: 2,
    headers: { "content-type": "text/html" },
    body: "<html>Unauthorized</html>",
    becomes: stopped("credentials"),
  },
  { status: 401, body: ofGateway("003200"), times: 2, becomes: stopped("credentials") },
  // It may have been carried out: it is looked for before anything goes again.
  { status: 500, becomes: UNKNOWN },
  { status: 502, body: "<html>Bad Gateway</html>", becomes: UNKNOWN },
  { status: 503, becomes: UNKNOWN },
  { status: 503, headers: { "retry-after": "5" }, becomes: UNKNOWN },
  { status: 504, becomes: UNKNOWN },
  { status: 500, code: "10000", becomes: UNKNOWN },
  { status: 400, becomes: UNKNOWN },
  { status: 404, becomes: UNKNOWN },
  {
    status: 200,
    body: "<html>Maintenance</html>",
    becomes: { outcome: "unknown", unanswered: true },
  },
  { status: 200, body: "{}", becomes: { outcome: "unknown", unanswered: true } },
];

test("each status and code has its consequence, and the same document goes once when QuickBooks is well again", async () => {
  const company = await openCompany();
  const sink = opened(settings(company)).sinks["invoices"] as Sink;
  for (const [at, { becomes, path = /^invoice /, ...says }] of ROWS.entries()) {
    const told = `HTTP ${says.status} ${says.code ?? says.body ?? ""}, row ${at}`;
    const number = `F-${at}`;
    const party = { code: `Customer ${at}`, name: `Customer ${at}`, companyId: `company-${at}` };
    const item = itemOf(invoiceDocument(number, { party }));
    const booked = () =>
      company.rows("Invoice").filter((row) => row["DocNumber"] === number).length;
    company.says = { path, ...says };
    expect(await deliver(sink, item), told).toMatchObject(becomes);
    expect(booked(), told).toBe(becomes === DONE ? 1 : 0);
    company.says = null;
    expect(await deliver(sink, item), told).toMatchObject(DONE);
    expect(booked(), told).toBe(1);
  }
});

test("a read that fails proves nothing: nothing is written, and the document waits", async () => {
  const company = await openCompany();
  const sink = opened(settings(company)).sinks["invoices"] as Sink;
  for (const [at, status] of [400, 404, 500, 502, 503, 504].entries()) {
    company.says = { path: /^query SELECT \* FROM Invoice/, status };
    const item = itemOf(invoiceDocument(`R-${at}`));
    expect(await deliver(sink, item), `HTTP ${status}`).toMatchObject({ outcome: "nothing" });
  }
  expect(company.rows("Invoice")).toEqual([]);
});
