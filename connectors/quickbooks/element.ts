/** A record of QuickBooks, read by the names of its fields: of Desktop it is XML, of Online JSON. */
import { Decimal } from "../../src/core/decimal.ts";
import { LedgerError } from "../../src/ledger/port.ts";

export class Element {
  /** Of XML without its prefix. */
  readonly name: string;
  /** Of XML. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Its own text, not that of what is below. */
  readonly content: string;
  readonly below: readonly Element[];

  constructor(
    name: string,
    content: string,
    below: readonly Element[],
    attributes: Readonly<Record<string, string>> = {},
  ) {
    this.name = name;
    this.attributes = attributes;
    this.content = content;
    this.below = below;
  }

  all(name: string): readonly Element[] {
    return this.below.filter((one) => one.name === name);
  }

  /** The first one of that name; null: there is none. */
  child(name: string): Element | null {
    return this.below.find((one) => one.name === name) ?? null;
  }

  /** The text of the first one of that name, trimmed; null: there is none, or it is empty. */
  text(name: string): string | null {
    return this.child(name)?.content.trim() || null;
  }

  /** A field that every such record has. @throws LedgerError */
  needed(name: string): string {
    const text = this.text(name);
    if (text !== null) return text;
    throw new LedgerError("torn", `QuickBooks' answer has no ${name} in ${this.name}`);
  }

  /** A day (`YYYY-MM-DD`), which the schema lets QuickBooks tell with a zone; null: it is not there. @throws LedgerError */
  day(name: string): string | null {
    return this.#like(name, /^\d{4}-\d\d-\d\d/, "day")?.slice(0, 10) ?? null;
  }

  /** An instant (ISO 8601 with an offset) in UTC; null: it is not there. @throws LedgerError */
  instant(name: string): string | null {
    const text = this.#like(name, /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/, "instant");
    return text === null ? null : new Date(text).toISOString();
  }

  /** Yes or no, as words or as digits; null: it is not there. */
  yes(name: string): boolean | null {
    const text = this.text(name);
    return text === null ? null : text === "true" || text === "1";
  }

  /** An amount or a quantity; null: it is not there. @throws LedgerError */
  decimal(name: string): Decimal | null {
    const text = this.text(name)?.replace(/^\+/, "") ?? null;
    if (text === null || Decimal.is(text)) return text === null ? null : Decimal.of(text);
    throw new LedgerError("torn", `${name} of QuickBooks is no number: ${text}`);
  }

  /** An amount that counts as nothing where it is not there. @throws LedgerError */
  amount(name: string): Decimal {
    return this.decimal(name) ?? Decimal.zero;
  }

  /** What a reference names. */
  ref(name: string): { readonly id: string | null; readonly name: string | null } {
    const found = this.child(name);
    return {
      id: found?.text("ListID") ?? found?.text("value") ?? null,
      name: found?.text("FullName") ?? found?.text("name") ?? null,
    };
  }

  #like(name: string, form: RegExp, what: string): string | null {
    const text = this.text(name);
    if (text === null || form.test(text)) return text;
    throw new LedgerError("torn", `${name} of QuickBooks is no ${what}: ${text}`);
  }
}

/** JSON as an element: each member, and each value of a list, is one below it; what is null is not there. */
export function elementOf(
  name: string,
  value: unknown,
  called: (name: string) => string = (same) => same,
): Element {
  if (value instanceof Decimal) return new Element(name, value.text, []);
  if (value === null || typeof value !== "object") return new Element(name, String(value), []);
  const below = Object.entries(value).flatMap(([member, given]) =>
    (Array.isArray(given) ? (given as unknown[]) : [given])
      .filter((one) => one !== null && one !== undefined)
      .map((one) => elementOf(called(member), one, called)),
  );
  return new Element(name, "", below);
}
