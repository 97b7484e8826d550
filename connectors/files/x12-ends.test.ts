/** What `fuelbridge check` says of the settings of X12. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { FilesConfig } from "./config.ts";
import { offersOf } from "./index.ts";

const manual = readFileSync(new URL("../../docs/x12.md", import.meta.url), "utf8");
const example = /```yaml\n(.*?)```/s.exec(manual)?.[1] ?? "";
const { connector, ...endpoint } = (
  parse(example) as { endpoints: { edi: Record<string, unknown> } }
).endpoints.edi;

/** The example of docs/x12.md with one part of its first sink or source changed. */
const issues = (part: "sinks" | "sources", change: object, x12: object = {}): string[] => {
  const [[name, own]] = Object.entries(endpoint[part] as object) as [[string, { x12: object }]];
  const changed = { ...own, ...change, x12: { ...own.x12, ...x12 } };
  const result = FilesConfig.safeParse({ ...endpoint, [part]: { [name]: changed } });
  return (result.error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
};

test("the example of docs/x12.md is a configuration, and says what its ends offer", () => {
  expect(connector).toBe("files");
  const { sources, sinks } = offersOf(FilesConfig.parse(endpoint), "/");
  expect(sinks["invoices"]?.form).toBe("files.customer-invoices");
  expect(sources["remittances"]?.form).toBe("books.paidInvoices");
  const folders = [
    ...(sinks["invoices"]?.folders ?? []),
    ...(sources["remittances"]?.folders ?? []),
  ];
  expect(folders.map(({ path }) => path)).toEqual([
    "/srv/edi",
    "/srv/edi/out",
    "/srv/edi/out.staging",
    "/srv/edi/in",
    "/srv/edi/in/archive",
    "/srv/edi/in/failed",
    "/srv/edi",
    "/srv/edi/in",
    "/srv/edi/in/archive",
    "/srv/edi/in/failed",
    "/srv/edi/out",
    "/srv/edi/out.staging",
  ]);
});

test("a sink whose acknowledgements nobody reads is complained of", () => {
  const { sinks } = endpoint as { sinks: { invoices: object } };
  const complaints = (change: object) =>
    offersOf(
      FilesConfig.parse({
        ...endpoint,
        sources: {},
        sinks: { it: { ...sinks.invoices, acknowledgements: undefined, ...change } },
      }),
      "/",
    ).complaints;
  expect(complaints({})).toMatchObject([{ setting: ["sinks", "it", "acknowledgements"] }]);
  expect(complaints({ acknowledgeWithin: "never" })).toEqual([]);
});

describe("refused", () => {
  test.each([
    ["sinks", { document: "delivery-tickets" }, {}, /document: .*customer-invoices/],
    ["sinks", { acknowledgeWithin: "soon" }, {}, /acknowledgeWithin/],
    ["sinks", { itemsMax: 2 }, {}, /itemsMax: more than one document/],
    ["sinks", {}, { usage: "live" }, /x12\.usage/],
    ["sinks", {}, { version: "003030" }, /x12\.version/],
    ["sinks", {}, { us: { id: "supplier" } }, /x12\.us\.id: is 2 to 15 capitals/],
    ["sinks", {}, { separators: { element: "~" } }, /separators: has the same character twice/],
    ["sinks", {}, { separators: { element: "A" } }, /separators\.element/],
    ["sources", { layout: "books.invoices" }, {}, /x12\.ourCode: is missing/],
    ["sources", { layout: "books.parties" }, {}, /layout/],
  ] as const)("%s %o %o", (part, change, x12, expected) => {
    expect(issues(part, change, x12).join("\n")).toMatch(expected);
  });
});
