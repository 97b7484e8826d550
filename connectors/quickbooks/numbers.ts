/** Numbers of documents: QuickBooks keeps fewer characters than the platform, and does not keep them unique. */
import { createHash } from "node:crypto";
import { sameNumber } from "../../src/core/keys.ts";

/** Characters of `RefNumber` (Desktop, qbXML 13.0) per document. */
export const REF_NUMBER_MOST = {
  invoice: 11,
  bill: 20,
  receivePayment: 20,
  billPayment: 11,
  salesOrder: 11,
  purchaseOrder: 11,
  itemReceipt: 20,
} as const;
/** Characters of `DocNumber` and `PaymentRefNum` (Online). */
export const DOC_NUMBER_MOST = 21;

/**
 * The platform's number where QuickBooks holds it whole; else `F` and ten base32 characters of the id's SHA-256. The same
 * document always has the same one.
 */
export const documentNumber = (number: string, id: string, most: number): string =>
  number.length <= most && /^[\x21-\x7e]+$/.test(number) ? number : shortNumber(id);

/**
 * The platform's number of a record, as long as QuickBooks has the one that was made of it: a person may have typed another,
 * which is told instead.
 * @param own what QuickBooks has as its number; null: none
 * @param platforms what its memo says
 * @param made {@link documentNumber} of that
 */
export const numberHeld = (own: string | null, platforms: string, made: string): string =>
  own === null || sameNumber(own, made) || SHORT.test(own) ? platforms : own;

/** What {@link shortNumber} makes: of which number, only who made it knows. */
const SHORT = /^F[A-Z2-7]{10}$/;

export function shortNumber(id: string): string {
  const bytes = createHash("sha256").update(id).digest();
  let bits = 0n;
  for (const byte of bytes.subarray(0, 7)) bits = (bits << 8n) | BigInt(byte);
  bits >>= 6n;
  let text = "";
  for (let at = 0; at < 10; at++, bits >>= 5n) text = BASE32.charAt(Number(bits & 31n)) + text;
  return `F${text}`;
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
