/** Files that SAP sends, as the neutral records of books: customers, vendors and rack prices. */
import type { PartyRecord, PriceRecord } from "../../ledger/documents.ts";
import type { Change, Surroundings } from "../../core/contract.ts";
import { dayOfDigits } from "../../core/time.ts";
import { Decimal } from "../../core/decimal.ts";
import { Refused } from "../../core/errors.ts";
import { changeIn, type RecordReader, refusedIn } from "../format.ts";
import type { CondSource, IdocSource, KeyPart, PartySource } from "./config.ts";
import {
  below,
  dividedBy,
  field,
  type Idoc,
  idocsIn,
  numberIn,
  overlong,
  type Read,
  XML_BYTES_MAX,
} from "./xml.ts";

type Site = Pick<Surroundings, "currency" | "dayOf" | "now">;

/** A record, or why it is rightly left out. */
type Taken = Change | { readonly leftOut: string };

export const idocRecords = ({ message }: Pick<IdocSource, "message">): string =>
  message === "COND_A" ? "books.prices" : "books.parties";

export const idocReader = (config: IdocSource, site: Site): RecordReader => ({
  form: idocRecords(config),
  restates: true,
  bytesMax: XML_BYTES_MAX,
  read(bytes, file) {
    const idocs = idocsIn(bytes, file);
    const taken = idocs.flatMap((idoc) => takenOf(config, site, idoc));
    const left = Map.groupBy(
      taken.flatMap((one) => ("leftOut" in one ? one.leftOut : [])),
      (why) => why,
    );
    return {
      changes: taken.filter((one): one is Change => !("leftOut" in one)),
      documents: idocs.length,
      notices: Array.from(left, ([why, { length }]) => `${file}: ${length} left out: ${why}.`),
    };
  },
});

function takenOf(config: IdocSource, site: Site, idoc: Idoc): readonly Taken[] {
  const { control, origin } = idoc;
  try {
    expectOurs(config, control);
    return config.message === "COND_A" ? pricesOf(config, site, idoc) : partiesOf(config, idoc);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return [refusedIn({ id: null, origin, raw: control.fields }, error.fault)];
  }
}

const NEXT = "Have it corrected in SAP, and sent again; or correct this source's settings.";

const refused = (code: string, message: string, field: string, next = NEXT): Refused =>
  new Refused({ code, message, next, field });

const badField = (at: string, message: string): Refused =>
  refused("bad-field", `${at} ${message}.`, at);

/** @throws Refused for an IDoc of another message or system, and for a test where none are taken */
function expectOurs(config: IdocSource, control: Read): void {
  const expected = [
    ["MESTYP", config.message],
    ["SNDPRN", config.sender],
    ["RCVPRN", config.receiver],
  ] as const;
  for (const [name, wanted] of expected) {
    const is = field(control, "EDI_DC40", name) ?? "";
    if (wanted !== undefined && is !== wanted)
      throw refused("not-for-us", `the IDoc's ${name} is "${is}"; taken is "${wanted}"`, name);
  }
  if (field(control, "EDI_DC40", "TEST") === "X" && !config.tests)
    throw refused(
      "test-idoc",
      "the IDoc is marked as a test (TEST=X)",
      "TEST",
      'Have it sent without the mark; or set "tests: true" where this is a test system.',
    );
}

/* Customers (DEBMAS) and vendors (CREMAS) as parties. Their code is SAP's number as it is written, with its zeros. */

/** Where each message has what the other calls otherwise. Blocked: no orders, no postings, no purchases. */
const PARTIES = {
  DEBMAS: { segment: "E1KNA1M", code: "KUNNR", group: "KTOKD", blocks: ["AUFSD"] },
  CREMAS: { segment: "E1LFA1M", code: "LIFNR", group: "KTOKK", blocks: ["SPERR", "SPERM"] },
} as const;

function partiesOf({ message, accountGroups }: PartySource, { records, origin }: Idoc): Taken[] {
  const { segment, ...names } = PARTIES[message];
  const found = below({ below: records }, segment);
  if (found.length === 0) throw badField(segment, `is missing: the IDoc has no ${segment}`);
  return found.map((read): Taken => {
    const code = field(read, segment, names.code);
    const group = field(read, segment, names.group);
    if (accountGroups !== undefined && !accountGroups.includes(group ?? ""))
      return { leftOut: `account group ${group ?? "none"}` };
    return changeIn({ id: code, origin, raw: read.fields }, () => {
      if (code === null) throw badField(segment, "has no number");
      const [long] = overlong(read, segment);
      if (long !== undefined) throw badField(segment, `cannot be right: ${long}`);
      const said = (name: Parameters<typeof field<typeof segment>>[2]) =>
        field(read, segment, name);
      const name = [said("NAME1"), said("NAME2"), said("NAME3"), said("NAME4")]
        .flatMap((line) => line?.trim() || [])
        .join(" ");
      if (name === "") throw badField(`${segment}-NAME1`, `is empty for ${code}`);
      const [region, country] = [said("REGIO"), said("LAND1")];
      const isBlocked = names.blocks.some((block) => field(read, segment, block) !== null);
      const record: PartyRecord = {
        code,
        name,
        isCustomer: message === "DEBMAS",
        isSupplier: message === "CREMAS",
        companyId: null,
        email: null,
        phone: said("TELF1"),
        street: said("STRAS"),
        city: said("ORT01"),
        state: region === null || country === null ? region : `${country}-${region}`,
        zip: said("PSTLZ"),
        country,
        // Deleted, marked for it, or blocked.
        active: said("MSGFN") !== "003" && said("LOEVM") === null && !isBlocked,
      };
      return [code, record];
    });
  });
}

