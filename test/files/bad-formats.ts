/** IDocs and interchanges as they should not be: what each is, and what must become of it. */
import type { Fate } from "./bad-files.ts";
import { golden } from "./idoc.ts";
import { agreed, envelope, golden832 } from "./x12.ts";

/** As {@link Fate}: `good`: all of it is read, as if nothing were the matter; `rows`: what is bad is quarantined. */
export interface BadContent {
  readonly kind: string;
  readonly fate: Extract<Fate, "refused" | "rows" | "good">;
  readonly content: string | Buffer;
}

export interface BadFormat {
  readonly name: string;
  readonly source: Readonly<Record<string, unknown>>;
  /** A file that is right. */
  readonly right: string;
  readonly bad: readonly BadContent[];
}

const utf16 = (text: string, { isBig = false, mark = "\ufeff" } = {}): Buffer => {
  const bytes = Buffer.from(`${mark}${text}`, "utf16le");
  return isBig ? bytes.swap16() : bytes;
};
const listed = (all: Readonly<Record<string, readonly [BadContent["fate"], string | Buffer]>>) =>
  Object.entries(all).map(([kind, [fate, content]]) => ({ kind, fate, content }));

const debmas = golden("DEBMAS");
const named = (name: string): string =>
  debmas.replace(/<NAME1>[^<]*<\/NAME1>/, `<NAME1>${name}</NAME1>`);
const bomb = `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "${"&a;".repeat(10)}"><!ENTITY c "${"&b;".repeat(10)}">]>`;
const declared = (what: string): string => debmas.replace(/\?>\s*/, `?>\n${what}\n`);

const idoc: BadFormat = {
  name: "IDoc",
  source: { format: "idoc", message: "DEBMAS", pick: "b*.dat" },
  right: debmas,
  bad: listed({
    "nothing at all": ["refused", ""],
    "an end within a tag": ["refused", debmas.slice(0, debmas.length / 2)],
    "an end before the root's": ["refused", debmas.slice(0, debmas.lastIndexOf("</"))],
    "bytes of Windows-1252": ["refused", Buffer.from(named("Peña"), "latin1")],
    "another encoding by its own words": [
      "refused",
      debmas.replace(/encoding="[^"]*"/i, 'encoding="ISO-8859-1"'),
    ],
    "UTF-16, low byte first": ["refused", utf16(debmas)],
    "UTF-16, high byte first": ["refused", utf16(debmas, { isBig: true })],
    "UTF-16 without a mark": ["refused", utf16(debmas, { mark: "" })],
    "a NUL byte": ["refused", named("Pl\u0000ant")],
    "a NUL as a reference": ["refused", named("Pl&#0;ant")],
    "a document type": ["refused", declared('<!DOCTYPE a SYSTEM "file:///etc/passwd">')],
    "an XML bomb": ["refused", declared(bomb).replace("<NAME1>", "<NAME1>&c;")],
    "an entity that nobody declared": ["refused", named("&secret;")],
    "an entity that nobody declared, in a field that is not read": [
      "refused",
      debmas.replace(/<NAME1>/, "<NOTOURS>&secret;</NOTOURS><NAME1>"),
    ],
    "elements 30 deep": ["refused", named(`${"<A>".repeat(30)}x${"</A>".repeat(30)}`)],
    "a line of 9 MB": ["refused", named("x".repeat(9_000_000))],
    "another message": ["rows", debmas.replaceAll("DEBMAS<", "CREMAS<")],
    "no control record": ["refused", debmas.replace(/<EDI_DC40[^]*<\/EDI_DC40>/, "")],
    "mixed line ends": ["good", debmas.replace("\n", "\r\n").replace(/\n(?=[^\n]*$)/, "\r")],
    "characters of four bytes": ["good", named("😀𝔘")],
    "text like a formula": ["good", named("=cmd|' /C calc'!A0")],
  }),
};

const catalogue = (control = "117", product = "ULSD2"): string =>
  envelope({
    functionalId: "SC",
    control,
    sets: [golden832.map((segment) => segment.replace("ULSD2", product)), golden832],
  });
const prices = catalogue();

const x12: BadFormat = {
  name: "X12",
  source: { format: "x12", layout: "books.prices", pick: "b*.dat", x12: agreed },
  right: prices,
  bad: listed({
    "nothing at all": ["refused", ""],
    "an end within ISA": ["refused", prices.slice(0, 60)],
    "an end within a segment": ["refused", prices.slice(0, prices.length / 2)],
    "an end before IEA": ["refused", prices.replace(/IEA.*/, "")],
    "UTF-16, low byte first": ["refused", utf16(prices)],
    "UTF-16, high byte first": ["refused", utf16(prices, { isBig: true })],
    "NUL as the separator": ["refused", prices.replaceAll("*", "\u0000")],
    "a NUL byte": ["rows", prices.replace("ULSD2", "UL\u0000SD2")],
    "a document type": ["refused", `<!DOCTYPE a>${prices}`],
    "a line of 21 MB": ["refused", prices.replace("ULSD2", "x".repeat(21_000_000))],
    "one number in two interchanges": ["refused", prices + catalogue("117", "OTHER")],
    "another number in IEA": ["refused", prices.replace("IEA*1*000000117", "IEA*1*000000118")],
    "a wrong count of groups": ["refused", prices.replace("IEA*1*", "IEA*2*")],
    "a wrong count of sets": ["rows", prices.replace("GE*2*", "GE*3*")],
    "another number in GE": ["rows", prices.replace("GE*2*117", "GE*2*118")],
    "a wrong count of segments": ["rows", prices.replace("SE*13*", "SE*12*")],
    "another number in SE": ["rows", prices.replace("SE*13*0001", "SE*13*0009")],
    "one number for two sets": ["rows", prices.replaceAll("*0002", "*0001")],
    "a formula for a number": ["rows", prices.replace("2.3457", "=1+1")],
    "another sender": ["refused", prices.replaceAll("ACMEOIL  ", "OTHEROIL ")],
    "mixed line ends": ["good", prices.replace("~", "~\r\n").replace("~LIN", "~\nLIN")],
    "bytes of Windows-1252": ["good", Buffer.from(prices.replace("ULSD NO 2", "Peña"), "latin1")],
    "characters of four bytes": ["good", prices.replace("ULSD NO 2", "😀𝔘")],
    "text like a formula": ["good", prices.replace("ULSD NO 2", "=1+1")],
  }),
};

export const badFormats: readonly BadFormat[] = [idoc, x12];
