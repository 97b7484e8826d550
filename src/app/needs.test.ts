import { expect, test } from "vitest";
import type { Config } from "../config/config.ts";
import { examineTables, needsOf } from "./examine.ts";

const offers = () => ({
  sources: {},
  sinks: { invoices: { form: "books.invoices", pdf: "invoiceFiles" } },
});
const flow = {
  name: "invoices-issued",
  mapping: "invoices",
  from: { endpoint: "platform", name: "invoices" },
  to: { endpoint: "books", name: "invoices" },
};

test.for([
  { attach: "pdf", parts: ["invoices", "invoiceFiles"] },
  { attach: undefined, parts: ["invoices"] },
])("with attach $attach an endpoint is examined for the parts $parts", ({ attach, parts }) => {
  const config = {
    file: "fuelbridge.yaml",
    folder: ".",
    currency: "USD",
    crossReferences: "crossref",
    mappings: [],
    flows: [{ ...flow, attach }],
    endpoints: [{ name: "books", connector: { offers }, settings: {} }],
  } as unknown as Config;
  expect([...needsOf(config, { rows: () => [] }, [], "books").parts]).toEqual(parts);
  expect([...needsOf(config, { rows: () => [] }, [], "platform").parts]).toEqual(["invoices"]);
});

test("a table that is not there is told with the columns of all flows that read it", () => {
  const reading = (name: string, ...columns: readonly [string, ...string[]]) =>
    ({ name, tables: { sites: columns } }) as unknown as Config["mappings"][number];
  const running = (name: string, mapping: string) =>
    ({ name, mapping, paused: false }) as unknown as Config["flows"][number];
  const config = {
    crossReferences: "/site/crossref",
    mappings: [reading("a", "code", "siteId"), reading("b", "code", "terminal")],
    flows: [running("orders", "a"), running("tickets", "b")],
  };
  const [told] = examineTables(config, [], { rows: () => [] });
  expect(told?.fault).toMatchObject({
    message: "there is no such table, and orders and tickets read it",
    next: "Create it with the header row code,siteId,terminal.",
  });
});
