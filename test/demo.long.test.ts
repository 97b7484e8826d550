/**
 * The demo as a newcomer starts it: its whole story, in a folder and behind a real OpenSSH server.
 *
 * @module-tag numbers
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { exitCodes } from "../src/core/errors.ts";
import type { Report } from "../src/reconcile/report.ts";
import type { KnownDifferences, QuarantineGroup } from "../src/office/answers.ts";
import { documentsIn, parted } from "../src/views/documents.ts";
import { demoCopy } from "./support/demo-copy.ts";
import { isThere } from "./support/machine.ts";
import { commandHere } from "./support/site-command.ts";
import { askHere } from "./support/site-office.ts";
import { demoCases } from "./support/site-sides.ts";

const SLOW = 1_200_000;
const posix = test.skipIf(process.platform === "win32");

interface Listed {
  readonly data: { readonly groups: readonly QuarantineGroup[] };
}

const FLOWS = [
  "orders",
  "delivery-tickets",
  "invoices-issued",
  "invoices-payable",
  "customers",
  "suppliers",
  "rack-prices",
  "invoices",
  "paid-invoices",
];

posix(
  "npm run demo shows both sides in step, over SFTP with the same totals; started again, repaired and played with, it goes on, and the reconciliation is explained",
  { timeout: SLOW },
  async () => {
    const { home, demo, processes } = demoCopy();
    const config = join(home, "config", "demo.yaml");
    const ask = async (...args: string[]) => {
      const { code, out } = await commandHere([...args, "--json", "--config", config]);
      return { code, data: (JSON.parse(out) as { data: unknown }).data };
    };
    const groups = async (): Promise<readonly QuarantineGroup[]> =>
      ((await askHere(config, {}, ["quarantine", "list"])) as Listed).data.groups;
    const first = await demo("--once").ended;
    expect(first).toMatchObject({ code: exitCodes.ok, err: "" });
    // A file gets lines, not a picture that is drawn over.
    expect(first.out).not.toContain("\u001B");
    expect(first.out).toMatch(/^A new demo in var\/demo: /);
    expect(first.out).toMatch(/^\d+\.\d s {2}.*\d+ requests$/m);
    expectEqual(first.out);
    if (isThere("sshd")) {
      const overSftp = await demo("--erp", "sftp", "--once").ended;
      expect(overSftp).toMatchObject({ code: exitCodes.ok, err: "" });
      expect(overSftp.out).toContain("var/demo-sftp/erp");
      expect(totalsIn(overSftp.out)).toBe(totalsIn(first.out));
    }
    expect(first.out).toContain("var/demo/erp");
    expect(first.out).toMatch(/In step after \d+\.\d s: both sides hold the same\./);

    const [own] = parted(await groups());
    expect(first.out).toContain(` ${documentsIn(own)} that a person must decide, `);

    const second = demo();
    await second.said("Going on; Ctrl-C stops.");
    const { code, data } = await ask("reconcile", "--from", "2026-01-01");
    expect(code).toBe(exitCodes.runtime);
    expectExplained(data as Report);
    const asked = await groups();
    second.kill("SIGINT");
    const again = await second.ended;
    expect(again).toMatchObject({ code: exitCodes.interrupted, err: "" });
    expect(again.out).toMatch(/^The demo in var\/demo again, where it stopped\./);
    expect(again.out).toContain("Nothing has changed: both sides were in step already");
    expectEqual(again.out);
    expect(processes()).toEqual([]);

    const offered = asked.filter(({ helps }) => helps.includes("correct"));
    expect(offered.length).toBeGreaterThan(4);
    // These no export can mend: they are closed by hand.
    const codes = asked.map(({ code }) => code);
    expect(codes).toEqual(expect.arrayContaining(["credit-note", "bad-cell", "quantity-break"]));

    // People settle the rest: what a program says in the end is what a reconciliation and the quarantine say.
    const third = await demo("--once", "--play").ended;
    expect(third).toMatchObject({ code: exitCodes.ok, err: "" });
    for (const part of third.out.split("The play: ")) expectEqual(part);
    expectPlayed(third.out);
    expect(third.out).toMatch(
      /^All that can go by itself has gone after .* Both sides agree, but for 1 difference that a person accepted, says a reconciliation/m,
    );
    expect(third.out.split("The play: ")[1]).not.toContain("for a person, each with its reason");
    expect(await groups()).toEqual([]);
    const { code: known, data: last } = await ask("reconcile", "--last");
    expect([known, (last as KnownDifferences).differences]).toEqual([exitCodes.ok, []]);
    expect(first.out + again.out + third.out).not.toContain(
      readFileSync(join(home, "var", "demo", "api-key"), "utf8").trim(),
    );
  },
);

const totalsIn = (out: string): string => {
  const [totals = ""] = /Control totals[^]*?\n\n/.exec(out) ?? [];
  expect(totals).toContain("equal");
  return totals;
};

function expectEqual(out: string): void {
  for (const flow of FLOWS)
    expect(out).toMatch(new RegExp(`^${flow} +platform +[1-9]\\d* .* equal$`, "m"));
}

/** What does not agree is with a person, or a part that the platform cannot be told; nothing is left without its reason. */
function expectExplained({ totals, cases }: Report): void {
  expect(totals.map(({ kind, bucket, cases }) => `${kind} ${bucket} ${cases}`)).toEqual(demoCases);
  const differing = cases.filter(({ bucket }) => bucket === "differs");
  expect(new Set(differing.map(({ cause }) => cause?.code))).toEqual(new Set(["partly-paid"]));
}

/** Each change is told in a line, and found on the other side. */
function expectPlayed(out: string): void {
  for (const [step, seen] of [
    [/^1\. The customer pays invoice INV-2026-\d+ over \d+\.\d\d in the ERP/m, /is PAID now/],
    [
      /^2\. The price of \S+ in \S+ goes from [\d.]+ to [\d.]+ in the ERP/m,
      /has the price [\d.]+ now/,
    ],
    [/^3\. Invoice INV-2026-\d+ is cancelled in the ERP/m, /quarantine show q[0-9a-f]{7}$/m],
    [
      /^4\. The customer pays invoice \S+ on the platform/m,
      /has got erp\/import\/invoices\/\S+\.csv/,
    ],
    [/^5\. Invoice \S+ is voided on the platform/m, /has got erp\/import\/invoices\/\S+\.csv/],
    [/^6\. Order \S+ is corrected on the platform/m, /has got erp\/import\/orders\/\S+\.csv/],
    [
      /^7\. The office corrects in the ERP what it can of 13 documents/m,
      /4 documents for a person are left/,
    ],
    [
      /^8\. The customers pay the rest of 9 invoices paid in part in the ERP/m,
      /On the platform 9 of them are PAID now/,
    ],
    [
      /^9\. The accountant voids invoice INV-2026-\d+ on the platform by hand, and closes 4 cases/m,
      /0 documents in quarantine/,
    ],
    [
      /^10\. The accountant has orders, tickets, invoices and prices compared/m,
      /Tulsa Crossroads Refining Co\. has billed 548\.82 too much/,
    ],
    // The credit note that was closed with a note is not told again.
    [
      /^All that can go by itself has gone/m,
      /Both sides agree, but for 1 difference that a person accepted/,
    ],
  ] as const) {
    expect(out).toMatch(step);
    expect(out.slice(out.search(step))).toMatch(seen);
  }
}
