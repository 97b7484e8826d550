/** What people know a document by: its party, its amount, and one line that says what it is and where it stands. */
import type { About } from "../core/contract.ts";
import { inCents, money } from "../core/text.ts";
import { type Json, parseExact } from "../core/json.ts";
import type { Engine, Flow } from "../engine/engine.ts";
import { type Link, ownId } from "../store/deliveries.ts";

/** A record that its source could not read, or that does not fit, says nothing. */
export function aboutOf(flow: Flow | undefined, text: string | null): About & { number?: string } {
  return flow === undefined ? {} : aboutRecord(flow, readText(text));
}

/** What a record's text says; undefined: it cannot be read, or there is none. */
export function readText(text: string | null): Json | undefined {
  try {
    return text === null ? undefined : parseExact(text);
  } catch {
    return undefined;
  }
}

/** The same of a record that was read already. */
export function aboutRecord(
  flow: Flow | undefined,
  read: Json | undefined,
): About & { number?: string } {
  if (flow === undefined || read === undefined) return {};
  try {
    const record = flow.mapping.input.safeParse(read);
    if (!record.success) return {};
    return { number: flow.mapping.number(record.data), ...flow.mapping.about?.(record.data) };
  } catch {
    return {};
  }
}

interface Party {
  readonly code: string | null;
  readonly name: string | null;
}

/** `000113 Lake Marina` */
export const partyText = ({ code, name }: Party): string | null =>
  [code, name].filter(Boolean).join(" ") || null;

/** By the ERP's code where the platform's id is linked, or in a table of parties. Asks the store. */
export function partyOf(
  { store, tables, flows }: Pick<Engine, "store" | "tables" | "flows">,
  { party = null, partyName = null }: About,
): Party {
  if (party === null) return { code: null, name: partyName };
  const link = store.links.parties(party).at(0);
  const row = rowOf(tables, party);
  const code = link?.erpId ?? row?.["account"] ?? party;
  const own = link === undefined ? null : ownName({ store, flows }, link);
  return { code, name: partyName ?? row?.["name"] ?? own };
}

/** Looks each party up once, since that reads and parses its own record. For one synchronous piece of work: no name changes. */
export function partiesOf(
  engine: Pick<Engine, "store" | "tables" | "flows">,
): (about: About) => Party {
  const parties = new Map<string, Party>();
  return (about) => {
    const key = JSON.stringify([about.party, about.partyName]);
    const known = parties.get(key) ?? partyOf(engine, about);
    parties.set(key, known);
    return known;
  };
}

/** As the party's own record calls it. */
function ownName({ store, flows }: Pick<Engine, "store" | "flows">, link: Link): string | null {
  const flow = flows.find(({ mapping }) => mapping.kind === link.kind);
  if (flow === undefined) return null;
  const [record] = store.samples.named(flow.flow, ownId(link, flow.side));
  return aboutOf(flow, record?.text ?? null).partyName ?? null;
}

/** A table that is being edited names nobody for a moment. */
function rowOf(tables: Engine["tables"], party: string) {
  try {
    return tables.row("customers", party) ?? tables.row("vendors", party);
  } catch {
    return null;
  }
}

/** The day of the document where it tells one. `dayOf`: the company's day of an instant. */
export const dayIn = ({ day = null }: About, dayOf: Engine["dayOf"]): string | null =>
  day === null || day.length === 10 ? day : dayOf(day);

/** What a document is looked at by, beside its number. */
export function shownFacts({ currency, dayOf }: Engine, about: About, { code, name }: Party) {
  const { amount = null } = about;
  return {
    /** The other party, as people call it. */
    partyName: name ?? code,
    /** Decimal digits, in `currency` (ISO 4217); null: it has none, or it cannot be read. */
    amount: amount === null ? null : inCents(amount),
    currency: amount === null ? null : (about.currency ?? currency),
    /** Its own, `YYYY-MM-DD`; null: it tells none. */
    day: dayIn(about, dayOf),
  };
}

/** What became of a delivery, as people say it. */
export function standing(
  state: string,
  { note, cause }: { readonly note: string | null; readonly cause: string | null },
): string {
  switch (state) {
    case "pending":
      return "is on its way";
    case "frozen":
      return "is being sent";
    case "delivered":
      return "is delivered";
    case "skipped":
      return note === null || note === "" ? "is not to be sent" : `is not to be sent: ${note}`;
    case "echo":
      return "was sent from here, and came back";
    case "quarantined":
      return cause ?? "needs you";
    case "resolved":
      return "is settled by hand";
    default:
      return "was replaced by a newer version";
  }
}

interface Summed {
  readonly number: string;
  readonly about: About;
  readonly party: Party;
  /** What became of it. */
  readonly stands: string;
}

/** `INV-118 · Prairie Fuel · $20,712.42 · waits for customer 000113`. `currency`: of a document that names none, ISO 4217. */
export function summaryOf(
  currency: string,
  { number, about, party: { code, name }, stands }: Summed,
): string {
  const { amount = null } = about;
  const sum = amount === null ? null : money(inCents(amount), about.currency ?? currency);
  // A party's own record is numbered by its code.
  const party = name ?? (code === number ? null : code);
  return [about.name || number, party === number ? null : party, sum, stands]
    .filter((part) => part !== null && part !== "")
    .join(" · ");
}
