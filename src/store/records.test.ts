import {
  array,
  assert,
  constantFrom,
  dictionary,
  integer,
  letrec,
  oneof,
  property,
  string,
} from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { openStore } from "./store.ts";

const at = 1_000;

type Value =
  number | string | boolean | null | readonly Value[] | { readonly [name: string]: Value };

/** Numbers are whole, and stand for cents. */
const { value: values } = letrec<{ value: Value }>((tie) => ({
  value: oneof(
    { maxDepth: 3 },
    integer(),
    string(),
    constantFrom(null, true),
    array(tie("value"), { maxLength: 4 }),
    dictionary(string(), tie("value"), { maxKeys: 4 }),
  ),
}));

/** Each way to write: where members begin, white space, and the digits of a number. */
interface Notation {
  readonly reversed: boolean;
  readonly space: string;
  readonly digits: (cents: number) => string;
}
const inCents = (cents: number): string => {
  const digits = `${Math.abs(cents)}`.padStart(3, "0");
  return `${cents < 0 ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};
const plain: Notation = { reversed: false, space: "", digits: inCents };
const notations: readonly Notation[] = [
  { reversed: true, space: " ", digits: (cents) => `${inCents(cents)}00` },
  { reversed: false, space: "\n\t", digits: (cents) => `${cents}E-2` },
  // No number of JSON begins with two zeros.
  { reversed: true, space: "", digits: (cents) => (cents === 0 ? "0e-04" : `${cents}00e-04`) },
];

function written(value: Value, notation: Notation): string {
  const { reversed, space, digits } = notation;
  if (typeof value === "number") return digits(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value))
    return `[${space}${value.map((one: Value) => written(one, notation)).join(`,${space}`)}]`;
  const members = Object.entries(value);
  const texts = (reversed ? members.toReversed() : members).map(
    ([name, member]) => `${JSON.stringify(name)}${space}:${written(member, notation)}`,
  );
  return `{${texts.join(`${space},`)}${space}}`;
}

test("a value that is written otherwise under its version is the same revision; another value is not", () => {
  const store = openStore(tempFolder());
  const { flow } = store.flows.open("bills");
  let id = 0;
  const take = (version: string | null, text: string): unknown =>
    store.intake.page(flow, { changes: [{ id: `${id}`, version, text }], position: 1 }, at);
  store.transaction(() =>
    assert(
      property(values, constantFrom("2026-11-21T08:00:00Z", null), (value, version) => {
        id++;
        const told = { amount: 10_000, value };
        expect(take(version, written(told, plain))).toMatchObject({ received: 1 });
        for (const notation of notations)
          expect(take(version, written(told, notation))).toMatchObject({ unchanged: 1 });
        const other = { amount: 10_001, value };
        for (const changed of [other, { ...told, amount: "100.00" }, { ...told, more: null }])
          expect(take(version, written(changed, plain))).toMatchObject({ received: 1 });
      }),
    ),
  );
  store.close();
});

test("100, 100.00 and 1e2 are one revision, and a text that is no JSON is itself", () => {
  const store = openStore(tempFolder());
  const { flow } = store.flows.open("bills");
  const taken = (texts: readonly string[], version: string | null): number[] =>
    texts.map((text) => {
      const change = { id: `${version}`, version, text };
      const page = { changes: [change], position: 1 };
      return store.transaction(() => store.intake.page(flow, page, at)).received;
    });
  const texts = ["100", "100.00", "1e2", "-0.0", "0", "[100", "[100.0"].map(
    (one) => `{"a":${one}}`,
  );
  for (const version of [null, "1"]) expect(taken(texts, version)).toEqual([1, 0, 0, 1, 0, 1, 1]);
  store.close();
});

test("an instant that is written otherwise at each reading is one revision, another instant is another", () => {
  const store = openStore(tempFolder());
  const { flow } = store.flows.open("invoices");
  const taken = (texts: readonly string[], version: string | null): number[] =>
    texts.map((paidAt) => {
      const change = { id: `${version}`, version, text: JSON.stringify({ paidAt }) };
      const page = { changes: [change], position: 1 };
      return store.transaction(() => store.intake.page(flow, page, at)).received;
    });
  const texts = [
    "2026-11-21T08:00:00.500Z",
    "2026-11-21T02:00:00.5-06:00",
    "2026-11-21T08:00:00.5+00:00",
    "2026-11-21T08:00:00.500Z",
    "2026-11-21T08:00:00.501Z",
  ];
  for (const version of [null, "1"]) expect(taken(texts, version)).toEqual([1, 0, 0, 0, 1]);
  store.close();
});

test("the deliveries of a page wait in the order of arrival, be records new, known or there twice, and each is counted", () => {
  const pages = array(array(integer({ min: 0, max: 9 }), { maxLength: 12 }), { maxLength: 4 });
  assert(
    property(pages, integer({ min: 0, max: 3 }), (told, failing) => {
      const store = openStore(tempFolder());
      const { flow } = store.flows.open("bills");
      const arrived: { recordId: string; version: string; origin: string; receivedMs: number }[] =
        [];
      let version = 0;
      for (const [at, ids] of told.entries()) {
        const changes = ids.map((id) => ({
          id: `${id}`,
          version: `v${100 + ++version}`,
          text: "{}",
          origin: `line ${version}`,
        }));
        const take = (): unknown => store.intake.page(flow, { changes, position: 1 }, at);
        if (at === failing)
          expect(() =>
            store.transaction(() => {
              take();
              throw new Error("crash");
            }),
          ).toThrow("crash");
        store.transaction(take);
        for (const { id, version, origin } of changes)
          arrived.push({ recordId: id, version, origin, receivedMs: at });
      }
      const waiting = arrived.filter(
        ({ recordId }, at) => !arrived.slice(at + 1).some((later) => later.recordId === recordId),
      );
      expect(store.deliveries.pending(flow, 0, 100)).toMatchObject(
        waiting.map(({ recordId, version, origin }) => ({ recordId, version, origin })),
      );
      for (const id of new Set(arrived.map(({ recordId }) => recordId)))
        expect(store.questions.deliveries(id)).toMatchObject(
          arrived.filter(({ recordId }) => recordId === id),
        );
      const counts = Object.fromEntries(store.deliveries.counts(flow));
      expect([counts["pending"] ?? 0, counts["superseded"] ?? 0]).toEqual([
        waiting.length,
        arrived.length - waiting.length,
      ]);
      expect(store.sweeps.recordsSince(flow, "")).toBe(waiting.length);
      store.close();
    }),
    { numRuns: 60 },
  );
});
