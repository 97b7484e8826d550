/** What is made of the segments of an IDoc. */
import type { PartyRecord, PriceRecord } from "../../ledger/documents.ts";
import type { Change, Surroundings } from "../../core/contract.ts";
import { Decimal } from "../../core/decimal.ts";
import type { Fault } from "../../core/fault.ts";
import { stringifyExact } from "../../core/json.ts";
import type { RecordReader } from "../format.ts";
import type { CondSource, IdocSource, KeyPart, PartySource } from "./config.ts";
import {
  below,
  dayIn,
  dividedBy,
  field,
  type Idoc,
  idocsIn,
  numberIn,
  overlong,
  type Read,
  XML_BYTES_MAX,
} from "./xml.ts";

/** What was read of one record: itself, or why it cannot be taken; null: it is rightly left out, as `why` says. */
export type Taken =
  | { readonly id: string; readonly record: object }
  | { readonly id: string; readonly fault: Fault; readonly raw: unknown }
  | { readonly id: null; readonly why: string };

export type TakenFrom = (idoc: Idoc) => readonly Taken[];

const NEXT = "Have it corrected in SAP, and sent again; or correct this source's settings.";

const badField = (at: string, message: string): Fault => ({
  code: "bad-field",
  message: `${at} ${message}.`,
  next: NEXT,
  field: at,
});

/* Customers (DEBMAS) and vendors (CREMAS) as parties. Their code is SAP's number as it is written, with its zeros. */

/** What both segments have. */
const SHARED = [
  "LAND1",
  "LOEVM",
  "NAME1",
  "NAME2",
  "NAME3",
  "NAME4",
  "ORT01",
  "PSTLZ",
  "REGIO",
  "STRAS",
  "TELF1",
  "MSGFN",
] as const;

/** Where each message has what the other calls otherwise. Blocked: no orders, no postings, no purchases. */
const PARTIES = {
  DEBMAS: { segment: "E1KNA1M", code: "KUNNR", group: "KTOKD", blocks: ["AUFSD"] },
  CREMAS: { segment: "E1LFA1M", code: "LIFNR", group: "KTOKK", blocks: ["SPERR", "SPERM"] },
} as const;

function partyRecords(config: PartySource): TakenFrom {
  const { segment } = PARTIES[config.message];
  return (idoc) => {
    const found = below({ below: idoc.records }, segment);
    if (found.length === 0)
      return [refusal(idoc.origin, segment, `is missing: the IDoc has no ${segment}`, null)];
    return found.map((one) => taken(config, one));
  };
}

function taken({ accountGroups, message }: PartySource, read: Read): Taken {
  const { segment, ...names } = PARTIES[message];
  const code = field(read, segment, names.code);
  const group = field(read, segment, names.group);
  const isBlocked = names.blocks.some((name) => field(read, segment, name) !== null);
  if (accountGroups !== undefined && !accountGroups.includes(group ?? ""))
    return { id: null, why: `account group ${group ?? "none"}` };
  if (code === null) return refusal("?", segment, "has no number", read);
  const [long] = overlong(read, segment);
  if (long !== undefined) return refusal(code, segment, `cannot be right: ${long}`, read);
  const said = Object.fromEntries(
    SHARED.map((name) => [name, field(read, segment, name)]),
  ) as Record<(typeof SHARED)[number], string | null>;
  const lines = [said.NAME1, said.NAME2, said.NAME3, said.NAME4].flatMap(
    (name) => name?.trim() || [],
  );
  if (lines.length === 0) return refusal(code, `${segment}-NAME1`, `is empty for ${code}`, read);
  const record: PartyRecord = {
    code,
    name: lines.join(" "),
    isCustomer: message === "DEBMAS",
    isSupplier: message === "CREMAS",
    companyId: null,
    email: null,
    phone: said.TELF1,
    street: said.STRAS,
    city: said.ORT01,
    state: said.REGIO === null || said.LAND1 === null ? said.REGIO : `${said.LAND1}-${said.REGIO}`,
    zip: said.PSTLZ,
    country: said.LAND1,
    // Deleted, marked for it, or blocked.
    active: said.MSGFN !== "003" && said.LOEVM === null && !isBlocked,
  };
  return { id: code, record };
}

const refusal = (id: string, at: string, message: string, read: Read | null): Taken => ({
  id,
  fault: badField(at, message),
  raw: read?.fields ?? null,
});