/* Conditions (COND_A) as rack prices: the amount for one unit, of the validity that holds today. */

function pricesOf(config: CondSource, site: Site, { records, origin }: Idoc): Taken[] {
  const keys = below({ below: records }, "E1KOMG");
  if (keys.length === 0) throw badField("E1KOMG", "is missing: the IDoc has no key");
  const today = site.dayOf(site.now().toISOString());
  return keys.flatMap((key): Taken[] => {
    const type = field(key, "E1KOMG", "KSCHL") ?? "";
    if (!config.conditionTypes.includes(type))
      return [{ leftOut: `condition type ${type || "none"}` }];
    const list = keyPart(key, config.terminal);
    const product = keyPart(key, config.product);
    const id = list === null || product === null ? null : `${list}|${product}`;
    return below(key, "E1KONH").flatMap((validity) =>
      below(validity, "E1KONP").map((amount): Taken => {
        const leftOut = endedBy(validity, amount, today);
        if (leftOut !== null) return { leftOut };
        const raw = [key.fields, validity.fields, amount.fields];
        return changeIn({ id, origin, raw }, () => {
          if (list === null) throw badField("E1KOMG", "has no terminal in its key");
          if (product === null) throw badField("E1KOMG", "has no product in its key");
          const [long] = [...overlong(key, "E1KOMG"), ...overlong(amount, "E1KONP")];
          if (long !== undefined)
            throw badField(long.split(" ", 1)[0] ?? "", "is longer than SAP has it");
          const [from] = [dayOf(validity, "DATAB"), dayOf(validity, "DATBI")];
          if (from !== null && from > today)
            throw refused(
              "not-valid-yet",
              `the price of ${product} at ${list} holds from ${from}, and the platform takes prices for now only`,
              "E1KONH-DATAB",
              "Have SAP send it on that day; or enter it on the platform then, and resolve it here.",
            );
          if (amount.below.some(({ name }) => name === "E1KONM" || name === "E1KONW"))
            throw badField("E1KONP", "has a scale; the platform has one price for any quantity");
          const record: PriceRecord = { list, product, ...rateOf(config, site.currency, amount) };
          return [`${list}|${product}`, record];
        });
      }),
    );
  });
}

/** Why a condition holds no longer; null: it may. */
function endedBy(validity: Read, amount: Read, today: string): string | null {
  if (field(amount, "E1KONP", "LOEVM_KO") !== null) return "deleted in SAP (LOEVM_KO)";
  const to = dayOfDigits(field(validity, "E1KONH", "DATBI") ?? "");
  return to !== null && to < today ? "no longer valid (DATBI)" : null;
}

/** Null: none, which is blank or zeros. @throws Refused */
function dayOf(validity: Read, name: "DATAB" | "DATBI"): string | null {
  const text = field(validity, "E1KONH", name);
  if (text === null || /^0*$/.test(text)) return null;
  const day = dayOfDigits(text);
  if (day === null) throw badField(`E1KONH-${name}`, `is "${text}", which is no day (YYYYMMDD)`);
  return day;
}

const ONE = Decimal.of("1");

/** @throws Refused */
function rateOf(
  { units }: CondSource,
  currency: string,
  amount: Read,
): Pick<PriceRecord, "price" | "unit"> {
  const kind = field(amount, "E1KONP", "KRECH");
  if (kind !== null && kind !== "C")
    throw badField("E1KONP-KRECH", `is "${kind}"; a price is an amount per quantity, "C"`);
  const said = field(amount, "E1KONP", "KONWA");
  if (said !== currency)
    throw badField("E1KONP-KONWA", `is "${said ?? ""}"; the company's currency is ${currency}`);
  const number = (name: "KBETR" | "KPEIN"): Decimal | null => {
    const text = field(amount, "E1KONP", name);
    const value = text === null ? null : numberIn(text);
    if (text !== null && value === null)
      throw badField(`E1KONP-${name}`, `is "${text}", which is no number`);
    return value;
  };
  const rate = number("KBETR");
  if (rate === null) throw badField("E1KONP-KBETR", "is empty");
  const per = number("KPEIN") ?? ONE;
  const price = dividedBy(rate, per);
  if (price === null)
    throw badField("E1KONP-KPEIN", `is ${per.plain()}, by which ${rate.plain()} cannot be divided`);
  const code = field(amount, "E1KONP", "KMEIN") ?? "";
  const unit = units[code];
  if (unit === undefined)
    throw badField(
      "E1KONP-KMEIN",
      `is "${code}", a unit that "units" of this source does not have`,
    );
  return { price, unit };
}

function keyPart(key: Read, part: KeyPart): string | null {
  if (typeof part === "string") return field(key, "E1KOMG", part)?.trim() || null;
  const whole = field(key, "E1KOMG", "VAKEY_LONG") ?? field(key, "E1KOMG", "VAKEY") ?? "";
  return whole.slice(part.from - 1, part.from - 1 + part.length).trim() || null;
}
