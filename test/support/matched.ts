/** The sandbox's scene `month`, matched without a store: what was found beside what was planted. */
import { Decimal } from "../../src/core/decimal.ts";
import { calendarOf } from "../../src/core/time.ts";
import { type AnyPaper, type Case, fold, readers, recordOf } from "../../src/match/papers.ts";
import { type MatchFilter, Matching, type MatchReport } from "../../src/match/report.ts";
import type { Finding, MatchSettings } from "../../src/match/situation.ts";
import type { RawRecord } from "../../src/sandbox/kinds.ts";
import { companies } from "../../src/sandbox/scenes/companies.ts";
import {
  type Fault,
  type FaultKind,
  month,
  type MonthOptions,
} from "../../src/sandbox/scenes/month.ts";
import type { Scene } from "../../src/sandbox/scenes/index.ts";

const NOW = new Date("2026-11-24T18:00:00Z");
const dayOf = calendarOf("America/Chicago");
const read = readers(dayOf);
export const ALL: MatchFilter = { party: null, direction: null };

const settings = (more: Partial<MatchSettings> = {}): MatchSettings => ({
  dayOf,
  today: dayOf(NOW.toISOString()),
  from: "2026-01-01",
  to: "2026-12-31",
  tolerancePercent: Decimal.of("0.5"),
  toleranceGallons: Decimal.of("25"),
  basis: () => "net",
  patienceDays: 2,
  unbilledDays: 3,
  pricesBefore: false,
  accepted: new Map(),
  ...more,
});

const raw = (record: RawRecord) => recordOf(JSON.stringify(record));

export const papersOf = ({ records }: Pick<Scene, "records">): AnyPaper[] =>
  [...records.orders, ...records["delivery-tickets"], ...records.invoices].map((record) =>
    readIn(JSON.stringify(record)),
  );

/** A paper as a store has it. */
function readIn(json: string): AnyPaper {
  const record = recordOf(json);
  if ("ticketNumber" in record) return read.ticket(record) as AnyPaper;
  if (!("invoiceNumber" in record)) return read.order(record) as AnyPaper;
  const isOurs = record["companyId"] === companies.supplier.id;
  return read[isOurs ? "sale" : "purchase"](record) as AnyPaper;
}

/** Everything of a scene; `papers`: instead of its own. */
export function filled(scene: Pick<Scene, "records">, papers = papersOf(scene)): Matching {
  const { records } = scene;
  const terminals = new Map(
    records["supplier-terminals"].flatMap((one): [string, string][] => {
      const { name = "", city, terminalCode = "" } = read.place(raw(one)) ?? {};
      return [name, `${name}, ${city}`].map((called) => [fold(called), terminalCode]);
    }),
  );
  const matching = new Matching({
    product: fold,
    terminal: (text) => fold(terminals.get(fold(text)) ?? text),
  });
  const { reference } = matching;
  reference.us = companies.supplier.id;
  for (const one of records["rack-prices"]) reference.addPrice(read.price(raw(one)));
  for (const one of records["freight-rates"]) reference.addFreightRate(read.freightRate(raw(one)));
  for (const one of [...records["supplier-terminals"], ...records.locations])
    reference.addPlace(read.place(raw(one)));
  for (const one of records.connections) reference.addLink(read.connection(raw(one)));
  for (const paper of papers) matching.add(paper);
  return matching;
}

export function run(
  matching: Matching,
  more: Partial<MatchSettings> = {},
  filter = ALL,
  each?: (one: Case) => void,
  pause: () => void = () => {},
): MatchReport {
  const running = matching.run(settings(more), filter, each);
  for (;;) {
    const { done, value } = running.next();
    if (done === true) return value;
    pause();
  }
}

/** By what a planted error is told: what finds it, and what else is true of it. */
const TOLD: Readonly<
  Record<FaultKind, readonly [certain: boolean, rules: readonly string[], also: readonly string[]]>
