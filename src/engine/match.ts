/**
 * Orders, tickets, invoices and prices that are stored, compared with each other (src/match): without one request to anybody.
 * Findings are kept as differences are (store/reconciliation.ts): what a person has accepted comes back when its values change.
 */
import { setImmediate } from "node:timers/promises";
import { Decimal } from "../core/decimal.ts";
import { defined } from "../core/defined.ts";
import type { Scratch } from "../core/scratch.ts";
import { DAY_MS, dayBefore } from "../core/time.ts";
import {
  type AnyPaper,
  type Direction,
  fold,
  laneOfRow,
  type Names,
  readers,
  recordOf,
} from "../match/papers.ts";
import type { Finding, MatchSettings, Reference } from "../match/situation.ts";
import { isMeant, Matching, type MatchReport } from "../match/report.ts";
import { aboutOf, dayIn } from "./about.ts";
import type { Engine, Flow } from "./engine.ts";
import { isElsewhere } from "./sites.ts";

/** The site's settings (config/schema.ts, `match`). */
interface MatchOptions {
  readonly days: number;
  readonly tolerancePercent: number;
  readonly toleranceGallons: number;
  readonly basis: "usual" | "net" | "gross";
  readonly parties: Readonly<Record<string, "net" | "gross">>;
  readonly patienceMs: number;
  readonly unbilledDays: number;
  readonly pricesBefore: boolean;
  readonly alertAbove: number | null;
}

interface MatchQuestion {
  /** Company days, both included; null: so many days back as configured, and today. */
  readonly from: string | null;
  readonly to: string | null;
  readonly party: string | null;
  readonly direction: Direction | null;
  readonly by: string;
}

type Row = Readonly<Record<string, unknown>>;

/** Takes a record, or a document that was sent. */
type Taking = (record: Row, own: Own) => void;

/** Why a run ended without an answer, and what to do. */
interface Unanswered {
  readonly message: string;
  readonly next: string;
}

/** A finding as it is kept. */
export interface KeptFinding extends Finding {
  readonly state: "open" | "accepted" | "disputed";
  /** Who settled it, and why; null: nobody has. */
  readonly note: string | null;
  /** ISO 8601 UTC: when it was first found with these values. */
  readonly since: string;
}

/** What a paper that was sent from here has beside what the platform says. */
type Own = Pick<AnyPaper, "isOfErp"> & Partial<Pick<AnyPaper, "day">>;

const MATCH = "match";
/** Usual rates are learned from so many days before the first one that is judged. */
const LEARNED_DAYS = 90;
const PAGE = 32;

export class Matcher {
  readonly #engine: Engine;
  readonly #options: MatchOptions;
  readonly #scratch: () => Scratch;
  #running: Promise<unknown> = Promise.resolve();

  /** `scratch`: room on disk for the papers of one run, which closes it. */
  constructor(engine: Engine, options: MatchOptions, scratch: () => Scratch) {
    this.#engine = engine;
    this.#options = options;
    this.#scratch = scratch;
  }

  get alertAbove(): number | null {
    return this.#options.alertAbove;
  }

