import { hash } from "node:crypto";
import { expect, test } from "vitest";
import { quickbooksOnlineBodies } from "./quickbooks-online.ts";

const digest = async (seed: number): Promise<string> => {
  const all = await quickbooksOnlineBodies(seed, 3);
  return hash("sha256", all.map(({ path, bytes }) => `${path} ${bytes.toString()}`).join("\n"));
};

test("bodies of every kind are the same with one seed, and keep the digits of their documents", async () => {
  expect(await digest(7)).toBe(await digest(7));
  expect(await digest(8)).not.toBe(await digest(7));
  const all = await quickbooksOnlineBodies(1, 20);
  const kinds = new Set(all.map(({ path }) => path.split("/")[0] ?? ""));
  expect(kinds).toEqual(
    new Set("bill billpayment customer estimate invoice payment purchaseorder vendor".split(" ")),
  );
  const amounts = all.flatMap(({ bytes }) => [...bytes.toString().matchAll(/"Amount":([^,}]+)/g)]);
  expect(amounts.length).toBeGreaterThan(100);
  for (const [, amount] of amounts) expect(amount).toMatch(/^-?\d+(?:\.\d{1,2})?$/);
});