/* Conditions (COND_A) as rack prices: the amount for one unit, of the validity that holds today. */

type Site = Pick<Surroundings, "currency" | "dayOf" | "now">;

function priceRecords(config: CondSource, site: Site): TakenFrom {
  const today = (): string => site.dayOf(site.now().toISOString());
  return ({ records, origin }) => {
    const keys = below({ below: records }, "E1KOMG");
    if (keys.length === 0)
      return [
        { id: origin, fault: badField("E1KOMG", "is missing: the IDoc has no key"), raw: null },
      ];
    return keys.flatMap((key) => {
      const type = field(key, "E1KOMG", "KSCHL") ?? "";
      if (!config.conditionTypes.includes(type)) return [left(`condition type ${type || "none"}`)];
      return below(key, "E1KONH").flatMap((validity) =>
        below(validity, "E1KONP").map((amount) => {
          try {
            return priceOf(config, site.currency, today(), { key, validity, amount, origin });
          } catch (error) {
            if (!(error instanceof Wrong)) throw error;
            return {
              id: error.id,
              fault: error.fault,
              raw: [key.fields, validity.fields, amount.fields],
            };
          }
        }),
      );
    });
  };
}

const left = (why: string): Taken => ({ id: null, why });

/** A condition that a person must see to. */
class Wrong extends Error {
  readonly id: string;
  readonly fault: Fault;

  constructor(id: string, fault: Fault) {
    super(fault.message);
    this.id = id;
    this.fault = fault;
  }
}

interface Condition {
  readonly key: Read;
  readonly validity: Read;
  readonly amount: Read;
  readonly origin: string;
}

/** @throws Wrong */
function priceOf(config: CondSource, currency: string, today: string, condition: Condition): Taken {
  const { key, validity, amount, origin } = condition;
  const list = keyPart(key, config.terminal);
  const product = keyPart(key, config.product);
  const id = list === null || product === null ? origin : `${list}|${product}`;
  const wrong = (at: string, message: string): Wrong => new Wrong(id, badField(at, message));
  if (list === null) throw wrong("E1KOMG", "has no terminal in its key");
  if (product === null) throw wrong("E1KOMG", "has no product in its key");
  const [long] = [...overlong(key, "E1KOMG"), ...overlong(amount, "E1KONP")];
  if (long !== undefined) throw wrong(long.split(" ", 1)[0] ?? "", "is longer than SAP has it");
  if (field(amount, "E1KONP", "LOEVM_KO") !== null) return left("deleted in SAP (LOEVM_KO)");
  const day = (name: "DATAB" | "DATBI"): string | null => {
    try {
      return dayIn(field(validity, "E1KONH", name));
    } catch (error) {
      throw wrong(`E1KONH-${name}`, (error as RangeError).message);
    }
  };
  const [from, to] = [day("DATAB"), day("DATBI")];
  if (to !== null && to < today) return left("no longer valid (DATBI)");
  if (from !== null && from > today)
    throw new Wrong(id, {
      code: "not-valid-yet",
      message: `the price of ${product} at ${list} holds from ${from}, and the platform takes prices for now only`,
      next: "Have SAP send it on that day; or enter it on the platform then, and resolve it here.",
      field: "E1KONH-DATAB",
    });
  if (["E1KONM", "E1KONW"].some((scale) => amount.below.some(({ name }) => name === scale)))
    throw wrong("E1KONP", "has a scale; the platform has one price for any quantity");
  return {
    id,
    record: { list, product, ...rateOf(config, currency, amount, wrong) } satisfies PriceRecord,
  };
}

const ONE = Decimal.of("1");

