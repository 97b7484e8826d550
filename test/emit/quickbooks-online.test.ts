import { expect, test } from "vitest";
import { quickbooksOnlineBodies } from "./quickbooks-online.ts";

test("bodies of every kind keep the digits of their documents", async () => {
  const all = await quickbooksOnlineBodies(1, 20);
  const kinds = new Set(all.map(({ path }) => path.split("/")[0] ?? ""));
  expect(kinds).toEqual(
    new Set("bill billpayment customer estimate invoice payment purchaseorder vendor".split(" ")),
  );
  const amounts = all.flatMap(({ bytes }) => [...bytes.toString().matchAll(/"Amount":([^,}]+)/g)]);
  expect(amounts.length).toBeGreaterThan(100);
  for (const [, amount] of amounts) expect(amount).toMatch(/^-?\d+(?:\.\d{1,2})?$/);
});