  /**
   * One at a time; other work goes on between its steps. Why it ended without an answer is kept. @throws ConfigurationError for
   * a table that cannot be used, SourceUnavailable where the disk has no room for a copy of the papers
   */
  match({ from, to, by, ...filter }: MatchQuestion): Promise<MatchReport> {
    const { store, clock, dayOf } = this.#engine;
    const work = this.#running.then(async () => {
      const today = dayOf(new Date(clock.now().wallMs).toISOString());
      const period = { from: from ?? dayBefore(today, this.#options.days), to: to ?? today };
      try {
        const scratch = this.#scratch();
        try {
          const report = await this.#match({ dayOf, today, ...period }, filter, scratch);
          store.transaction(() => this.#keep(report, by));
          return report;
        } finally {
          scratch.close();
        }
      } catch (error) {
        const { message, next = "The daemon's log says more." } = error as Partial<Unanswered>;
        const about = { part: partOf(filter), period, askedBy: by };
        const why = JSON.stringify({ message, next });
        store.transaction(() => store.sweeps.notMatched(about, why, clock.now().wallMs));
        throw error;
      }
    });
    this.#running = work.catch(() => {});
    return work;
  }

  async #match(
    asked: Pick<MatchSettings, "dayOf" | "today" | "from" | "to">,
    filter: MatchReport["filter"],
    scratch: Scratch,
  ): Promise<MatchReport> {
    const settings: MatchSettings = { ...this.#settings(), ...asked };
    const matching = new Matching(this.#names(), scratch);
    for (const _ of this.#papers(matching, settings.from)) await setImmediate();
    const running = matching.run(settings, filter);
    for (let step = running.next(); ; step = running.next()) {
      if (step.done === true) return step.value;
      await setImmediate();
    }
  }

  #settings(): Omit<MatchSettings, "dayOf" | "today" | "from" | "to"> {
    const { basis, parties, patienceMs, ...same } = this.#options;
    const usual = basis === "usual" ? null : basis;
    return {
      ...same,
      tolerancePercent: Decimal.of(String(same.tolerancePercent)),
      toleranceGallons: Decimal.of(String(same.toleranceGallons)),
      basis: (party) => parties[party] ?? usual,
      patienceDays: patienceMs / DAY_MS,
      accepted: new Map(
        this.#engine.store.sweeps
          .findings()
          .flatMap(({ state, key, digest }) => (state === "accepted" ? [[key, digest]] : [])),
      ),
    };
  }

  /** As the cross-reference tables and the platform's own terminals name things. */
  #names(): Names {
    const products = this.#column("products", "product");
    const terminals = this.#column("terminals", "terminal");
    for (const { flow } of this.#flowsFrom("supplierTerminals"))
      for (const page of this.#records(flow))
        for (const { text } of page) {
          const place = readers(this.#engine.dayOf).place(recordOf(text));
          const { terminalCode = "", name = "", city } = place ?? {};
          for (const called of [name, `${name}, ${city}`])
            if (terminalCode !== "" && !terminals.has(fold(called)))
              terminals.set(fold(called), fold(terminalCode));
        }
    return {
      product: (text) => products.get(fold(text)) ?? fold(text),
      terminal: (text) => terminals.get(fold(text)) ?? fold(text),
    };
  }

  /** Of a cross-reference table that names one thing twice, or says what the site itself knows. */
  readonly #rows = (table: string) => this.#engine.tables.rows?.(table) ?? [];

  /** What rows of a table make of their first cell. */
  #column(table: string, column: string): Map<string, string> {
    return new Map(
      this.#rows(table).flatMap(({ row }): [string, string][] => {
        const [key = ""] = Object.values(row);
        const value = row[column];
        return value === undefined || value === "" ? [] : [[fold(key), fold(value)]];
      }),
    );
  }

  #records(flow: number, since = "") {
    const { papers } = this.#engine.store;
    return pagesBy("record", (after) => papers.records(flow, after, since, PAGE));
  }

  #flowsFrom = (name: string): Flow[] =>
    this.#engine.flows.filter(({ from }) => from === `platform.${name}`);
  #flowsTo = (name: string): Flow[] =>
    this.#engine.flows.filter(({ to }) => to === `platform.${name}`);

