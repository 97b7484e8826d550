import { expect, test } from "vitest";
import type { Config } from "../config/config.ts";
import { needsOf } from "./examine.ts";

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
