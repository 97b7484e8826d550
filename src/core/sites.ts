/**
 * Whose a record is, where several sites (branches, companies of one group) share one API key: each site says by a few fields
 * of the record what is its own. Pure; the same rules stand in every site's configuration.
 */
import { Decimal } from "./decimal.ts";
import type { Json } from "./json.ts";
import { contentOf, usualId } from "./keys.ts";
import type { Kind } from "./kinds.ts";
import { leavesIn } from "./record.ts";

/** What a rule may ask for, and the members of records that tell it, wherever in the record they stand. */
const siteFields = {
  /** The number that people know the record by. */
  number: ["number", "invoiceNumber", "ticketNumber", "orderNumber"],
  /** Customer, payer, supplier: the platform's id of the company, or the party's code in the books. */
  party: [
    "payerCompanyId",
    "companyId",
    "supplierId",
    "supplierCompanyId",
    "receiverCompanyId",
    "fromCompanyId",
    "toCompanyId",
    "partyCode",
    "partyCompanyId",
    "code",
    "supplier",
    "receiver",
  ],
  /** Where it is loaded, by id, code or name; of a price, the list. */
  terminal: [
    "terminal",
    "terminalId",
    "terminalCode",
    "loadingTerminalName",
    "originTerminalId",
    "list",
  ],
  /** Where it is delivered, by id or name. */
  location: ["locationId", "location", "destinationName", "destination"],
  product: ["product", "productCode", "product_name"],
  /** The other side's number for it: purchase order, contract, bill of lading. */
  reference: ["reference", "poNumber", "contractNumber", "bolNumber", "loadingNumber"],
} as const;

type SiteField = keyof typeof siteFields;

/** A record fits when every field named here has one of the values: letters count alike, `*` stands for any text. */
type SiteRule = Readonly<Partial<Record<SiteField | "kind", readonly string[]>>>;

/** By site. A record is a site's when it fits one of its rules; what fits a rule of {@link EVERY_SITE} is every site's. */
export type SiteRules = Readonly<Record<string, readonly SiteRule[]>>;

/** Takes the place of a site's name for records that every site has: a list of terminals, a customer of all. */
export const EVERY_SITE = "all";

/** Names rules: two sites with the same name have the same. Empty: there are none. Sites of a hub have them named at every look. */
export function rulesName(rules: object | null): string {
  if (rules === null) return "";
  const name = names.get(rules) ?? contentOf(rules);
  names.set(rules, name);
  return name;
}

const names = new WeakMap<object, string>();

/** The sites that have rules of their own. */
export const siteNames = (rules: object): string[] =>
  Object.keys(rules).filter((name) => name !== EVERY_SITE);

/** What rules can see of a record: its values by field. */
type SiteFacts = ReadonlyMap<SiteField | "kind", readonly string[]>;

export function siteFacts(kind: Kind, record: Json): SiteFacts {
  const facts = new Map<SiteField | "kind", string[]>([["kind", [kind]]]);
  for (const { field, value } of leavesIn(record)) {
    const member = field.slice(field.lastIndexOf(".") + 1);
    const name = FIELD_OF.get(member);
    const text = value instanceof Decimal ? value.text : typeof value === "string" ? value : "";
    if (name === undefined || text.trim() === "") continue;
    const known = facts.get(name) ?? [];
    if (!known.includes(text)) facts.set(name, [...known, text]);
  }
  return facts;
}

const FIELD_OF = new Map<string, SiteField>(
  Object.entries(siteFields).flatMap(([field, members]) =>
    members.map((member) => [member, field as SiteField] as const),
  ),
);

/** The sites whose rules these facts fit, {@link EVERY_SITE} among them. */
export function sitesOf(rules: SiteRules, facts: SiteFacts): string[] {
  const tests = compiled.get(rules) ?? Object.entries(rules).map(testOf);
  compiled.set(rules, tests);
  return tests.flatMap(({ site, own }) => (own.some((rule) => fits(rule, facts)) ? site : []));
}

/** What a rule asks of each field: one pattern for all its values. With many sites each record asks for thousands. */
type RuleTest = readonly (readonly [SiteField | "kind", RegExp])[];
interface SiteTest {
  readonly site: string;
  readonly own: readonly RuleTest[];
}

const compiled = new WeakMap<SiteRules, readonly SiteTest[]>();

const testOf = ([site, own]: [string, readonly SiteRule[]]): SiteTest => ({
  site,
  own: own.map((rule) =>
    Object.entries(rule).map(
      ([field, values]) => [field as SiteField | "kind", patternOf(values)] as const,
    ),
  ),
});

const fits = (rule: RuleTest, facts: SiteFacts): boolean =>
  rule.every(([field, pattern]) => facts.get(field)?.some((told) => pattern.test(told)) === true);

function patternOf(values: readonly string[]): RegExp {
  const texts = values.map((text) => text.trim().split("*").map(escaped).join(".*"));
  return new RegExp(`^\\s*(?:${texts.join("|")})\\s*$`, "isu");
}

const escaped = (text: string): string => text.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);

/** For people: what a record tells that rules may ask for. */
export const factsText = (facts: SiteFacts): string =>
  [...facts].map(([field, values]) => `${field} ${values.slice(0, NAMED).join(", ")}`).join("; ");

const NAMED = 3;

/** Members that name the document which a record belongs to: it is the site's that has that one. */
const BELONGS_TO: Readonly<Record<string, readonly Kind[]>> = {
  invoiceId: ["invoice", "bill"],
  orderId: ["order"],
};

/** The documents that a record says it belongs to. */
export function belongings(
  record: Json,
): { readonly kinds: readonly Kind[]; readonly id: string }[] {
  if (typeof record !== "object" || record === null) return [];
  return Object.entries(BELONGS_TO).flatMap(([member, kinds]) => {
    const id = (record as Readonly<Record<string, unknown>>)[member];
    return typeof id === "string" && id !== "" ? [{ kinds, id: usualId(id) }] : [];
  });
}
