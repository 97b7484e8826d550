/** XML as elements. No document type is taken, and no entity but XML's own five and characters by their number. */
import { XMLParser, XMLValidator } from "fast-xml-parser";

export interface Element {
  /** Without its prefix. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Of itself, not of what is below. */
  readonly text: string;
  readonly below: readonly Element[];
}

/** What XML cannot be read as. */
export class XmlFault extends Error {}

/** Characters of the largest text that is read. */
const CHARACTERS_MAX = 64_000_000;

/** The root element. @throws XmlFault */
export function elementIn(given: string): Element {
  if (given.length > CHARACTERS_MAX) throw new XmlFault("it is too large");
  // Blanks and a byte order mark stand before many a declaration.
  const text = given.trimStart();
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) throw new XmlFault("it declares a document type");
  const checked = XMLValidator.validate(text);
  if (checked !== true) throw new XmlFault(`it is not whole XML: ${checked.err.msg}`);
  const nodes = parser.parse(text) as readonly Node[];
  const [root, another] = nodes.flatMap(elementOf);
  if (root === undefined || another !== undefined) throw new XmlFault("it has not one root");
  return root;
}

export const below = (element: Element, name: string): readonly Element[] =>
  element.below.filter((one) => one.name === name);

/** The first one; null: there is none. */
export const child = (element: Element, name: string): Element | null =>
  element.below.find((one) => one.name === name) ?? null;

/** The text of the first one of that name, trimmed; null: there is none, or it is empty. */
export function textOf(element: Element, name: string): string | null {
  const text = child(element, name)?.text.trim() ?? "";
  return text === "" ? null : text;
}

/** Text for an element or an attribute in double quotes. ASCII stays, everything else goes by its number. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"]|[^\x20-\x7e]/gu, (one) => MARKS[one] ?? `&#${one.codePointAt(0)};`);

const MARKS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const CDATA = "#cdata";

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  processEntities: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  cdataPropName: CDATA,
});

/** As the parser has it: one key with what is below, and `:@` with attributes. */
type Node = Readonly<Record<string, unknown>>;

function elementOf(node: Node): Element[] {
  const name = Object.keys(node).find((key) => key !== ":@");
  if (name === undefined || name === "#text" || name === CDATA) return [];
  const nodes = node[name] as readonly Node[];
  const attributes = Object.entries((node[":@"] ?? {}) as Record<string, string>);
  return [
    {
      name,
      attributes: Object.fromEntries(attributes.map(([key, text]) => [key, resolved(text)])),
      text: nodes.map(textIn).join(""),
      below: nodes.flatMap(elementOf),
    },
  ];
}

function textIn(node: Node): string {
  const { "#text": text, [CDATA]: raw } = node;
  if (typeof text === "string") return resolved(text);
  return raw === undefined
    ? ""
    : (raw as readonly Node[]).map((one) => one["#text"] as string).join("");
}

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

const resolved = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w+));/g, (all, digits, hex, name) => {
    const code = digits ? Number(digits) : hex ? Number.parseInt(hex, 16) : null;
    if (code === null) return NAMED[name as string] ?? all;
    return code > 0x10ffff ? "\ufffd" : String.fromCodePoint(code);
  });
