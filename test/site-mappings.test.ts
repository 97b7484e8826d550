/**
 * A site's own mappings: a folder outside the repository with one extended and one new mapping, their cases, and a flow
 * with each, as the program that people start, against the sandbox.
 */
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../src/demo/world.ts";
import { Decimal } from "../src/core/decimal.ts";
import { IN_STEP } from "./support/in-step.ts";
import { isLongRun, numbers } from "./support/runs.ts";
import { layOut, type Members, openSite, type Site } from "./support/site.ts";
import { commandHere } from "./support/site-command.ts";
import { fuelbridge } from "./support/site-program.ts";

const INVOICES = `import { Decimal, extend, z } from "fuelbridge/mapping";
import { shout } from "./lib/shout.ts";

/** Ours are numbered by a prefix in the notes; small ones stay on the platform. */
export const invoices = extend("canonical/customer-invoices", {
  name: "site/customer-invoices",
  options: z.strictObject({ prefix: z.string().min(1), least: z.string().default("0") }),
  only: ({ total }, _, { least }) => total.compare(Decimal.of(least)) >= 0 || "too small for the books",
  fields: {
    contractNumber: "FRAME-2026",
    notes: ({ record, options }) => shout(options.prefix, record.invoiceNumber),
  },
  rules: [
    {
      code: "no-due-date",
      broken: ({ document }) => document.dueDate === null,
      message: "the invoice has no due date",
      next: "Enter it on the platform.",
    },
  ],
});
`;
const SHOUT = `export const shout = (prefix: string, text: string): string => \`\${prefix}-\${text}\`.toUpperCase();\n`;
const ORDERS = `import { defineMapping, Decimal, shippedMapping, skip } from "fuelbridge/mapping";

const { input, output } = shippedMapping("canonical/orders");

export default defineMapping({
  name: "site/orders",
  kind: "order",
  reads: "platform.orders",
  writes: "files.orders",
  input,
  output,
  number: ({ id }) => id,
  map(order) {
    if (order.status !== "DELIVERED") return skip("not delivered");
    const { id, status, companyId, locationId } = order;
    return {
      id, number: id, version: order.updatedAt, status, orderType: order.orderType, urgency: order.urgency, companyId, locationId,
      carrierId: null, loadingNumber: null, requestedDate: null, deliveryDate: null, deliveryStart: null,
      deliveryEnd: null, notes: null, lines: [],
    };
  },
  figures: () => ({ amount: null, gallons: Decimal.zero }),
});
`;
const FLOWS = `
flows:
  invoices-issued:
    mapping: site/customer-invoices
    options: { prefix: pf, least: "20000" }
    from: platform.invoicesIssued
    to: erp.invoices
    every: 10m
  orders:
    mapping: site/orders
    from: platform.orders
    to: erp.orders
    every: 10m
`;

