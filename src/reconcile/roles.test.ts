import { describe, expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import type { Facts, Holding, HoldingKind, Role } from "../core/holdings.ts";
import type { Case, Link } from "./case.ts";
import { isDoubled } from "./judge.ts";
import { match } from "./match.ts";

const change = { id: "", version: null, text: "" };
const CODE = "000101";

const company = (id: string, code: string | null = CODE): Holding => ({
  kind: "party",
  id,
  version: null,
  mark: code,
  change: null,
  facts: { ...(code === null ? {} : { number: code }), state: "open" },
});
const party = (role: Role | null, code = CODE, mark: string | null = null): Holding => ({
  kind: "party",
  id: code,
  ...(role === null ? {} : { role }),
  version: null,
  mark,
  change,
  facts: { number: code, state: "open", words: { name: `${role} ${code}` } },
});
const link = (role: Role, platformId: string, erpId = CODE): Link => ({
  kind: "party",
  platformId,
  erpId,
  role,
});
const document = (
  kind: HoldingKind,
  side: "platform" | "books",
  of: string,
  more: Partial<Holding> = {},
): Holding => {
  const facts: Facts = { number: "N-1", party: of, money: { total: Decimal.of("1.00") } };
  return { kind, id: `${side} ${kind}`, version: null, mark: null, change: null, facts, ...more };
};
/** Each case as what it holds of both sides. */
const shown = (cases: readonly Case[]): string[] =>
  cases
    .filter(({ kind }) => kind === "party")
    .map(({ platform, books }) =>
      [platform.map(({ id }) => id), books.map(({ role, id }) => `${role} ${id}`)]
        .map((names) => names.toSorted().join("+"))
        .join(" = "),
    )
    .toSorted();

test.each([
  ["that names no party of the books", "OLD-7", []],
  ["that is another party's", "C-2", [{ platform: "C-2 by the mark", books: "C-1" }]],
])("a company whose connection shows a code %s", (_, code, contradictions) => {
  const books = [party("customer", "C-1", "A"), party("customer", "C-2")];
  const cases = match({ records: { platform: [company("A", code)], books }, links: [] });
  const one = cases.find(({ platform }) => platform.length > 0);
  expect(one?.books.map(({ id }) => id)).toContain("C-1");
  expect(one?.contradictions).toEqual(contradictions);
});

describe("a company whose connection shows its own code for us", () => {
  const known = { mark: "platform bill" };
  const records = (code: string, more: Partial<Holding>) => ({
    platform: [company("X", code), company("C", "C-1"), document("bill", "platform", "X")],
    books: [party(null, "C-1"), party(null, "V-7"), document("bill", "books", "V-7", more)],
  });
  test.each([
    ["linked, and no party of ours has the code", "A-9", [link("supplier", "X", "V-7")], {}],
    ["linked, and a customer of ours has the code", "C-1", [link("supplier", "X", "V-7")], {}],
    ["known by its documents alone", "C-1", [], known],
  ])("is the party that it is known as: %s", (_, code, links, more) => {
    const cases = match({ records: records(code, more), links });
    expect(shown(cases)).toEqual(["C = undefined C-1", "X = undefined V-7"]);
    expect(cases.some(isDoubled)).toBe(false);
    const bills = cases.filter(({ kind }) => kind === "bill");
    expect(bills).toMatchObject([{ parties: { platform: "V-7", books: "V-7" } }]);
  });
});

describe("customer and supplier of one code", () => {
  const books = [party("customer"), party("supplier")];

  test("two firms are two cases, by the store's links, and neither is told as twice", () => {
    const links = [link("customer", "A"), link("supplier", "B")];
    const cases = match({ records: { platform: [company("B"), company("A")], books }, links });
    expect(shown(cases)).toEqual(["A = customer 000101", "B = supplier 000101"]);
    expect(cases.some(isDoubled)).toBe(false);
    expect(cases.flatMap(({ contradictions }) => contradictions)).toEqual([]);
    expect(new Set(cases.map(({ key }) => key)).size).toBe(cases.length);
  });

  test("one firm in both roles is one case and no double", () => {
    const links = [link("customer", "A"), link("supplier", "A")];
    const cases = match({ records: { platform: [company("A")], books }, links });
    expect(shown(cases)).toEqual(["A = customer 000101+supplier 000101"]);
    expect(cases.some(isDoubled)).toBe(false);
  });

  test("one firm in both roles under a code each, found by the platform's id in both", () => {
    const both = [party("customer", "C-58", "A"), party("supplier", "V-77", "A")];
    const records = {
      platform: [
        company("A", "C-58"),
        document("invoice", "platform", "A"),
        document("bill", "platform", "A"),
      ],
      books: [...both, document("invoice", "books", "C-58"), document("bill", "books", "V-77")],
    };
    const cases = match({ records, links: [] });
    expect(cases.some(isDoubled)).toBe(false);
    for (const kind of ["invoice", "bill"])
      expect(cases.filter((one) => one.kind === kind)).toMatchObject([{ by: "number" }]);
  });

  test("each one's documents name it, and no payer differs", () => {
    const links = [link("customer", "A"), link("supplier", "B")];
    const records = {
      platform: [
        company("A"),
        company("B"),
        document("invoice", "platform", "A"),
        document("bill", "platform", "B"),
      ],
      books: [...books, document("invoice", "books", CODE), document("bill", "books", CODE)],
    };
    for (const told of [links, links.toReversed()])
      for (const kind of ["invoice", "bill"])
        expect(match({ records, links: told }).filter((one) => one.kind === kind)).toMatchObject([
          { by: "number", parties: { platform: CODE, books: CODE }, partyIsShared: true },
        ]);
  });

  test("without links, documents that both sides have tell which is which", () => {
    const marked = (kind: HoldingKind) => ({ mark: `platform ${kind}` });
    const records = {
      platform: [
        company("A"),
        company("B"),
        document("invoice", "platform", "B"),
        document("bill", "platform", "A"),
      ],
      books: [
        ...books,
        document("invoice", "books", CODE, marked("invoice")),
        document("bill", "books", CODE, marked("bill")),
      ],
    };
    expect(shown(match({ records, links: [] }))).toEqual([
      "A = supplier 000101",
      "B = customer 000101",
    ]);
  });

  test("without any proof they are joined to nothing, and never told as twice", () => {
    for (const platform of [[company("A")], [company("A"), company("B")]]) {
      const cases = match({ records: { platform, books }, links: [] });
      expect(shown(cases)).toEqual(
        [
          " = customer 000101",
          " = supplier 000101",
          ...platform.map(({ id }) => `${id} = `),
        ].toSorted(),
      );
      expect(cases.some(isDoubled)).toBe(false);
    }
  });

  test("a company more than parties have the code is a double", () => {
    const links = [link("customer", "A"), link("supplier", "B")];
    const platform = [company("A"), company("B"), company("C")];
    const cases = match({ records: { platform, books }, links });
    expect(cases.filter(isDoubled)).toHaveLength(1);
  });

  test("what is left on each side is one, where the other role is linked", () => {
    const records = { platform: [company("A"), company("B")], books };
    expect(shown(match({ records, links: [link("supplier", "A")] }))).toEqual([
      "A = supplier 000101",
      "B = customer 000101",
    ]);
  });
});

test("books with one list of parties have one party per code, whatever it is linked as", () => {
  const records = { platform: [company("A")], books: [party(null)] };
  const links = [link("customer", "A"), link("supplier", "A")];
  expect(match({ records, links })).toHaveLength(1);
  const doubled = match({
    records: { platform: [company("A"), company("B")], books: [party(null)] },
    links: [link("customer", "A")],
  });
  expect(doubled.filter(isDoubled)).toHaveLength(1);
});
