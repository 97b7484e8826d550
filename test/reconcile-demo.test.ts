/** `reconcile` with the shipped demo configuration while some of its exports have not come yet. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Report } from "../src/reconcile/report.ts";
import { atWork } from "./support/site.ts";

test("before the first list of payments, and without customers, everything else is compared; both are named with files and what to do", async () => {
  const site = await atWork();
  const exports = join(site.demo, "erp", "export");
  for (const name of readdirSync(exports))
    if (/^(?:paid-invoices|customers)/.test(name)) rmSync(join(exports, name));
  const { out, code } = await site.here("reconcile");
  expect(code).toBe(1);
  const missing = (kind: string, source: string, layout: string, files: string): RegExp =>
    new RegExp(
      `^NOT COMPARED: erp: ${kind}, source "${source}".*: There is no export of tryton-export/${layout} in .*, read or unread \\(${files}\\)\\. Export it in the ERP, `,
      "m",
    );
  expect(out).toMatch(missing("invoices", "paid", "customer-invoices", "paid-invoices\\*\\.csv"));
  expect(out).toMatch(missing("parties", "customers", "customers", "customers\\*\\.csv"));
  const { data } = JSON.parse((await site.here("reconcile", "--json")).out) as { data: Report };
  expect(data.state).toBe("done");
  expect(new Set(data.cases.map(({ kind }) => kind))).toEqual(
    new Set(["invoice", "bill", "order", "ticket", "party", "price"]),
  );
});