  /** Everything that is compared, and what it is compared with. Yields after every page. */
  *#papers(matching: Matching, from: string): Generator<undefined> {
    const { papers } = this.#engine.store;
    const { reference } = matching;
    const read = readers(this.#engine.dayOf);
    const since = `${dayBefore(from, LEARNED_DAYS)}T00:00:00Z`;
    const us = this.#rows("own-company").find(({ row }) => row["setting"] === "companyId");
    reference.us = us?.row["value"] ?? null;
    const addPrice = (record: Row, sentMs: number | null = null): void => {
      const price = read.price(record);
      reference.addPrice(price && { ...price, fromMs: sentMs ?? price.fromMs });
    };
    const addPlace = (record: Row): void => reference.addPlace(read.place(record));
    for (const { flow } of this.#flowsFrom("rackPrices"))
      for (const page of pagesBy("version", (after) => papers.earlier(after, flow, PAGE))) {
        for (const { text } of page) addPrice(recordOf(text));
        yield undefined;
      }
    const issuing = this.#flowsTo("invoices");
    /** What we sent has the day that it has in the ERP: the platform knows when it came there. */
    const add = (paper: AnyPaper | null): void => {
      const isSale = paper?.kind === "invoice" && paper.direction === "sale";
      matching.add(paper && { ...paper, ...(isSale ? this.#ownOf(issuing, paper) : null) });
    };
    const addSale = (record: Row): void => {
      if (typeof record["companyId"] === "string") reference.us ??= record["companyId"];
      add(read.sale(record));
    };
    /** What the platform told, since when (lists are whole, and of all sites), and what is made of it. */
    const told: readonly (readonly [name: string, since: string, take: Taking])[] = [
      ["rackPrices", "", (record) => addPrice(record)],
      ["supplierTerminals", "", addPlace],
      ["locations", "", addPlace],
      ["connections", "", (record) => reference.addLink(read.connection(record))],
      ["orders", since, (record) => add(read.order(record))],
      ["deliveryTickets", since, (record) => add(read.ticket(record))],
      ["invoicesIssued", since, addSale],
      ["invoicesPayable", since, (record) => add(read.purchase(record))],
    ];
    for (const [name, after, take] of told)
      for (const from of this.#flowsFrom(name))
        for (const page of this.#records(from.flow, after)) {
          for (const { text } of page)
            if (after === "" || !isElsewhere(this.#engine, from, text)) take(recordOf(text), {});
          yield undefined;
        }
    const addSent = (paper: AnyPaper | null, own: Own): void =>
      matching.add(paper && { ...paper, ...own }, true);
    const nameParty = ({ id, name }: Row): void => {
      if (typeof id === "string" && typeof name === "string") reference.nameParty(id, name);
    };
    /** And what was sent to it. */
    const sent: Readonly<Record<string, Taking>> = {
      invoices: (record, own) => addSent(read.sale(record), own),
      tickets: (record, own) => addSent(read.ticket(record), own),
      freightRates: (record) => reference.addFreightRate(read.freightRate(record)),
      supplierTerminals: addPlace,
      customers: nameParty,
      suppliers: nameParty,
    };
    for (const [name, take] of Object.entries(sent))
      for (const to of this.#flowsTo(name))
        for (const page of pagesBy("record", (after) =>
          papers.sent(to.mapping.kind, to.flow, after, PAGE),
        )) {
          for (const { body, target, platformId, text } of page) {
            const known = defined({
              id: platformId ?? undefined,
              connectionId: /\/connections\/([^/ ]+)\//.exec(target)?.[1],
            });
            take({ ...recordOf(body), ...known }, this.#ownIn(to, text));
          }
          yield undefined;
        }
    for (const { flow } of this.#flowsTo("rackPrices"))
      for (const page of pagesBy("request", (after) => papers.batches(flow, after, PAGE))) {
        for (const { body, sentMs } of page) {
          const prices = recordOf(body)["prices"];
          if (Array.isArray(prices)) for (const price of prices as Row[]) addPrice(price, sentMs);
        }
        yield undefined;
      }
    this.#addTables(reference, read.freightRate);
  }

  /** Of an invoice that one of these flows sent; null: none of them did. */
  #ownOf(flows: readonly Flow[], { id }: AnyPaper): Own | null {
    const { papers } = this.#engine.store;
    for (const flow of flows) {
      const text = papers.own(flow.flow, flow.mapping.kind, id);
      if (text !== null) return this.#ownIn(flow, text);
    }
    return null;
  }

  /** By the record in the ERP that a flow sent. */
  #ownIn(flow: Flow, text: string): Own {
    const day = dayIn(aboutOf(flow, text), this.#engine.dayOf);
    return { isOfErp: true, ...(day === null ? {} : { day }) };
  }

  /** What the site's own tables say. */
  #addTables(reference: Reference, lane: ReturnType<typeof readers>["freightRate"]): void {
    for (const table of ["customers", "vendors"])
      for (const { row } of this.#rows(table)) {
        const { company, name } = row;
        if (company !== undefined && name !== undefined && name !== "")
          reference.nameParty(company, name);
      }
    for (const { row } of this.#rows("tax-rates")) {
      const { tax = "", product = "", rate = "", authority } = row;
      if (Decimal.is(rate)) reference.state(tax, product, Decimal.of(rate), authority);
    }
    for (const { row } of this.#rows("freight-rates"))
      reference.addFreightRate(lane(laneOfRow(row)));
  }

  /** Inside a transaction. What was looked for and is not found any more is over. */
  #keep(report: MatchReport, by: string): void {
    const { store, clock } = this.#engine;
    const { sweeps } = store;
    const at = clock.now().wallMs;
    const { findings, accepted, ...counts } = report;
    const { from, to, filter } = report;
    const about = { part: partOf(filter), period: { from, to }, askedBy: by };
    const run = sweeps.matched(about, JSON.stringify(counts), at);
    for (const one of [findings, accepted].flat()) {
      const known = sweeps.see(
        {
          kind: MATCH,
          key: one.key,
          bucket: MATCH,
          digest: one.digest,
          number: one.papers[0]?.number ?? "",
          code: one.rule,
          cause: one.cause,
          next: one.next,
          row: JSON.stringify(one),
        },
        run,
        at,
      );
      if (known.state === "seen") sweeps.setState(known.difference, "open");
    }
    for (const { difference, row } of sweeps.findingsBefore(run)) {
      if (row === null) continue;
      const finding = JSON.parse(row) as Finding;
      if (finding.day >= from && finding.day <= to && isMeant(finding, filter))
        sweeps.setState(difference, "cleared");
    }
  }
}

/** What of all papers was asked for; null: all of them. */
const partOf = ({ direction, party }: MatchReport["filter"]): string | null =>
  [direction, party].filter((one) => one !== null).join(" ") || null;

/** Pages of rows, each asked for by the place of the last row before it; the first by 0. */
function* pagesBy<Name extends string, Row extends Readonly<Record<Name, number>>>(
  place: Name,
  pageAfter: (place: number) => readonly Row[],
): Generator<readonly Row[]> {
  for (let page = pageAfter(0); page.length > 0; page = pageAfter(page.at(-1)?.[place] ?? 0))
    yield page;
}

/** What is known of findings, without comparing anew: accepted ones are among them. */
export function keptFindings({ store }: Pick<Engine, "store">): KeptFinding[] {
  return store.sweeps.findings().flatMap(({ state, note, row, firstMs }) => {
    if (row === null || state === "seen" || state === "cleared") return [];
    const since = new Date(firstMs).toISOString();
    return [{ ...(JSON.parse(row) as Finding), state, note, since }];
  });
}

/**
 * A person settles a finding, or takes that back: inside a transaction. `digest`: of the values that were seen. False: there is
 * none of this key, or it has other values now.
 */
export function settleFinding(
  { store, clock }: Pick<Engine, "store" | "clock">,
  { key, digest }: Pick<Finding, "key" | "digest">,
  state: KeptFinding["state"],
  person: { readonly by: string; readonly note: string },
): boolean {
  const one = store.sweeps.find(MATCH, key);
  if (one === null || one.state === "cleared" || one.digest !== digest) return false;
  store.sweeps.settle(one.difference, state, `${person.by}: ${person.note}`);
  const detail = `${one.number}: ${one.cause}`;
  const event = `finding ${state === "open" ? "opened again" : state}`;
  store.journal.audit(clock.now().wallMs, { event, detail, person });
  return true;
}

/** Why papers could not be compared when that was last tried, ISO 8601 UTC, and what to do; null: they were, or never tried. */
export function matchTrouble({ store }: Pick<Engine, "store">) {
  const failed = store.sweeps.matchFailed();
  if (failed === null) return null;
  const at = new Date(failed.startedMs).toISOString();
  return { at, ...(JSON.parse(failed.detail ?? "") as Unanswered) };
}

/** When all papers were last matched and how that came out; null: never. A run of one party or direction is not one of all. */
export function lastMatch({ store }: Pick<Engine, "store">): {
  readonly at: string;
  readonly report: Omit<MatchReport, "findings" | "accepted">;
} | null {
  const last = store.sweeps.lastMatched();
  return last === null || last.counts === null
    ? null
    : {
        at: new Date(last.endedMs ?? last.startedMs).toISOString(),
        report: JSON.parse(last.counts) as Omit<MatchReport, "findings" | "accepted">,
      };
}
