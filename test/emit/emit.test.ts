/** What others are given to validate, read back by our own reader. That one seed gives the same bytes each time, the golden digests prove. */
import { X12Interchange, X12Parser } from "node-x12";
import { expect, test } from "vitest";
import { requests } from "../../connectors/quickbooks-desktop/qbxml.ts";
import { documents } from "../../src/formats/documents.ts";
import { field, idocsIn } from "../../src/formats/idoc/read.ts";
import { guardedAs, openProfile } from "../../src/formats/table/profile.ts";
import { draftsIn } from "../../src/formats/table/read.ts";
import { brokenRules } from "../files/idoc-rules.ts";
import { judgedX12 } from "../files/x12-rules.ts";
import { csvFiles } from "./csv.ts";
import { formats } from "./formats.ts";
import { desktopRequests } from "./quickbooks-desktop.ts";
import { bothWays } from "../files/table-round-trip.ts";

const readable = new Set(bothWays);

test("every file of every kind, from cases and random documents, is one record to our reader", async () => {
  const kinds = new Set<string>();
  const cases = new Set<string>();
  for (const { path, bytes } of csvFiles(1, 20)) {
    const name = path.slice(0, path.lastIndexOf("/"));
    const profile = openProfile(name, "");
    const text = new TextDecoder(profile.encoding === "auto" ? "utf-8" : profile.encoding).decode(
      bytes,
    );
    const own = guardedAs(profile, profile.quotes !== "none" && profile.file === "csv");
    const drafts = await draftsIn(own, text);
    expect(drafts.length, path).toBe(1);
    // A journal for QuickBooks has rows that our reader takes for two things: it is only written.
    if (readable.has(profile)) expect(drafts[0]?.problems, path).toEqual([]);
    kinds.add(profile.layout.name);
    if (path.includes("/case-")) cases.add(profile.layout.name);
  }
  const all = Object.keys(documents).map((kind) => `files.${kind}`);
  expect([...kinds].toSorted()).toEqual(all.toSorted());
  expect([...cases].toSorted()).toEqual(all.toSorted());
});

test("nearly every random entry of IIF is written, and each comes to 0.00 by its own rows", () => {
  const entries = [...csvFiles(1, 100)].filter(({ path }) => path.startsWith("quickbooks/iif"));
  expect(entries.length).toBeGreaterThan(195);
  for (const { path, bytes } of entries) {
    const rows = bytes.toString("latin1").split("\r\n");
    const amounts = rows.flatMap((row) => {
      const [tag = "", ...cells] = row.split("\t");
      const header = rows.find((one) => one.startsWith(`!${tag}\t`))?.split("\t") ?? [];
      const at = header.indexOf("AMOUNT") - 1;
      return at >= 0 && !tag.startsWith("!") ? [cells[at] ?? ""] : [];
    });
    const cents = amounts.map((amount) => {
      expect(amount, path).toMatch(/^-?\d+(?:\.\d{1,2})?$/);
      return Math.round(Number(amount) * 100);
    });
    expect(
      cents.reduce((one, two) => one + two, 0),
      path,
    ).toBe(0);
  }
});

/** How many files of cases, of random documents and of batches there are, by folder. */
function tally(paths: readonly string[]): Record<string, number> {
  const kinds = Map.groupBy(paths, (path) => path.replace(/-\d+\.\w+$/, ""));
  return Object.fromEntries([...kinds].map(([kind, files]) => [kind, files.length]));
}

test("every IDoc is one to our reader, breaks no rule of SAP's inbound processing, and no two have one number", () => {
  const numbers = new Set<string | null>();
  const files = [...(formats["idoc"]?.(1, 20) ?? [])];
  for (const { path, bytes } of files) {
    const [idoc, ...others] = idocsIn(bytes, path);
    expect(others, path).toEqual([]);
    if (idoc !== undefined) numbers.add(field(idoc.control, "EDI_DC40", "DOCNUM"));
    expect(brokenRules(bytes.toString()), path).toEqual([]);
  }
  expect(numbers.size).toBe(files.length);
  expect(tally(files.map(({ path }) => path))).toEqual({
    "INVOIC/case": 4,
    "INVOIC/random": 20,
    "ORDERS/case": 5,
    "ORDERS/random": 20,
    "DELVRY/case": 1,
    "DELVRY/random": 13,
    "SHPCON/random": 20,
  });
});

test("every interchange is one to node-x12 when it is strict, breaks no rule of a partner's, and no control number comes twice", () => {
  const numbers = new Set<string>();
  const files = [...(formats["x12"]?.(1, 20) ?? [])];
  for (const { path, bytes } of files) {
    const text = bytes.toString("latin1");
    const interchange = new X12Parser(true).parse(text);
    if (!(interchange instanceof X12Interchange)) throw new Error(`${path} has several`);
    const sets = interchange.functionalGroups.flatMap(({ transactions }) => transactions);
    const ids = sets.map(({ header }) => header.elements[0]?.value);
    expect([...new Set(ids)], path).toEqual([path.split("/")[0]]);
    expect(
      judgedX12(text).flatMap(({ broken }) => broken),
      path,
    ).toEqual([]);
    // ISA13, at its fixed place.
    numbers.add(text.slice(90, 99));
  }
  expect(numbers.size).toBe(files.length);
  expect(tally(files.map(({ path }) => path))).toMatchObject({
    "810/case": 5,
    "810/random": 20,
    "810/batch": 4,
    "850/case": 4,
    "997/random": 20,
  });
});

test("every request that QuickBooks Desktop can be asked is written", async () => {
  const all = await desktopRequests(7, 3);
  const kinds = new Set(
    all.flatMap(({ bytes }) =>
      [...bytes.toString().matchAll(/<(\w+)Rq requestID/g)].map(([, name]) => name),
    ),
  );
  expect(kinds).toEqual(new Set(Object.keys(requests)));
});
