import { describe, expect, onTestFinished, test } from "vitest";
import { never, usePlatform } from "../../test/platform/support.ts";
import { serving } from "../../test/support/http.ts";
import type { Cell, Needs } from "../core/contract.ts";
import type { SourceUnavailable } from "../core/errors.ts";
import { platformOffers } from "./parts.ts";

const platform = usePlatform();
const { control } = platform;

test("what the configuration may name is what there is", () => {
  const { sources, sinks } = platform.endpoint();
  expect(Object.keys(sources)).toEqual(Object.keys(platformOffers.sources));
  expect(Object.keys(sinks)).toEqual(Object.keys(platformOffers.sinks));
});

test("no two sinks write under one operation: it is part of every key", () => {
  const operations = Object.values(platform.endpoint().sinks).map(({ operation }) => operation);
  expect(operations).toEqual([
    "invoice.create",
    "customer.create",
    "supplier.create",
    "rack-price.upsert",
    "invoice.mark-paid",
    "delivery-ticket.upsert",
    "delivery-ticket.sign",
    "freight-rate.upsert",
    "freight-rate.delete",
    "supplier-terminal.upsert",
    "order-note.create",
  ]);
});

test("the configuration's settling time is every sink's, and reads lie no further apart", () => {
  for (const sink of Object.values(platform.endpoint({ settleMs: 5_000 }).sinks))
    expect(sink.policy).toMatchObject({ settleMs: 5_000, readGapMs: 5_000 });
  const { invoices, rackPrices } = platform.endpoint().sinks;
  expect(invoices?.policy).toMatchObject({ settleMs: 900_000, readGapMs: 60_000, preflight: true });
  expect(rackPrices?.policy).toMatchObject({ settleMs: 300_000, reads: 1, resend: "anew" });
});

test("of writes that a worker sends eight times as many are under way at once", () => {
  const atOnce = (options = {}) => platform.endpoint(options).sinks["invoices"]?.atOnce;
  expect(atOnce()).toBeUndefined();
  expect(atOnce({ carry: async () => ({ kind: "not-sent", detail: "" }) })).toBe(32);
});

describe("the check", () => {
  const checked = (options = {}) => platform.endpoint(options).check(never);

  test("passes when the platform answers to the key, with one request", async () => {
    await expect(checked()).resolves.toBeUndefined();
    expect(await control.requests()).toMatchObject([
      { path: "/invoices", query: { pageSize: "1" } },
    ]);
  });

  test("a wrong key says so", async () => {
    await expect(checked({ apiKey: "svc_live_of-nobody" })).rejects.toMatchObject({
      stop: "credentials",
      message: expect.stringContaining("401 INVALID_API_KEY") as string,
    });
  });

  test("nobody there: the network is named", async () => {
    await expect(checked({ url: "http://127.0.0.1:1/v1/public" })).rejects.toMatchObject({
      message: expect.stringContaining("ECONNREFUSED") as string,
      next: expect.stringContaining("network") as string,
    });
  });

  test("a wrong path: what came back, and what the path looks like", async () => {
    await control.fault({ kind: "garbage" });
    await expect(checked()).rejects.toMatchObject({
      message: expect.stringMatching(/ answered 200 with /) as string,
    });
    const { baseUrl } = platform.urls();
    await expect(checked({ url: baseUrl.replace("/v1/public", "/api") })).rejects.toMatchObject({
      stop: "configuration",
      message: `${baseUrl.replace("/v1/public", "/api")} answered 404 with application/json.`,
      next: expect.stringContaining(
        `${baseUrl}, if the host is right. Its path is "/api" now.`,
      ) as string,
    });
  });

  test.each([
    [200, { "content-type": "text/html" }, 'an HTML page "Sign in"', "/v1/public"],
    [404, { "content-type": "text/html; charset=utf-8" }, "404 with an HTML page", "/v1/public"],
    [
      302,
      { location: "/login?session=s3cret" },
      "a redirect (302) to http://",
      "Redirects are not",
    ],
    [407, {}, "407 with", "A proxy on the way asks for a login"],
    [502, { "content-type": "text/html" }, "502 with an HTML page", "a gateway or a proxy"],
  ])("%i %j is no answer of the API's", async (status, headers, what, next) => {
    const { url: origin, close } = await serving((_, response) => {
      response.writeHead(status, headers).end("<html><title>Sign\n in</title></html>");
    });
    onTestFinished(close);
    for (const environment of ["live", "test"] as const) {
      const url = `${origin}/v1/public`;
      const apiKey = `svc_${environment}_key`;
      const error = (await checked({ url, environment, apiKey }).catch(
        (thrown: unknown) => thrown,
      )) as SourceUnavailable;
      expect(error).toMatchObject({ name: "SourceUnavailable", stop: "configuration" });
      expect(error.message).toContain(what);
      expect(error.message).not.toContain("s3cret");
      expect(error.next).toContain(next);
    }
  });
});

describe("the examination", () => {
  const cellsOf = (file: string, ...values: string[]): Cell[] =>
    values.map((value, at) => ({
      key: `k${at}`,
      value,
      file: `crossref/${file}.csv`,
      line: at + 2,
    }));

  test("names that the platform does not know yet are noted; the table's own company must be the key's", async () => {
    const us = platform.company("supplier");
    await control.records("supplier-terminals", [{ terminalCode: "T-76-TX-2799" }]);
    await control.records("rack-prices", [{ terminalId: "T-76-TX-2799", product: "ULSD" }]);
    await control.records("invoices", [{}]);
    const examined = async (company: string) => {
      const ofTables: Record<string, readonly Cell[]> = {
        terminals: cellsOf("terminals", "T-76-TX-2799", "T-1"),
        products: cellsOf("products", "ULSD", "ULSD"),
      };
      const needs: Needs = {
        parts: new Set(["rackPrices"]),
        ourselves: cellsOf("own-company", company),
        column: (table) => ofTables[table] ?? [],
        days: [],
      };
      const all = (await platform.endpoint().examine?.(never, needs)) ?? [];
      return all.map(({ what, fault, note }) => [what, fault?.message ?? note ?? "ok"]);
    };
    const other = "00000000-0000-4000-8000-000000000001";
    const names = [
      [
        "crossref/terminals.csv: 2 terminals",
        "new to the platform, which takes them as they are written: T-1 (line 3)",
      ],
      ["crossref/products.csv: 1 product", "ok"],
    ];
    const own = "crossref/own-company.csv line 2: our own company";
    expect(await examined(us)).toEqual([[own, "ok"], ...names]);
    expect((await examined(other))[0]).toEqual([
      own,
      `the API key is of the company ${us}, the table says ${other}`,
    ]);
  });
});
