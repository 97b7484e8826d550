/**
 * One event of the table of fates, played on a copy of a site in step: every document that can meet it does, the program
 * runs, both sides are compared by a reconciliation, and each cell is decided by what is seen.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Quarantined, QuarantineGroup, Status } from "../../src/office/answers.ts";
import { agreeing } from "../../src/reconcile/case.ts";
import type { Report } from "../../src/reconcile/report.ts";
import type { BooksSite } from "../support/books-site.ts";
import { platformSide } from "./platform.ts";
import {
  type Act,
  type Actor,
  type Cell,
  type Event,
  type Fate,
  type Held,
  type Kind,
  kinds,
  type Side,
  type Travels,
  type Way,
  ways,
} from "./table.ts";

export interface Site extends Pick<
  BooksSite,
  "control" | "companyId" | "here" | "ask" | "close" | "folder"
> {
  readonly side: Side;
  /** Of the books, to put back into a copy. */
  backup(): string | Promise<string>;
  /** How often the program runs before both sides are looked at. */
  readonly runs?: number;
}

export interface Counterpart {
  readonly connector: string;
  /** @param backup of the books of a site that was copied; left out: it is new */
  open(folder: string, backup?: string): Promise<Site>;
  /** Why a kind does not travel so with this connector. */
  readonly lacks: Readonly<Partial<Record<Travels, string>>>;
}

const MADE_WITH = "no flow reads the platform's parties: one is made with its first document";
const NO_PLACE = "the platform's interface has no place for it";

/** Of a payment in books. */
export const NO_COPY =
  "nobody copies a payment: another one is entered for what is open, and is one of its own";

/** What no connector carries. */
export const NOT_CARRIED = {
  "customer to books": MADE_WITH,
  "supplier to books": MADE_WITH,
  "price to books": "no flow takes the platform's prices into books",
  "bill to platform": NO_PLACE,
  "order to platform": NO_PLACE,
  "purchase to platform": NO_PLACE,
  "ticket to platform": NO_PLACE,
  "delivery to platform": NO_PLACE,
} as const;

export interface Prepared {
  /** What is told of it although it is in step. */
  readonly noise: readonly string[];
  /** A copy of the site in step, until it is closed. */
  copy(): Promise<Site>;
  end(): void;
}

const OF_EACH = 2;
const RUNS_MAX = 5;

const travelsOf = (kind: Kind, way: Way): Travels => `${kind} ${way}`;
const all = kinds.flatMap((kind) => ways.map((way) => ({ kind, way })));

const sidesOf = (site: Site): Readonly<Record<"books" | "platform", Side>> => ({
  books: site.side,
  platform: platformSide(site),
});

/** Where it comes from and where it goes to; null: it does not travel so. */
function actorsOf(site: Site, kind: Kind, way: Way): { from: Actor; to: Actor } | null {
  const { books, platform } = sidesOf(site);
  const [here, there] = [books[travelsOf(kind, way)], platform[travelsOf(kind, way)]];
  if (here === undefined || there === undefined) return null;
  return way === "to books" ? { from: there, to: here } : { from: here, to: there };
}