> = {
  "transposed gallons": [true, ["quantity"], []],
  "gross for net": [true, ["wrong-basis"], []],
  "yesterday's price": [true, ["old-price-list"], []],
  "missing freight": [true, ["freight"], []],
  "billed twice": [true, ["billed-twice"], ["freight"]],
  "wrong product": [true, ["wrong-product"], ["freight"]],
  "tax twice": [true, ["tax-twice"], []],
  "short delivery": [true, ["quantity"], ["part-delivered"]],
  "wrong rate": [true, ["order-price", "rack-and-margin"], []],
  "never billed": [true, ["not-billed"], []],
  "billed without delivery": [true, ["no-delivery"], []],
  "wrong tax rate": [false, ["tax-rate"], []],
  "wrong net": [true, ["net-from-gross"], ["quantity"]],
};

const touches = (fault: Fault, { papers }: Finding): boolean =>
  papers.some(({ id }) => fault.papers.includes(id));

export interface Score {
  readonly certain: { readonly recall: number; readonly precision: number };
  readonly probable: { readonly recall: number; readonly precision: number };
  /** For people: what was missed, and what was told without a reason. */
  readonly missed: readonly string[];
  readonly wrong: readonly string[];
  /** Foretold amounts that came out otherwise. */
  readonly amounts: readonly string[];
}

export function scoreOf(truth: readonly Fault[], { findings }: MatchReport): Score {
  const missed: string[] = [];
  const wrong: string[] = [];
  const amounts: string[] = [];
  const part = (isCertain: boolean) => {
    const faults = truth.filter(({ kind }) => TOLD[kind][0] === isCertain);
    const told = findings.filter(({ certainty }) => (certainty === "certain") === isCertain);
    const found = faults.filter((fault) => {
      const [, rules] = TOLD[fault.kind];
      const own = findings.filter(
        (one) =>
          rules.includes(one.rule) &&
          touches(fault, one) &&
          (!isCertain || one.certainty === "certain"),
      );
      if (own.length === 0) missed.push(`${fault.kind} ${fault.number}`);
      const isTold = own.some(({ amount }) => amount !== null);
      const sum = own.reduce((total, { amount }) => total + Number(amount ?? 0), 0);
      if (isTold && fault.amount !== null && Math.abs(sum - Math.abs(fault.amount)) > 40)
        amounts.push(`${fault.kind} ${fault.number}: ${sum.toFixed(2)} for ${fault.amount}`);
      return own.length > 0;
    });
    const right = told.filter((one) => {
      const isTrue = truth.some((fault) => {
        const [, rules, also] = TOLD[fault.kind];
        return touches(fault, one) && [...rules, ...also].includes(one.rule);
      });
      if (!isTrue)
        wrong.push(
          `${one.certainty} ${one.rule} ${one.papers.map(({ number }) => number).join(" ")}: ${one.cause}`,
        );
      return isTrue;
    });
    const share = (some: number, all: number): number => (all === 0 ? 1 : some / all);
    return {
      recall: share(found.length, faults.length),
      precision: share(right.length, told.length),
    };
  };
  return { certain: part(true), probable: part(false), missed, wrong, amounts };
}

export const monthOf = (options: MonthOptions) => month(NOW, options);

const PAPERS = [
  ["orders", "orders", "orders"],
  ["tickets", "delivery-tickets", "deliveryTickets"],
  ["issued", "customer-invoices", "invoicesIssued"],
  ["payable", "supplier-invoices", "invoicesPayable"],
  ["prices", "rack-prices", "rackPrices"],
  ["terminals", "terminals", "supplierTerminals"],
  ["locations", "locations", "locations"],
  ["connections", "connections", "connections"],
] as const;

/**
 * The configuration of a site whose flows bring every paper of the month to files; freight rates cannot be read from the platform.
 * `more`: settings of `match`, after a comma.
 */
export const monthSite = (crossReferences: string, more = ""): string => `version: 1
company: bluebonnet
currency: USD
timeZone: America/Chicago
state: ./state
firstStart: ${new Date().toISOString().slice(0, 10)}
platform: { url: '\${MATCH_URL}', environment: live, apiKey: '\${MATCH_KEY}' }
endpoints:
  erp:
    connector: files
    folder: ./erp
    sinks:
${PAPERS.map(([name, document]) => `      ${name}: { document: ${document}, folder: import/${name} }`).join("\n")}
crossReferences: ${crossReferences}
flows:
${PAPERS.map(
  ([name, document, from]) =>
    `  ${name}: { mapping: canonical/${document}, from: platform.${from}, to: erp.${name}, every: 10m }`,
).join("\n")}
match: { basis: net${more} }
`;
