/** Conditions (COND_A) as rack prices: the amount for one unit, of the validity that holds today. */
import type { PriceRecord } from "../../ledger/records.ts";
import type { Surroundings } from "../../core/contract.ts";
import type { Fault } from "../../core/fault.ts";
import { Decimal } from "../../core/decimal.ts";
import type { CondSource, KeyPart } from "./config.ts";
import { badField, type Taken, type TakenFrom } from "./taken.ts";
import { dayIn, dividedBy, numberIn } from "./values.ts";
import { below, field, overlong, type Read } from "./xml.ts";

type Site = Pick<Surroundings, "currency" | "dayOf" | "now">;

export function priceRecords(config: CondSource, site: Site): TakenFrom {
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
