/**
 * What we write, and the files of partners that our tests read, by the standard's structure of releases 004010 and 005010,
 * written down by others (test/support/x12-grammars.ts).
 * @module-tag numbers
 */
import { expect, test } from "vitest";
import { faultsByGrammar, x12Grammars } from "../../../test/support/x12-grammars.ts";
import { judgedX12 } from "../../../test/files/x12-rules.ts";
import { runs } from "../../../test/support/runs.ts";
import { x12Files } from "../../../test/emit/x12.ts";
import {
  envelope,
  golden810,
  golden820,
  golden832,
  golden850,
  golden855,
  golden856,
} from "../../../test/files/x12.ts";

/** With the place of all lines, and with that of one. */
const placed = (before: string) =>
  golden810.flatMap((row) => (row.startsWith(before) ? ["N1*ST*YARD 3", row] : row));

const golden = [
  envelope({ functionalId: "IN", sets: [placed("ITD")] }),
  envelope({ functionalId: "IN", sets: [placed("IT1*2")] }),
  envelope({ functionalId: "IN", sets: [golden810] }),
  envelope({ functionalId: "PO", sets: [golden850] }),
  envelope({ functionalId: "SC", sets: [golden832] }),
  envelope({ functionalId: "RA", sets: [golden820] }),
  envelope({ functionalId: "PR", sets: [golden855] }),
  envelope({ functionalId: "SH", sets: [golden856] }),
];

/** Of each set. */
const COUNT = runs(0, 2_000, 10_000);

test.runIf(x12Grammars.isThere())(
  `${COUNT} sets of 810, 850 and 997 fit the grammar of their release and break no rule of a partner's, and the files we read fit theirs`,
  () => {
    expect(faultsByGrammar(golden).flat()).toEqual([]);
    const counts: Record<string, number> = { 810: 0, 850: 0, 997: 0 };
    for (let seed = 1; Math.min(...Object.values(counts)) < COUNT; seed++) {
      const files = [...x12Files(seed, 500)];
      const texts = files.map(({ bytes }) => bytes.toString("latin1"));
      const faults = faultsByGrammar(texts).map((told, at) => [
        ...told,
        ...judgedX12(texts[at] ?? "").flatMap(({ broken }) => broken),
      ]);
      const bad = faults.flatMap((told, at) => told.map((one) => `${files[at]?.path}: ${one}`));
      expect(bad, `seed ${seed}`).toEqual([]);
      for (const { id } of texts.flatMap(judgedX12)) counts[id] = (counts[id] ?? 0) + 1;
    }
    expect(Math.min(...Object.values(counts))).toBeGreaterThanOrEqual(COUNT);
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
