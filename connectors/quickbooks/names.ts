/**
 * Names of customers, vendors and items. QuickBooks has one list of names for customers, vendors, employees and others
 * together, without regard to case: a company that is both is kept under two names.
 */
import { Refused } from "../../src/core/errors.ts";
import { cut } from "./text.ts";

export type Side = "customer" | "vendor";

/** Characters of a name: Desktop by its schema, Online by what Intuit's samples use. */
export const NAME_MOST = { desktop: 41, online: 100 } as const;

const SUFFIXES: Readonly<Record<Side, string>> = { customer: " (C)", vendor: " (V)" };

/**
 * The name under which a party is created: its code of the cross-reference, letter by letter.
 * @throws Refused when QuickBooks would keep another one: it is too long, has a colon (a colon makes a job), or letters
 * that the company file cannot hold
 */
export function partyName(code: string, most: number, held: (text: string) => string): string {
  const fault = (code_: string, says: string): Refused =>
    new Refused({
      code: code_,
      message: `the name ${JSON.stringify(code)} ${says}`,
      next: "Correct the company's code in the cross-reference of customers or vendors: it is its name in QuickBooks.",
      field: "party",
    });
  if (Array.from(code).length > most)
    throw fault("name-too-long", `has more than ${most} characters`);
  if (code.includes(":")) throw fault("name-not-held", "has a colon, which QuickBooks reserves");
  if (held(code) !== code || code === "")
    throw fault("name-not-held", "has characters that QuickBooks would change");
  return code;
}

/** The name when the other list has the first one: `Acme Oil (V)`. Never longer than `most`. */
export const suffixed = (name: string, side: Side, most: number): string =>
  `${cut(name, most - SUFFIXES[side].length)}${SUFFIXES[side]}`;

/** QuickBooks compares names without regard to case. */
export const sameName = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase();
