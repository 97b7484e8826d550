/** What a site can change of a shipped mapping, and what it cannot; and that its cases notice. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { readCases, referencesOf, runCase } from "./cases.ts";
import { defineMapping, extend, shippedMapping, skip, z } from "./index.ts";

const { cases } = readCases(
  join(import.meta.dirname, "../../mappings/canonical/cases/customer-invoices.json"),
);
const issued = cases.find(({ name }) => name === "outstanding") ?? raise();
function raise(): never {
  throw new Error("there is no such case");
}

const NAME = "canonical/customer-invoices";
const name = "site/invoices";

test("an extension that changes nothing holds every case of the shipped mapping", () => {
  const same = extend(NAME, { name });
  for (const one of cases) expect(runCase(same, one), one.name).toEqual([]);
});

test("a case notices another field, another number, another amount, and another outcome", () => {
  const notes = extend(NAME, { name, fields: { notes: "x" } });
  expect(runCase(notes, issued)).toEqual(["document.notes: expected null, got x"]);
  const number = extend(NAME, {
    name,
    number: (invoice) => `P-${invoice.invoiceNumber}`,
    fields: { number: ({ record }) => `P-${record.invoiceNumber}` },
  });
  expect(runCase(number, issued)).toHaveLength(2);
  const cheaper = extend(NAME, {
    name,
    fields: { total: ({ document }) => document.total.negated() },
  });
  expect(runCase(cheaper, issued)[0]).toMatch(/^amount: expected /);
  const none = extend(NAME, { name, document: () => skip("never") });
  expect(runCase(none, issued)).toEqual(["expected a document, got a skip (never)"]);
});

test.each([
  ["its id", { fields: { id: "1" } }, "id"],
  ["its number in the document alone", { fields: { number: "1" } }, "number"],
  ["its number beside the document alone", { number: () => "1" }, "number"],
])("a document keeps its identity: an extension that changes %s is refused", (_, change, field) => {
  const broken = { ...issued, expected: { refused: { code: "identity-changed", field } } };
  expect(runCase(extend(NAME, { name, ...change }), broken)).toEqual([]);
});

test("options of an extension join those of the mapping that it extends, and both are checked", () => {
  const schema = z.strictObject({ prefix: z.string() });
  const both = extend("books/orders", { name: "site/orders", options: schema }).options;
  const company = "fd8815fe-a5ee-450d-8b2e-c22e5d6f9056";
  expect(both?.safeParse({ prefix: "a", company }).success).toBe(true);
  expect(both?.safeParse({ prefix: "a", company: "us" }).success).toBe(false);
  expect(both?.safeParse({ company }).success).toBe(false);
});

const rule = { code: "a", message: "m", next: "n" };

test.each([
  ["that is none", { only: true }, "is wrong in only, which must be a function"],
  ["of another name", { filter: () => true }, "has no part filter"],
  [
    "without its parts",
    { rules: [{ code: "a" }] },
    "has no rules.0.broken; has no rules.0.message",
  ],
  [
    "that names an unknown field",
    { fields: { contractNumbr: "A" } },
    "have no field contractNumbr",
  ],
  ["with an amount in floating point", { fields: { total: 12.5 } }, "total of fields does not fit"],
])("an extension with a part %s is refused where it is defined", (_, change, message) => {
  expect(() => extend(NAME, { name, ...change } as never)).toThrow(message);
});

test("a filter is asked of what the other side has not: what was delivered goes on", () => {
  const mapping = extend(NAME, { name, only: () => "not ours" });
  const record = mapping.input.parse(issued.record);
  const references = referencesOf(issued);
  expect(mapping.map(record, references)).toEqual(skip("not ours"));
  expect(mapping.map(record, { ...references, isThere: true })).toMatchObject({
    number: mapping.number(record),
  });
});

test.each([
  ["a filter that forgot to return", { only: () => undefined }, "only returned undefined"],
  ["a filter that returns false", { only: () => false }, "only returned false"],
  ["a filter that is a promise", { only: () => Promise.resolve(true) }, "only returned a promise"],
  [
    "a rule that forgot to return",
    { rules: [{ ...rule, broken: () => undefined }] },
    "the rule a returned undefined, and must return true or false",
  ],
  [
    "a document that forgot to return",
    { document: () => undefined },
    "document returned undefined",
  ],
  [
    "a field of a line that nothing would be sent of",
    {
      document: ({ document }: { document: { lines: object[] } }) => ({
        ...document,
        lines: document.lines.map((line) => ({ ...line, itm: "x" })),
      }),
    },
    "have no field lines.itm",
  ],
])("what no type checks is no document: %s", (_, change, message) => {
  expect(() => runCase(extend(NAME, { name, ...change } as never), issued)).toThrow(message);
});

test("a case whose options do not fit is a case that does not hold", () => {
  const options = z.strictObject({ prefix: z.string() });
  expect(runCase(extend(NAME, { name, options }), issued)).toEqual([
    expect.stringContaining("got a refusal (does-not-fit: options.prefix: "),
  ]);
});

const own = { ...shippedMapping(NAME), name };

test.each([
  [
    "another kind than the shipped one to the same sink",
    { ...own, kind: "order-note" as const },
    /kind order-note/,
  ],
  ["a kind that nothing knows", { ...own, kind: "note" as "order-note" }, /does not know/],
  ["no protection of posted amounts", { ...own, posts: false }, /without posts: true/],
  ["the name of a shipped one", { ...own, name: NAME }, /comes with fuelbridge/],
  ["no schema", { ...own, output: undefined as never }, /has no output/],
  ["a part that there is none of", { ...own, table: {} }, /has no part table/],
])("a new mapping with %s is refused", (_, mapping, message) => {
  expect(() => defineMapping(mapping)).toThrow(message);
});