/** A site with some documents of every kind in both directions, brought in step once. @throws Error when it is not */
export async function prepared(counterpart: Counterpart): Promise<Prepared> {
  const folder = mkdtempSync(join(tmpdir(), "fuelbridge-fates-"));
  const site = await counterpart.open(folder);
  let backup: string;
  let noise: readonly string[];
  try {
    for (const { kind, way } of all) {
      const make = actorsOf(site, kind, way)?.from.make;
      for (let at = 0; at < OF_EACH; at++) await make?.();
    }
    const said = await site.here("once");
    if (said.code !== 0) throw new Error(`not in step: ${said.out}${said.err}`);
    noise = await tellings(site, true);
    backup = await site.backup();
  } finally {
    await site.close();
  }
  return {
    noise,
    copy() {
      const copy = mkdtempSync(join(tmpdir(), "fuelbridge-fates-"));
      cpSync(folder, copy, { recursive: true, preserveTimestamps: true });
      return counterpart.open(copy, backup);
    },
    end: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What happens to one document, and what was there before. */
interface Case {
  readonly kind: Kind;
  readonly way: Way;
  readonly from: Actor;
  readonly to: Actor;
  /** At its source. */
  readonly subject: Held;
  /** The same at its receiver. */
  readonly partner: Held;
  readonly before: readonly Held[];
  /** What was there at the source. */
  readonly sources: readonly Held[];
  /** New numbers, and documents that people entered. */
  number: string | null;
  made: Held | null;
}

/** All cells of an event. */
export async function played(
  counterpart: Counterpart,
  base: Prepared,
  event: Event,
  only?: readonly Kind[],
): Promise<Cell[]> {
  const site = await base.copy();
  try {
    const cases: Case[] = [];
    const cells: Cell[] = [];
    const cell = (kind: Kind, way: Way, fate: Fate, words: string): void =>
      void cells.push({ connector: counterpart.connector, kind, way, event, fate, words });
    const before = new Set(base.noise);
    for (const { kind, way } of all) {
      if (only !== undefined && !only.includes(kind)) continue;
      const actors = actorsOf(site, kind, way);
      const lack = counterpart.lacks[travelsOf(kind, way)];
      if (actors === null) {
        if (lack === undefined)
          throw new Error(`${counterpart.connector}: ${kind} ${way} has no actor and no reason`);
        cell(kind, way, "does not apply", lack);
        continue;
      }
      const missing = missingOf(event, actors);
      if (missing !== null) cell(kind, way, "does not apply", missing);
      else cases.push(await begun(actors, kind, way));
    }
    for (const one of cases) await happens(event, one);
    const entered = new Set(
      cases.flatMap(({ made }) => (made === null ? [] : [made.id, ...(made.names ?? [])])),
    );
    const said: string[] = [];
    for (let run = 0; run < RUNS_MAX; run++) {
      const { code, out, err } = await site.here("once");
      said.push(`once ended with ${code}: ${out}${err.slice(0, 500)}`);
      if (run > 0 && out.startsWith("In step")) break;
      await pause(1_100);
    }
    const told = (await tellings(site, true)).filter((line) => !before.has(line));
    for (const one of cases) {
      const [fate, words] = await judged(event, one, told, entered);
      cell(one.kind, one.way, fate, words);
      verbose(`${one.kind} ${one.way}: ${event}: ${fate}: ${words}`);
    }
    verbose([...said, ...told].join("\n"));
    return cells;
  } finally {
    await site.close();
    rmSync(site.folder, { recursive: true, force: true });
  }
}

/** The acts that an event is made of, at the source and at the receiver. */
const ACTS: Readonly<Record<Event, { from?: readonly Act[]; to?: readonly Act[] }>> = {
  "number changed at its source": { from: ["renumber"] },
  "number changed at its receiver": { to: ["renumber"] },
  // Of one that the books receive, its party's: the next one of that party shows whose it is.
  "code changed in the books": {},
  "voided at its source": { from: ["void"] },
  "removed at its source": { from: ["remove"] },
  "voided at its receiver": { to: ["void"] },
  "removed at its receiver": { to: ["remove"] },
  "copied at its source": { from: ["copy"] },
  "copied at its receiver": { to: ["copy"] },
  "entered by hand at its receiver": { to: ["copy"] },
  "the same arrives twice": { from: ["touch"] },
  "write cut before it is carried out": { from: ["make"], to: ["cutWrite"] },
  "write cut after it was carried out": { from: ["make"], to: ["cutWrite"] },
  "list cut": { from: ["make", "cutList"] },
};

/** Why the event cannot be; null: it can. */
function missingOf(event: Event, { from, to }: { from: Actor; to: Actor }): string | null {
  const { from: there = [], to: here = [] } = ACTS[event];
  const lacking = [
    ...there.map((act) => (from[act] === undefined ? (from.lacks?.[act] ?? noAct(act)) : null)),
    ...here.map((act) => (to[act] === undefined ? (to.lacks?.[act] ?? noAct(act)) : null)),
    ...(event === "code changed in the books" &&
    from.recode === undefined &&
    to.recode === undefined
      ? [from.lacks?.recode ?? to.lacks?.recode ?? noAct("recode")]
      : []),
  ];
  return lacking.find((reason) => reason !== null) ?? null;
}

const noAct = (act: Act): string => {
  throw new Error(`an actor has no act ${act} and does not say why`);
};

async function begun(actors: { from: Actor; to: Actor }, kind: Kind, way: Way): Promise<Case> {
  const [there, before] = [await actors.from.list(), await actors.to.list()];
  for (const subject of there.filter(({ stands }) => stands)) {
    const partner = before.find((one) => isPartner(subject, one) && one.stands);
    if (partner !== undefined)
      return {
        ...actors,
        kind,
        way,
        subject,
        partner,
        before,
        sources: there,
        number: null,
        made: null,
      };
  }
  throw new Error(
    `no ${kind} ${way} is on both sides: ${JSON.stringify({ there, before }).slice(0, 2_000)}`,
  );
}

const isPartner = (one: Held, other: Held): boolean =>
  one.partner === other.id ||
  other.partner === one.id ||
  (one.partner === undefined && other.partner === undefined && one.number === other.number);

async function happens(event: Event, one: Case): Promise<void> {
  const { from, to, subject, partner } = one;
  switch (event) {
    case "number changed at its source":
      one.number = (await from.renumber?.(subject)) ?? null;
      return;
    case "number changed at its receiver":
      one.number = (await to.renumber?.(partner)) ?? null;
      return;
    case "code changed in the books":
      if (to.recode !== undefined) {
        await to.recode(partner);
        one.made = (await from.make?.()) ?? null;
      } else {
        await from.recode?.(subject);
        if (!/customer|supplier|price/.test(one.kind)) one.made = (await from.make?.()) ?? null;
      }
      return;
    case "voided at its source":
      return from.void?.(subject);
    case "removed at its source":
      return from.remove?.(subject);
    case "voided at its receiver":
      return to.void?.(partner);
    case "removed at its receiver":
      return to.remove?.(partner);
    case "copied at its source":
      one.made = (await from.copy?.(subject)) ?? null;
      return;
    case "copied at its receiver":
    case "entered by hand at its receiver":
      one.made = (await to.copy?.(partner, event !== "copied at its receiver")) ?? null;
      return;
    case "the same arrives twice":
      return from.touch?.(subject);
    case "list cut":
      one.made = (await from.make?.()) ?? null;
      return from.cutList?.();
    case "write cut before it is carried out":
    case "write cut after it was carried out":
      one.made = (await from.make?.()) ?? null;
      return to.cutWrite?.(event.includes("before") ? "before" : "after");
  }
}

/** By what both sides hold now, and by what is told of it. */
async function judged(
  event: Event,
  one: Case,
  told: readonly string[],
  entered: ReadonlySet<string>,
): Promise<readonly [Fate, string]> {
  const { from, to, subject, partner, before, made } = one;
  const after = await to.list();
  const source = (await from.list()).find(({ id }) => id === subject.id);
  const known = new Set(before.map(({ id }) => id));
  const more = after.filter(
    (row) => !known.has(row.id) && !entered.has(row.id) && row.stands && isOf(row, one, source),
  );
  const now = after.find(({ id }) => id === partner.id);
  const isMade = /cut|code changed/.test(event) && made !== null;
  // What a list that was cut lacks stands for all of it: nobody can know of what was never seen.
  const listed = event === "list cut" ? await from.list() : [];
  const names = namesOf(one, [...more, ...listed]);
  // What waits is not told: it is expected to come by itself.
  const telling = told.filter((line) => !line.startsWith("(waiting)"));
  const sayings = telling.filter((line) => names.some((name) => name.test(line)));
  const seen = `there ${words(source)}, here ${words(now)}${more.length > 0 ? `, new here ${more.map(words).join(" and ")}` : ""}`;
  const said = sayings[0];
  const toldOr = (fate: Fate, what: string): readonly [Fate, string] =>
    said === undefined
      ? [fate, `${what}: ${seen}`]
      : [said.startsWith("refused") ? "refused" : "told", said.slice(0, 240)];

  if (more.length > (isMade || event === "copied at its source" ? 1 : 0))
    return [
      "doubled",
      `${seen}${said === undefined ? "" : `; told after it: ${said.slice(0, 160)}`}`,
    ];
  switch (event) {
    case "number changed at its source":
      return now?.number === one.number
        ? ["brought over", `here ${words(now)}`]
        : toldOr("silent", `its number is ${one.number} at its source`);
    case "number changed at its receiver":
      return now?.number === partner.number
        ? ["brought over", `its number is ${words(now)} again`]
        : toldOr("silent", `its number is ${one.number} at its receiver`);
    case "voided at its source":
    case "removed at its source":
      return now === undefined || !now.stands
        ? ["brought over", `here ${words(now)}`]
        : toldOr("silent", "it stands at its receiver");
    case "voided at its receiver":
    case "removed at its receiver":
      return toldOr("silent", "it stands at its source");
    case "copied at its source":
      if (more.length === 0) return toldOr("silent", "the copy did not go out");
      return one.kind === "payment"
        ? ["brought over", "two payments with one reference are two payments"]
        : [
            "doubled",
            `${seen}${said === undefined ? "" : `; told after it: ${said.slice(0, 160)}`}`,
          ];
    case "copied at its receiver":
    case "entered by hand at its receiver": {
      const sources = new Set(one.sources.map(({ id }) => id));
      const back = (await from.list()).filter(
        (row) =>
          !sources.has(row.id) &&
          !entered.has(row.id) &&
          (row.partner === made?.id || row.number === made?.number),
      );
      return back.length > 0
        ? ["doubled", `its copy went back: ${back.map(words).join(" and ")}`]
        : toldOr("silent", "its copy stands at its receiver");
    }
    case "the same arrives twice":
      return now?.stands === true ? ["brought over", "it is known again"] : toldOr("lost", "gone");
    case "code changed in the books": {
      if (!isMade) {
        return now?.number === source?.number && now?.stands === true
          ? ["brought over", seen]
          : toldOr("silent", "its code is another");
      }
      const [arrived] = more;
      if (arrived === undefined) return toldOr("lost", "the next one of that party did not arrive");
      return arrived.party === now?.party
        ? ["brought over", `the next one is of the same party: ${words(arrived)}`]
        : toldOr("silent", `the next one is of another party: ${words(arrived)}`);
    }
    case "write cut before it is carried out":
    case "write cut after it was carried out":
    case "list cut":
      return more.length === 1
        ? ["brought over", `once: ${more.map(words).join()}`]
        : toldOr("lost", "it did not arrive");
  }
}

/** Other documents of the round add to the same list. */
function isOf(row: Held, { made, subject, number }: Case, source: Held | undefined): boolean {
  const mine = [subject, source, made].filter((one) => one !== undefined && one !== null);
  return row.partner === undefined
    ? [number, ...mine.map((one) => one.number)].includes(row.number)
    : mine.some(({ id }) => id === row.partner);
}

const words = (held: Held | undefined): string =>
  held === undefined
    ? "nothing"
    : `${held.number ?? held.id}${held.stands ? "" : " (void)"}${held.party ? ` of ${held.party}` : ""}`;

/** As whole words; what is short counts behind its kind, as it is a part of many texts. */
function namesOf({ kind, subject, partner, number, made }: Case, more: readonly Held[]): RegExp[] {
  const held = [subject, partner, ...(made === null ? [] : [made]), ...more];
  const names = held.flatMap((one) => [one.id, one.number ?? "", ...(one.names ?? [])]);
  return [...names, number ?? ""]
    .filter((name) => name !== "")
    .map((name) => {
      const isClear = /\D.*\d|\d.*\D|.{9}/.test(name);
      return new RegExp(
        `${isClear ? "" : `${WORDS[kind]}.*`}(?<![\\w-])${escaped(name)}(?![\\w-])`,
      );
    });
}

/** As reconciliation calls them. */
const WORDS: Readonly<Record<Kind, string>> = {
  customer: "party",
  supplier: "party",
  invoice: "invoice",
  bill: "bill",
  payment: "payment",
  order: "order",
  purchase: "order",
  ticket: "ticket",
  delivery: "ticket",
  price: "price",
};

/** Everything that a person is told about documents, one line each. */
async function tellings(site: Site, andCompared = false): Promise<string[]> {
  const lines: string[] = [];
  const { groups } = await site.ask<{ groups: QuarantineGroup[] }>("quarantine", "list");
  for (const { id, flow, code } of groups) {
    const { deliveries } = await site.ask<{ deliveries: Quarantined[] }>("quarantine", "show", id);
    for (const one of deliveries)
      lines.push(
        `quarantine ${flow} ${code}: ${one.number} ${one.recordId} ${one.document}: ${one.cause}`,
      );
  }
  const { flows, stops } = await site.ask<Status>("status");
  for (const { breaker, scope, message } of stops)
    lines.push(`stopped ${breaker} ${scope}: ${message}`);
  for (const { name, unread, lastError } of flows) {
    for (const { what, code, message } of unread)
      lines.push(`refused ${name} ${code}: ${what}: ${message}`);
    if (lastError !== null) lines.push(`refused ${name} ${lastError.code}: ${lastError.message}`);
  }
  if (!andCompared) return lines;
  // Books date what is entered now by their own clock, which may be a day ahead of the company's.
  const days = ["--from", dayFromNow(-30), "--to", dayFromNow(1)];
  const { out } = await site.here("reconcile", ...days, "--json");
  const { data } = JSON.parse(out || "{}") as { data?: Report };
  for (const { bucket, kind, number, records, cause, differences } of data?.cases ?? []) {
    if (agreeing.has(bucket)) continue;
    const ids = [...records.platform, ...records.books].map((one) => `${one.id} ${one.number}`);
    const fields = differences.map(({ field, platform, books }) => `${field} ${platform}/${books}`);
    lines.push(
      `${bucket === "waiting" ? "(waiting)" : "reconcile"} ${bucket}: ${kind} ${number} (${ids.join(", ")}) ${cause?.code}: ${fields.join("; ")}`,
    );
  }
  if (data === undefined || data.state !== "done") lines.push(`not compared: ${out.slice(0, 400)}`);
  return lines;
}

/** `FATES_VERBOSE=yes`: what was decided by what. */
function verbose(text: string): void {
  if (process.env["FATES_VERBOSE"] !== undefined) process.stdout.write(`${text}\n`);
}

const dayFromNow = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
