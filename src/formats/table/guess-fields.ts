/** Which label may be which field: by its words, and by the labels that shipped profiles have for it. */
import type { Fields, Layout } from "./layouts/table.ts";
import { openProfile, shippedProfiles } from "./profile-open.ts";

/** A layout, and the columns (from 0) that its fields were found in. */
export interface Match {
  readonly layout: Layout;
  readonly head: ReadonlyMap<string, number>;
  readonly lists: ReadonlyMap<string, ReadonlyMap<string, number>>;
  readonly missing: readonly string[];
  readonly score: number;
}

/** Labels by the field that they are known for. */
type Known = ReadonlyMap<string, ReadonlySet<string>>;

/** Words that mean the same in labels. */
const ALIKE: Readonly<Record<string, string>> = {
  no: "number",
  nr: "number",
  num: "number",
  numero: "number",
  gal: "gallons",
  gals: "gallons",
  gallon: "gallons",
  units: "gallons",
  qty: "quantity",
  billoflading: "bol",
  prod: "product",
  grade: "product",
  item: "product",
  sku: "product",
  term: "terminal",
  rack: "list",
  cust: "customer",
  vendor: "supplier",
  amt: "amount",
  postal: "zip",
  postcode: "zip",
  mail: "email",
};
const NONE = new Set(["the", "of", "code", "id"]);

export function labelsByField(): Known {
  const known = new Map<string, Set<string>>();
  for (const name of shippedProfiles()) {
    const { head, lists } = openProfile(name, "");
    for (const { name: field, labels } of [...head, ...lists.flatMap(({ columns }) => columns)]) {
      const set = known.get(field) ?? new Set();
      known.set(field, set);
      for (const label of Object.values(labels ?? {})) set.add(wordsOf(label).join(" "));
    }
  }
  return known;
}

/** The best column for each field, each column for one field. */
export function matchOf(layout: Layout, labels: readonly string[], known: Known): Match {
  const blocks = [["", layout.head], ...Object.entries(layout.lists)] as const;
  const pairs = blocks
    .flatMap(([list, fields]) => pairsOf(list, fields, labels, known))
    .toSorted((one, other) => other.likeness - one.likeness);
  const columns = new Set<number>();
  const found = new Map<string, Map<string, number>>();
  let score = 0;
  for (const { list, field, at, likeness } of pairs) {
    const taken = found.get(list) ?? new Map<string, number>();
    if (columns.has(at) || taken.has(field)) continue;
    columns.add(at);
    found.set(list, taken.set(field, at));
    score += likeness;
  }
  const inOrder = (list: string, fields: Fields): Map<string, number> =>
    new Map(
      Object.keys(fields).flatMap((field) => {
        const at = found.get(list)?.get(field);
        return at === undefined ? [] : [[field, at]];
      }),
    );
  const head = inOrder("", layout.head);
  const missing = Object.entries(layout.head)
    .filter(([field, { filled }]) => filled && !head.has(field))
    .map(([field]) => field);
  const lists = new Map(
    Object.entries(layout.lists)
      .map(([name, fields]) => [name, inOrder(name, fields)] as const)
      .filter(([, columns]) => columns.size > 0),
  );
  return { layout, head, lists, missing, score: score - missing.length * 0.7 };
}

function pairsOf(list: string, fields: Fields, labels: readonly string[], known: Known) {
  return Object.keys(fields).flatMap((field) =>
    labels.flatMap((label, at) => {
      const likeness = likenessOf(field, label, list, known);
      return likeness >= 0.5 ? [{ list, field, at, likeness }] : [];
    }),
  );
}

/**
 * 1: a label that is known for the field and has a word of its name; nearly 1: one that is known. Else the share of words
 * in common.
 */
function likenessOf(field: string, label: string, list: string, known: Known): number {
  const words = wordsOf(label);
  const text = words.join(" ");
  const prefixed = list !== "" && words[0] === list;
  const plain = prefixed ? words.slice(1) : words;
  const wanted = wordsOf(field);
  const common = wanted.filter((word) => plain.includes(word)).length;
  if (known.get(field)?.has(text) === true)
    return (prefixed || list === "" ? 1 : 0.9) - (common > 0 ? 0 : 0.01);
  const all = new Set([...wanted, ...plain]).size;
  return all === 0 ? 0 : (common / all) * 0.95;
}

/** `grossGallons`, `Gross_Gal.` and `GROSS GALLONS` are the same words. */
function wordsOf(text: string): string[] {
  const words = text
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => ALIKE[word] ?? word);
  const telling = words.filter((word) => !NONE.has(word));
  return telling.length > 0 ? telling : words;
}
