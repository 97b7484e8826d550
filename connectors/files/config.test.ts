import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { FilesConfig } from "./config.ts";
import { offersOf } from "./index.ts";
import { mappings } from "../../mappings/index.ts";
import { picks } from "../../test/files/source.ts";

const issue = (source: Record<string, unknown>) =>
  FilesConfig.safeParse({ folder: "in", sources: { it: source } }).error?.issues[0]?.message;

test.each(["sample.yaml", "sftp.yaml"])("%s is a configuration of this connector", (name) => {
  const text = readFileSync(new URL(name, import.meta.url), "utf8");
  const { endpoints } = parse(text) as { endpoints: { books: Record<string, unknown> } };
  const { connector, ...section } = endpoints.books;
  expect(connector).toBe("files");
  const config = FilesConfig.parse(section);
  expect([config.sftp === undefined, Object.keys(config.sources).length]).toEqual(
    name === "sample.yaml" ? [true, 5] : [false, 1],
  );
});

test("idoc.yaml is one, and its ends take the mappings of what they are", () => {
  const text = readFileSync(new URL("../../config/parts/idoc.yaml", import.meta.url), "utf8");
  const { endpoints } = parse(text) as { endpoints: { sap: Record<string, unknown> } };
  const { connector, ...section } = endpoints.sap;
  expect(connector).toBe("files");
  const { sources, sinks, complaints } = offersOf(FilesConfig.parse(section), "/");
  const forms = (offers: Readonly<Record<string, { form?: string }>>) =>
    Object.values(offers).map(({ form }) => form);
  expect(forms(sources)).toEqual(["books.parties", "books.parties", "books.prices"]);
  expect(forms(sinks)).toEqual(["files.supplier-invoices", "books.orders", "books.shipments"]);
  expect(complaints).toEqual([]);
  for (const form of [...forms(sources), ...forms(sinks)])
    expect(mappings.some(({ reads, writes }) => reads === form || writes === form)).toBe(true);
});

test("an unknown layout is refused with the known ones", () => {
  expect(issue({ layout: "tryton-export/clients", pick: "*.csv" })).toContain('"books.parties"');
});

test("parts are those of the profile", () => {
  const pick = { heads: "a.csv", rows: "b.csv" };
  const config = FilesConfig.parse({ folder: ".", sources: { it: { ...picks.invoices, pick } } });
  expect(offersOf(config, "/").complaints).toMatchObject([
    {
      message: expect.stringContaining("has no part rows") as string,
      remedy: "Its parts are heads, lines, taxes.",
    },
  ]);
  expect(issue({ ...picks.invoices, pick: { lines: "b.csv" } })).toContain('the part "heads"');
});

test.each(["../customers.csv", "a*b*.csv", ""])("the pattern %j is refused", (pick) => {
  expect(issue({ ...picks.customers, pick })).toBeDefined();
});

test("an unknown setting is refused", () => {
  expect(issue({ ...picks.customers, encodings: "utf-8" })).toContain("encodings");
});
