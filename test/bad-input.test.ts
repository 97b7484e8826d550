/** Documents that the platform must not get, or does not take, through the whole product. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../src/core/errors.ts";
import type { FlowStatus, Quarantined, QuarantineGroup, Status } from "../src/office/answers.ts";
import { atWork, only, type Site } from "./support/site.ts";

const SLOW = 600_000;
/** What the demo's ERP sends. */
const TO_PLATFORM = ["customers", "suppliers", "rack-prices", "invoices", "paid-invoices"];

/** Changes a file that was exported and not yet read. */
function spoil(site: Site, name: string, change: (text: string) => string): void {
  const path = join(site.demo, "erp", "export", name);
  const before = readFileSync(path, "utf8");
  const after = change(before);
  if (after === before) throw new Error(`${name} is as before`);
  writeFileSync(`${path}.tmp`, after);
  renameSync(`${path}.tmp`, path);
}

interface Case {
  readonly what: string;
  /** The number of its delivery. */
  readonly number: string;
  readonly code: string;
  /** In the sentence, with the bad value. */
  readonly says: RegExp;
  readonly field: string | null;
}

const cases: readonly Case[] = [
  {
    what: "a price of 0",
    number: "T-75-TX-2661|089",
    code: "zero-price",
    says: /the price is 0/,
    field: "price",
  },
  {
    what: "a price above 999,999",
    number: "T-75-TX-2661|087",
    code: "price-too-high",
    says: /the price 1,000,000.00 is above 999,999.00/,
    field: "price",
  },
  {
    what: "an unknown unit",
    number: "T-75-TX-2661|KERO-K1",
    code: "unknown-unit",
    says: /the unit "drum" of KERO-K1 is none of gal, ltr, bbl, mt/,
    field: "unit",
  },
  {
    what: "a name of 201 characters",
    number: "000101",
    code: "too-long",
    says: /Name has 201 characters, the platform takes 200/,
    field: "Name",
  },
  {
    what: "an e-mail address without an @",
    number: "000102",
    code: "bad-email",
    says: /"ap\.omalleyomalley\.example" is not an address/,
    field: "E-Mail",
  },
  {
    what: "an invoice number that was used before with other amounts",
    number: "INV-2026-00016",
    code: "number-taken",
    says: /under this number: invoice number INV-2026-00016 is used by .*total 1\.5 instead of 31063\.85/,
    field: null,
  },
  {
    what: "an invoice whose customer does not exist",
    number: "INV-2026-00015",
    code: "waits-for-unread",
    says: /waits for customer 999999/,
    field: null,
  },
];

test(
  "each bad document is quarantined with its code, field, value and what to do; nothing else waits for it",
  { timeout: SLOW },
  async () => {
    const site = await atWork(only(...TO_PLATFORM));
    spoil(site, "price-lists.csv", (text) =>
      text.replace(",2.3210,", ",0,").replace(",2.158101,", ",1000000,"),
    );
    spoil(site, "customers.csv", (text) =>
      text
        .replace(`"""Big Jim's"" Truck Stop, Inc."`, "J".repeat(201))
        .replace("ap@omalleyomalley.example", "ap.omalleyomalley.example"),
    );
    spoil(site, "customer-invoices.csv", (text) =>
      text.replace("10/13/2026,000133,", "10/13/2026,999999,"),
    );
    const products = join(site.folder, "config", "crossref", "products.csv");
    writeFileSync(
      products,
      readFileSync(products, "utf8").replace(/^(KERO-K1,[^,]*),gal/m, "$1,drum"),
    );
    const lineItems = [{ description: "by hand", amount: 1.5 }];
    await site.control.records("invoices", [
      { invoiceNumber: "INV-2026-00016", subtotal: 1.5, tax: 0, total: 1.5, lineItems },
    ]);

    expect(await site.here("once")).toMatchObject({ code: exitCodes.ok });
    const { groups } = await site.ask<{ groups: QuarantineGroup[] }>("quarantine", "list");
    const found = new Map<string, { group: QuarantineGroup; one: Quarantined }>();
    for (const group of groups) {
      const shown = await site.ask<{ deliveries: Quarantined[] }>("quarantine", "show", group.id);
      for (const one of shown.deliveries) found.set(one.number, { group, one });
    }
    for (const { what, number, code, says, field } of cases) {
      const quarantined = found.get(number);
      expect(quarantined?.group, what).toMatchObject({ code });
      expect(quarantined?.one.cause, what).toMatch(says);
      expect(quarantined?.group.next, what).not.toBe("");
      expect(quarantined?.one.field, what).toBe(field);
    }
    const { flows } = await site.ask<Status>("status");
    const open = flows.filter(({ pending }: FlowStatus) => pending > 0);
    expect(open.map(({ name }) => name)).toEqual([]);
  },
);