/** @throws Wrong */
function rateOf(
  { units }: CondSource,
  currency: string,
  amount: Read,
  wrong: (at: string, message: string) => Wrong,
): Pick<PriceRecord, "price" | "unit"> {
  const kind = field(amount, "E1KONP", "KRECH");
  if (kind !== null && kind !== "C")
    throw wrong("E1KONP-KRECH", `is "${kind}"; a price is an amount per quantity, "C"`);
  const said = field(amount, "E1KONP", "KONWA");
  if (said !== currency)
    throw wrong("E1KONP-KONWA", `is "${said ?? ""}"; the company's currency is ${currency}`);
  const number = (name: "KBETR" | "KPEIN"): Decimal | null => {
    const text = field(amount, "E1KONP", name);
    if (text === null) return null;
    const value = numberIn(text);
    if (value === null) throw wrong(`E1KONP-${name}`, `is "${text}", which is no number`);
    return value;
  };
  const rate = number("KBETR");
  if (rate === null) throw wrong("E1KONP-KBETR", "is empty");
  const per = number("KPEIN") ?? ONE;
  const price = dividedBy(rate, per);
  if (price === null)
    throw wrong("E1KONP-KPEIN", `is ${per.plain()}, by which ${rate.plain()} cannot be divided`);
  const code = field(amount, "E1KONP", "KMEIN") ?? "";
  const unit = units[code];
  if (unit === undefined)
    throw wrong("E1KONP-KMEIN", `is "${code}", a unit that "units" of this source does not have`);
  return { price, unit };
}

function keyPart(key: Read, part: KeyPart): string | null {
  if (typeof part === "string") return field(key, "E1KOMG", part)?.trim() || null;
  const whole = field(key, "E1KOMG", "VAKEY_LONG") ?? field(key, "E1KOMG", "VAKEY") ?? "";
  return whole.slice(part.from - 1, part.from - 1 + part.length).trim() || null;
}

/* Files that SAP sends, as the neutral records of books: customers, vendors and rack prices. */

export const idocRecords = ({ message }: Pick<IdocSource, "message">): string =>
  message === "COND_A" ? "books.prices" : "books.parties";

export function idocReader(
  config: IdocSource,
  site: Pick<Surroundings, "currency" | "dayOf" | "now">,
): RecordReader {
  const take: TakenFrom =
    config.message === "COND_A" ? priceRecords(config, site) : partyRecords(config);
  return {
    form: idocRecords(config),
    restates: true,
    bytesMax: XML_BYTES_MAX,
    read(bytes, file) {
      const left = new Map<string, number>();
      const changes: Change[] = [];
      const idocs = idocsIn(bytes, file);
      for (const idoc of idocs) {
        const refused = notForUs(config, idoc);
        if (refused !== null) {
          const raw = Object.entries(idoc.control.fields);
          changes.push(changeOf(idoc, { id: idoc.origin, fault: refused, raw }));
          continue;
        }
        for (const taken of take(idoc))
          if (taken.id === null) left.set(taken.why, (left.get(taken.why) ?? 0) + 1);
          else changes.push(changeOf(idoc, taken));
      }
      const notices = [...left].map(([why, count]) => `${file}: ${count} left out: ${why}.`);
      return { changes, documents: idocs.length, notices };
    },
  };
}

/** Ids of records are at most this long. */
const ID_MAX = 200;

function changeOf({ origin }: Idoc, taken: Exclude<Taken, { id: null }>): Change {
  const common = { id: taken.id.slice(0, ID_MAX), version: null, origin };
  return "fault" in taken
    ? {
        ...common,
        text: stringifyExact({ raw: taken.raw, why: taken.fault.message }),
        fault: taken.fault,
      }
    : { ...common, text: stringifyExact(taken.record) };
}

/** Why an IDoc is not taken at all; null: it is. */
function notForUs(config: IdocSource, { control }: Idoc): Fault | null {
  const said = (name: Parameters<typeof field<"EDI_DC40">>[2]): string =>
    field(control, "EDI_DC40", name) ?? "";
  if (said("MESTYP") !== config.message) return wrong("MESTYP", said("MESTYP"), config.message);
  if (config.sender !== undefined && said("SNDPRN") !== config.sender)
    return wrong("SNDPRN", said("SNDPRN"), config.sender);
  if (config.receiver !== undefined && said("RCVPRN") !== config.receiver)
    return wrong("RCVPRN", said("RCVPRN"), config.receiver);
  if (said("TEST") === "X" && !config.tests)
    return {
      code: "test-idoc",
      message: "the IDoc is marked as a test (TEST=X)",
      next: 'Have it sent without the mark; or set "tests: true" where this is a test system.',
      field: "TEST",
    };
  return null;
}

const wrong = (name: string, is: string, wanted: string): Fault => ({
  code: "not-for-us",
  message: `the IDoc's ${name} is "${is}"; taken is "${wanted}"`,
  next: NEXT,
  field: name,
});
