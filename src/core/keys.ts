/**
 * Identities of requests and contents. They come from business identity alone, never from chance, time or this
 * installation. A restored backup and a second daemon derive the same keys, so a receiver that keeps keys takes nothing
 * of theirs for new.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { canonicalOf } from "./json.ts";
import { isUuid } from "./text.ts";

export interface Identity {
  readonly company: string;
  readonly environment: "live" | "test";
  readonly operation: string;
  /** The natural key: the number people know the document by. */
  readonly number: string;
  readonly revision: string;
  readonly generation: number;
}

/**
 * A document's number as duplicates are looked for by it: without case, outer blanks and repeated ones. Inner signs and
 * zeros stay. People write one number in many ways; keys and what is sent keep the number's own bytes.
 */
export const foldedNumber = (number: string): string =>
  FOLDED.test(number) ? number : number.normalize("NFC").trim().replace(/\s+/g, " ").toUpperCase();

/** ASCII without blanks and small letters. */
const FOLDED = /^[!-`{-~]*$/;

/** A number or name by its letters and digits alone, in capitals: people write its signs and blanks in many ways. */
export const bareNumber = (number: string): string =>
  BARE.test(number) ? number : foldedNumber(number).replaceAll(/[^\p{L}\p{N}]/gu, "");
const BARE = /^[0-9A-Z]*$/;

/** Are these two numbers one, as people read them? */
export const sameNumber = (one: string, other: string): boolean =>
  one === other || foldedNumber(one) === foldedNumber(other);

/** An id as it is kept and compared: a UUID in capitals is the same one (RFC 9562). */
export const usualId = (id: string): string => (isUuid(id) ? id.toLowerCase() : id);

/** A name that people type, as it is looked up: an accent may be a sign of its own. */
export const lookedUp = (name: string): string => usualId(name).normalize("NFC");

/** How a number may be written elsewhere: what is asked of a receiver that compares numbers by their letters. Each once. */
export function spellingsOf(number: string): string[] {
  const tidy = number.normalize("NFC").trim().replace(/\s+/g, " ");
  return [...new Set([number, tidy, tidy.toUpperCase(), tidy.toLowerCase()])];
}

/**
 * The same, and its parts (between its signs; where it has none, its letters and its digits) with one of the usual signs
 * between them: one request finds most of what people make of a number (ADR 0008). Each once, at most twenty.
 */
export function writingsOf(number: string): string[] {
  const folded = foldedNumber(number);
  const signed = folded.match(/[\p{L}\p{N}]+/gu) ?? [];
  const parts = signed.length > 1 ? signed : (folded.match(/\p{L}+|\p{N}+/gu) ?? []);
  const joined = SIGNS.map((sign) => parts.join(sign)).filter((text) => text !== "");
  return [...new Set([number, ...joined].flatMap(spellingsOf))];
}
const SIGNS = ["", " ", "-", "/", ".", "_"] as const;

/**
 * What a receiver knows a repetition of a request by: A-Z a-z 0-9 _ - only, 48 characters and the operation's. The
 * platform takes 16 to 200 of them (specification part 4, W1).
 */
export function idempotencyKey(identity: Identity): string {
  const { company, environment, operation, number, revision, generation } = identity;
  const digest = sha256(
    JSON.stringify([company, environment, operation, number, revision, generation]),
  );
  return `fb1_${operation.replace(/[^A-Za-z0-9]/g, "-")}_${digest}`;
}

/**
 * The revision of a record's content. Where the source has versions, the version and the content; where it has none,
 * the revision before and the content, so that prices going A, B, A are three revisions and not two.
 */
export function revisionOf(version: string | null, previous: string | null, text: string): string {
  return sha256(`${version ?? previous ?? ""}\n${text}`).slice(0, 22);
}

/** base64url, 43 characters. */
export function sha256(data: string | Uint8Array): string {
  return hash("sha256", data, "base64url");
}

/**
 * A timestamp as text that sorts by age: UTC, nine fraction digits. `Date` would cut microseconds and make different
 * versions equal. Null when `text` is no ISO 8601 date-time with a zone.
 */
export function sortableInstant(text: string): string | null {
  // Whatever a document says is asked: most of it is told by one letter.
  const match = text.charCodeAt(4) === DASH ? INSTANT.exec(text) : null;
  if (match === null) return null;
  const { date, time, zone, fraction } = partsOf(match);
  if (zone === "Z" && IN_EVERY_MONTH.test(text))
    return `${date}T${time}.${fraction.slice(0, 9).padEnd(9, "0")}Z`;
  const local = Date.parse(`${date}T${time}Z`);
  // Date.parse silently turns February 30th into March 2nd, and midnight as 24:00 into the next day.
  if (Number.isNaN(local) || new Date(local).getUTCDate() !== Number(date.slice(8))) return null;
  const seconds = zone === "Z" ? `${date}T${time}` : inUtc(`${date}T${time}${zone}`);
  return seconds === null ? null : `${seconds}.${fraction.slice(0, 9).padEnd(9, "0")}Z`;
}

/**
 * An ISO 8601 date-time in the notation that most use (RFC 3339), with all its digits and its zone: `2026-11-21t07:00,5+01` has
 * others. Any other text stays as it is.
 */
export function usualInstant(text: string): string {
  const match = USUAL.test(text) ? null : INSTANT.exec(text);
  if (match === null) return text;
  const { date, time, zone, fraction } = partsOf(match);
  return `${date}T${time}${fraction === "" ? "" : `.${fraction}`}${zone}`;
}

function partsOf(match: RegExpExecArray) {
  const [, date = "", minutes = "", seconds = "00", fraction = "", zone = "", minutesOff = "00"] =
    match;
  const offset = zone.length === 1 ? "Z" : `${zone}:${minutesOff}`;
  return { date, time: `${minutes}:${seconds}`, fraction, zone: offset };
}

function inUtc(text: string): string | null {
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : new Date(at).toISOString().slice(0, 19);
}

/** Instants and ids by value; other texts as they are. For `canonical`, where a platform may write both in any notation. */
export const textByValue = (text: string): string => sortableInstant(text) ?? usualId(text);

const DASH = 0x2d;
/** A day that every month has, and a time of day. */
const IN_EVERY_MONTH =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8]).(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d/;
const INSTANT =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,}))?)?([Zz]$|[+-]\d{2})(?::?(\d{2}))?$/;
const USUAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;

/** The content of a document as a hash, by value: one whose digits, instants, members or white space are written otherwise is the same. */
export const contentOf = (document: unknown): string =>
  sha256(canonicalOf(document, textByValue)).slice(0, 22);

/** As files and protocols write it: 64 small letters and digits. */
export const sha256Hex = (data: string | Uint8Array): string => hash("sha256", data, "hex");

/** Compared in the same time whatever they are. */
export const isSameSecret = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(sha256(one)), Buffer.from(sha256(other)));
