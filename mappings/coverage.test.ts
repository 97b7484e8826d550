/**
 * What `fuelbridge map` says of the shipped mappings: every field of a record is read or left out on purpose (`leaves`),
 * and every field of a document is filled for some record or left out on purpose.
 */
import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { isLongRun, numbers } from "../test/support/runs.ts";
import type { Mapping } from "../src/core/contract.ts";
import { parseExact } from "../src/core/json.ts";
import { readCases, referencesOf } from "../src/mapping/cases.ts";
import { explain, type Explanation } from "../src/mapping/explain.ts";
import { companies } from "../src/sandbox/scenes/companies.ts";
import { demo } from "../src/sandbox/scenes/demo.ts";
import { mappings } from "./index.ts";
import { everything } from "./references.fixture.ts";

const { records } = demo(new Date("2026-11-21T12:00:00Z"));
const us = companies.supplier.id;

/** The sandbox's month, by the form that a mapping reads. */
const SANDBOX: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>> = {
  "platform.orders": records.orders,
  "platform.deliveryTickets": records["delivery-tickets"],
  "platform.invoicesIssued": records.invoices.filter((one) => one["companyId"] === us),
  "platform.invoicesPayable": records.invoices.filter((one) => one["payerCompanyId"] === us),
  "platform.paymentsReceived": records.payments,
  "platform.paymentsMade": records.payments,
  "platform.rackPrices": records["rack-prices"],
  "platform.supplierTerminals": records["supplier-terminals"],
  "platform.locations": records.locations,
  "platform.allocations": records.allocations,
  "platform.connections": records.connections,
};

const cases = globSync("*/cases/*.json", { cwd: import.meta.dirname }).map((file) =>
  readCases(join(import.meta.dirname, file)),
);

/** The sandbox's records, in the ordinary run each third of them, and those of the mapping's cases. */
function explanations(mapping: Mapping): Explanation[] {
  const options = mapping.options?.parse({});
  const chosen = (SANDBOX[mapping.reads ?? ""] ?? []).filter((_, at) => isLongRun || at % 3 === 0);
  const sandbox = chosen.map((record) =>
    explain(mapping, parseExact(JSON.stringify(record)), {
      references: everything(us),
      options,
    }),
  );
  const own = cases
    .filter((one) => one.mapping === mapping.name)
    .flatMap((one) => one.cases)
    .map((one) => explain(mapping, one.record, { references: referencesOf(one), options }));
  return [...sandbox, ...own].filter(({ outcome }) => outcome.is === "document");
}

/** Fields that are new to us, as records of the sandbox and some cases have them, are nobody's yet. */
const isIn =
  (properties: object) =>
  (path: string): boolean =>
    Object.hasOwn(properties, path.split(".")[0] ?? "");

test.each(mappings.map((mapping) => [mapping.name, mapping] as const))(
  "%s reads every field of a record and fills every field of a document, or leaves it out on purpose",
  numbers,
  (_, mapping) => {
    const all = explanations(mapping);
    expect(all.length).toBeGreaterThan(0);
    const { properties = {} } = z.toJSONSchema(mapping.input, {
      io: "input",
      unrepresentable: "any",
    });
    const unread = new Set(all.flatMap((one) => one.unread.warned).filter(isIn(properties)));
    const empty = all[0]?.empty.warned.filter((path) =>
      all.every((one) => one.empty.warned.includes(path)),
    );
    expect({ unread: [...unread].toSorted(), empty }).toEqual({
      unread: [],
      empty: [],
    });
  },
);