let folder: string;
let own: string;
let site: Site;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "fuelbridge-own-"));
  own = join(folder, "own mappings");
  mkdirSync(join(own, "lib"), { recursive: true });
  mkdirSync(join(own, "cases"));
  writeFileSync(join(own, "invoices.ts"), INVOICES);
  writeFileSync(join(own, "lib", "shout.ts"), SHOUT);
  writeFileSync(join(own, "orders.js"), ORDERS);
  writeFileSync(join(own, "cases", "invoices.json"), JSON.stringify(cases()));
  layOut(join(folder, "site"), (yaml) =>
    [yaml.slice(0, yaml.indexOf("\nflows:")), `mappings: ${JSON.stringify(own)}`, FLOWS].join("\n"),
  );
  site = await openSite(join(folder, "site"));
  // What the long run asks needs no documents.
  if (!isLongRun) expect(await site.command("once")).toMatchObject({ code: 0, out: IN_STEP });
}, 600_000);
afterAll(async () => {
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The shipped cases' base through the extended mapping, and a case of each end that a record can come to. */
function cases(): object {
  const shipped = join(root, "mappings/canonical/cases/customer-invoices.json");
  const { base } = JSON.parse(readFileSync(shipped, "utf8")) as { base: Members };
  const document = { ...(base["document"] as Members), contractNumber: "FRAME-2026" };
  const number = base["number"] as string;
  return {
    mapping: "site/customer-invoices",
    base: {
      ...base,
      options: { prefix: "pf" },
      document: { ...document, notes: `PF-${number}` },
    },
    cases: {
      "as it is": {},
      "another number": {
        change: {
          "/record/invoiceNumber": "b-9",
          "/number": "b-9",
          "/document/number": "b-9",
          "/document/notes": "PF-B-9",
        },
      },
      "too small": { change: { "/options/least": "20056.26" }, skip: "too small for the books" },
      "without a due date": {
        change: { "/record/dueDate": null },
        refused: { code: "no-due-date", next: "Enter it on the platform." },
      },
      "a draft is skipped by the shipped mapping": {
        change: { "/record/status": "DRAFT" },
        skip: "draft",
      },
    },
  };
}

type Row = Readonly<Record<string, string>>;
const rowsIn = (sink: string): Row[] =>
  globSync("*.csv", { cwd: join(site.demo, "erp/import", sink) }).flatMap((name) =>
    parse<Row>(readFileSync(join(site.demo, "erp/import", sink, name)), {
      columns: true,
      bom: true,
    }),
  );

const numbersIn = (sink: string, column: string): string[] =>
  [...new Set(rowsIn(sink).map((row) => row[column] ?? ""))].toSorted();

test("check covers a site's mappings, and their cases hold", async () => {
  const checked = await site.here("check");
  expect(checked).toMatchObject({ code: 0, err: "" });
  expect(checked.out).toContain("site/customer-invoices");
  expect(await site.here("map", "--cases")).toMatchObject({
    code: 0,
    out: "5 cases: all hold.\n",
  });
});

test("flows with an extended and a new mapping run to the end, and nothing else goes", async () => {
  const [invoices, orders] = [
    await site.world.records("invoices"),
    await site.world.records("orders"),
  ];
  const due = invoices.filter(
    ({ companyId, status, total }) =>
      companyId === site.world.companyId &&
      !["DRAFT", "VOID"].includes(status as string) &&
      (total as Decimal).compare(Decimal.of("20000")) >= 0,
  );
  expect(due.length).toBeGreaterThan(50);
  expect(numbersIn("invoices", "number")).toEqual(
    due.map(({ invoiceNumber }) => invoiceNumber as string).toSorted(),
  );
  const heads = rowsIn("invoices").filter(({ notes }) => notes !== "");
  expect(
    heads.map(({ notes, contract_number: contract }) => `${notes} ${contract}`).toSorted(),
  ).toEqual(due.map(({ invoiceNumber }) => `PF-${invoiceNumber as string} FRAME-2026`).toSorted());
  expect(numbersIn("orders", "id")).toEqual(
    orders
      .filter(({ status }) => status === "DELIVERED")
      .map(({ id }) => id as string)
      .toSorted(),
  );
  const { flows } = await site.ask<{ flows: { delivered: number; quarantined: number }[] }>(
    "status",
  );
  expect(flows.map(({ delivered }) => delivered)).toEqual([
    due.length,
    numbersIn("orders", "id").length,
  ]);
  expect(flows.map(({ quarantined }) => quarantined)).toEqual([0, 0]);
});

interface Mapped {
  readonly records: readonly {
    readonly number: string;
    readonly outcome: { readonly is: string; readonly figures: Members };
    readonly fields: readonly { path: string; value: string; how: string; from: string[] }[];
    readonly empty: Record<"onPurpose" | "warned", string[]>;
    readonly unread: Record<"onPurpose" | "warned", string[]>;
  }[];
}

test("map shows of a stored record what was set from what, what nothing reads, and what stays empty", async () => {
  const [number = ""] = numbersIn("invoices", "number");
  const { records } = await site.askCommand<Mapped>("map", "invoices-issued", number);
  expect(records).toMatchObject([{ number, outcome: { is: "document" } }]);
  const { fields = [], empty, unread } = records[0] ?? {};
  const from = (path: string) => fields.find((field) => field.path === path);
  expect(from("number")).toMatchObject({ value: number, how: "copied", from: ["invoiceNumber"] });
  expect(from("contractNumber")).toMatchObject({ value: "FRAME-2026", how: "computed", from: [] });
  expect(from("lines[0].item")?.from).toEqual([
    expect.stringMatching(/^items\.csv, row \S+, column item$/),
  ]);
  expect(from("total")).toMatchObject({ how: "copied", from: ["total"] });
  expect(empty).toEqual({ onPurpose: [], warned: [] });
  expect(unread).toMatchObject({
    onPurpose: expect.arrayContaining(["lineItems.margin"]),
    warned: [],
  });
});

interface Compared {
  readonly counts: Readonly<Record<string, number>>;
  readonly differing: readonly { number: string; verdict: string; fields: Members[] }[];
}

interface Doctor {
  readonly examinations: readonly { readonly what: string; readonly note?: string }[];
}

test("before a changed mapping is put to work, map shows what it would send otherwise, and doctor says how many", async () => {
  const last = ["map", "invoices-issued", "--last", "40"];
  const sent = numbersIn("invoices", "number").length;
  const before = await site.askCommand<Compared>(...last);
  expect(before.differing).toEqual([]);
  const { same = 0 } = before.counts;
  expect(same).toBeGreaterThan(5);
  const text = INVOICES.replace("FRAME-2026", "FRAME-2027").replace(">= 0 ||", "> 0 ||");
  const { counts, differing } = await askWith<Compared>(text, ...last);
  expect(counts).toMatchObject({ changed: same });
  expect(differing).toHaveLength(same);
  expect(differing[0]).toMatchObject({
    verdict: "changed",
    fields: [{ before: "FRAME-2026", now: "FRAME-2027" }],
  });
  expect(numbersIn("invoices", "number")).toHaveLength(sent);
  const notes = ({ examinations }: Doctor) =>
    examinations.flatMap(({ what, note }) => (what.startsWith("flow ") ? [[what, note]] : []));
  expect(notes(await site.askCommand<Doctor>("doctor"))).toEqual([]);
  expect(notes(await askWith<Doctor>(text, "doctor"))).toEqual([
    ["flow invoices-issued", expect.stringMatching(/^\d+ documents of the last 200 records would/)],
  ]);
});

test("a mistake in a site's module is told with its file and line, exit code 3, and no stack", async () => {
  const wrong = join(folder, "wrong");
  mkdirSync(wrong);
  const modules = {
    "a.ts": [2, "const one = 1;\nexport const b: string = {;\n"],
    "b.ts": [3, "const t: null | { a: 1 } = null;\n\nexport default t.a;\n"],
    "c.ts": [1, 'import { readFileSync } from "node:fs";\nexport default readFileSync;\n'],
    "d.ts": [
      2,
      'import { extend } from "fuelbridge/mapping";\nexport default extend("canonical/order", { name: "site/d" });\n',
    ],
    "e.ts": [
      2,
      'import { extend } from "fuelbridge/mapping";\nexport default extend("canonical/orders", { name: "canonical/orders" });\n',
    ],
    "f.js": [1, 'import { names } from "./lib/names.ts";\nexport default names;\n'],
    "g.ts": [1, "export const nothing = 1;\n"],
    "h.ts": [
      3,
      'import { extend } from "fuelbridge/mapping";\nconst name = "site/h";\nexport default extend("canonical/orders", { name, only: true });\n',
    ],
    "j.ts": [2, 'import { i } from "./i.ts";\nexport const later = i;\n'],
  } as const;
  for (const [name, [, text]] of Object.entries(modules)) writeFileSync(join(wrong, name), text);
  // It fails where j does, which is told once.
  writeFileSync(join(wrong, "i.ts"), 'import { later } from "./j.ts";\nexport const i = later;\n');
  const config = join(site.folder, "config", "wrong.yaml");
  writeFileSync(config, readFileSync(site.config, "utf8").replace(JSON.stringify(own), wrong));
  const { code, out } = await fuelbridge(["check", "--config", config, "--json"]).ended;
  expect(code).toBe(3);
  const { error } = JSON.parse(out) as { error: { problems: { file: string; line: number }[] } };
  expect(error.problems.map(({ file, line }) => [basename(file), line])).toEqual(
    Object.entries(modules).map(([name, [line]]) => [name, line]),
  );
  expect(out).not.toMatch(/\bat \S+ \(|node:internal/);
});

test("a mistake that shows only with a record quarantines it, with the line and what to do", async () => {
  const [number = ""] = numbersIn("invoices", "number");
  const refused = async (change: string) => {
    const text = INVOICES.replace(/only: .*,/, change);
    const { records } = await askWith<Mapped>(text, "map", "invoices-issued", number);
    return records[0]?.outcome;
  };
  const at = (line: number) => `invoices.ts:${line}: `;
  for (const [change, message] of [
    ["only: (record) => record.buyer.name,", `${at(8)}TypeError: `],
    ["number: () => 7,", `${at(5)}number returned 7, and must return a text`],
    ["only: () => { throw null; },", `${at(5)}Error: it threw null, which is no Error`],
    ["document: async ({ document }) => document,", `${at(5)}document returned a promise`],
  ] as const)
    expect(await refused(change), change).toMatchObject({
      is: "refused",
      fault: {
        code: "mapping-failed",
        message: expect.stringContaining(message),
        next: expect.stringMatching(/^(?:Correct|Leave out async).* then retry\.$/),
      },
    });
});

test.runIf(isLongRun)(
  "an editor finds the types of fuelbridge/mapping, and the fields of the mapping that is extended",
  numbers,
  async () => {
    expect(await site.command("map", "--types")).toMatchObject({ code: 0 });
    const typo = INVOICES.replace("contractNumber", "contractNumbr");
    writeFileSync(join(own, "typo.ts"), typo);
    const faults = typesOf()
      .split("\n")
      .filter((line) => line.includes(": error "));
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(/^typo\.ts\(10,5\): error .*Did you mean to write 'contractNumber'/);
    rmSync(join(own, "typo.ts"));
  },
);

/** What a command tells once the extended mapping is `text`: in a folder of its own, for a process loads a module once. */
async function askWith<Data>(text: string, ...args: string[]): Promise<Data> {
  const changed = mkdtempSync(join(folder, "changed mappings "));
  cpSync(own, changed, { recursive: true });
  writeFileSync(join(changed, "invoices.ts"), text);
  const config = join(site.folder, "config", `${basename(changed)}.yaml`);
  writeFileSync(
    config,
    readFileSync(site.config, "utf8").replace(JSON.stringify(own), JSON.stringify(changed)),
  );
  const env = { FUELBRIDGE_PLATFORM_URL: site.world.url };
  const { out } = await commandHere([...args, "--config", config, "--json"], env);
  return (JSON.parse(out) as { data: Data }).data;
}

const typesOf = (): string =>
  spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", own], {
    cwd: own,
    encoding: "utf8",
  }).stdout;
