import { describe, expect, test } from "vitest";
import { never, usePlatform } from "../../test/platform/support.ts";
import { platformSinks, platformSources } from "./endpoint.ts";

const platform = usePlatform();
const { control } = platform;

test("what the configuration may name is what there is", () => {
  const { sources, sinks } = platform.endpoint();
  expect(Object.keys(sources)).toEqual(platformSources);
  expect(Object.keys(sinks)).toEqual(platformSinks);
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

  test("somebody else's address: the answer is no list of the platform", async () => {
    await control.fault({ kind: "garbage" });
    await expect(checked()).rejects.toThrow(/is no address of the platform's API/);
    await expect(
      checked({ url: platform.urls().baseUrl.replace("/v1/public", "/v2/public") }),
    ).rejects.toThrow(/404/);
  });
});
