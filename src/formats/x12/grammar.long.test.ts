/**
 * What we write, and the files of partners that our tests read, by the standard's structure of releases 004010 and 005010,
 * written down by others (test/support/x12-grammars.ts).
 * @module-tag numbers
 */
import { expect, test } from "vitest";
import { faultsByGrammar, x12Grammars } from "../../../test/support/x12-grammars.ts";
import { x12Files } from "../../../test/emit/x12.ts";
import { envelope, golden810, golden820, golden832, golden850 } from "../../../test/files/x12.ts";

const golden = [
  envelope({ functionalId: "IN", sets: [golden810] }),
  envelope({ functionalId: "PO", sets: [golden850] }),
  envelope({ functionalId: "SC", sets: [golden832] }),
  envelope({ functionalId: "RA", sets: [golden820] }),
];

test.runIf(x12Grammars.isThere())(
  "every 810, 850 and 997 of 500 random documents fits the grammar of its release, and so do the files we read",
  () => {
    const files = [...x12Files(1, 500)].map(({ path, bytes }) => [path, bytes.toString("latin1")]);
    expect(files.length).toBeGreaterThan(1_500);
    const texts = [...files.map(([, text = ""]) => text), ...golden];
    const faults = faultsByGrammar(texts).flatMap((told, at) =>
      told.map((fault) => `${files[at]?.[0] ?? "golden"}: ${fault}`),
    );
    expect(faults).toEqual([]);
  },
);

test.runIf(x12Grammars.isThere())("the grammars do find what is wrong", () => {
  const [invoice = ""] = golden;
  const damaged = [
    invoice.replace("*INV2026000118ACME*", "*INV2026000118ACME-12345*"),
    invoice.replace("TDS*2023352", "TDS*20233.52"),
    invoice.replace("~TDS*2023352", ""),
    invoice.replace("~CTT*2", "").replace("~TDS*", "~CTT*2~TDS*"),
    invoice.replace("IT1*1*7998*", "IT1*1*7,998*"),
  ];
  expect(damaged).not.toContain(invoice);
  expect(faultsByGrammar([invoice, ...damaged]).map(({ length }) => length > 0)).toEqual([
    false,
    ...damaged.map(() => true),
  ]);
});
