/**
 * Finds documents. Numbers and ids are found in the store as it is; party, amount and day by a table that is made from
 * the records in small steps, so that pulling does not wait for it.
 */
import { Decimal } from "../core/decimal.ts";
import type { Engine, Flow } from "../engine/engine.ts";
import type { FoundRow } from "../store/found.ts";
import { aboutOf, inCents, partiesOf, partyOf, partyText, standing, summaryOf } from "./about.ts";
import type { Found, FoundDocument, Searching } from "./desk.ts";
import { remedyOf } from "./remedies.ts";

const PAGE = 25;
/** Deliveries that are taken into the table in one transaction. */
const STEP = 100;

/** Takes into the table what came since, where that is little: whoever searches finds what has just come. */
export function catchUpWithFew(engine: Engine, flows: readonly Flow[]): void {
  if (engine.store.found.unsearchedCount() <= STEP) catchUp(engine, flows, 0);
}

/**
 * The same for about so long, however much it is.
 * @param forMs of the thread that also pulls and sends
 */
export function catchUp(engine: Engine, flows: readonly Flow[], forMs: number): void {
  const { store, dayOf } = engine;
  const byName = new Map(flows.map((flow) => [flow.name, flow]));
  const endMs = performance.now() + forMs;
  const called = partiesOf(engine);
  do {
    const rows = store.found.unsearched(STEP);
    const last = rows.at(-1);
    if (last === undefined) return;
    const facts = rows.map(({ record, flow: name, text, receivedMs }) => {
      const about = aboutOf(byName.get(name), text);
      const { amount = null } = about;
      return {
        record,
        party: partyText(called(about)),
        amount: amount === null ? null : inCents(amount),
        day: dayOf(new Date(receivedMs).toISOString()),
      };
    });
    store.transaction(() => store.found.search(facts, last.delivery));
  } while (performance.now() < endMs);
}

export function documentsOf(
  engine: Engine,
  flows: readonly Flow[],
  { text, before }: Searching,
): Found {
  const { found } = engine.store;
  const end =
    before !== null && /^\d{1,15}$/.test(before) ? Number(before) : Number.MAX_SAFE_INTEGER;
  const records =
    text === null || text.trim() === ""
      ? found.newest(end, PAGE + 1)
      : matching(engine, text.trim(), end);
  const rows = records.slice(0, PAGE).flatMap((record) => found.row(record) ?? []);
  return {
    documents: rows.map((row) => documentOf(engine, flows, row)),
    next: records.length > PAGE ? String(records[PAGE - 1]) : null,
    unsearched: found.unsearchedCount(),
  };
}

/** The newest ones of each way to read the text. */
function matching({ store: { found, links } }: Engine, text: string, end: number): number[] {
  const limit = PAGE + 1;
  const amount = amountIn(text);
  const day = dayIn(text);
  const upper = text.toUpperCase();
  // By an id of either side, or by a number that a link has.
  const ids = new Set([
    text,
    ...links.search(text).flatMap(({ platformId, erpId }) => [platformId, erpId]),
  ]);
  const all = [
    ...found.byNumber(text, end, limit),
    ...(upper === text ? [] : found.byNumber(upper, end, limit)),
    ...[...ids].flatMap((id) => found.byId(id, end)),
    ...(amount === null ? [] : found.byAmount(amount, end, limit)),
    ...(day === null ? [] : found.byDay(day, end, limit)),
    ...(text.length < 2 ? [] : found.byParty(text, end, limit)),
  ];
  return [...new Set(all)].toSorted((one, other) => other - one).slice(0, limit);
}

/** `$20,712.42`, `20712.42` */
function amountIn(text: string): string | null {
  const digits = text.replace(/^(-?)\s*[$€£]\s*/, "$1").replaceAll(/,(?=\d{3}(?!\d))/g, "");
  return Decimal.is(digits) ? inCents(Decimal.of(digits)) : null;
}

/** `2026-11-22`, `11/22/2026` */
function dayIn(text: string): string | null {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
  const [, month = "", day = "", year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text) ?? [];
  return year === undefined ? null : `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
}

export function documentOf(engine: Engine, flows: readonly Flow[], row: FoundRow): FoundDocument {
  const flow = flows.find(({ name }) => name === row.flow);
  const about = aboutOf(flow, row.text);
  const number = row.number ?? about.number ?? row.recordId;
  return {
    id: String(row.record),
    flow: row.flow,
    kind: flow?.mapping.kind ?? "document",
    summary: summaryOf(engine.currency, {
      number,
      about,
      party: partyOf(engine, about),
      stands: standing(row.state, row),
    }),
    number,
    state: row.state,
    clears: row.code !== null && remedyOf(row.code).helps.includes("wait"),
    receivedAt: new Date(row.receivedMs).toISOString(),
  };
}
