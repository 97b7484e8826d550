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

test("an instant or id that is written otherwise at each reading is one revision, another one is another", () => {
  const store = openStore(tempFolder());
  const { flow } = store.flows.open("invoices");
  const taken = (texts: readonly string[], version: string | null): number[] =>
    texts.map((said) => {
      const change = { id: `${version}`, version, text: JSON.stringify({ said }) };
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
  const id = "00000000-0000-4000-8000-0000000000ab";
  const ids = [id, id.toUpperCase(), id, id.replace("b", "c")];
  for (const version of [null, "2"]) expect(taken(ids, version)).toEqual([1, 0, 0, 1]);
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

const MINUTE = 60_000;
const noon = Date.parse("2026-11-21T12:00:00Z");
const later = (minutes: number): number => noon + minutes * MINUTE;
const stamp = (minutes: number): string =>
  `${new Date(later(minutes)).toISOString().slice(0, -1)}000000Z`;

/** What is stored at noon has the stamp of `ahead` minutes later; then the same record comes under an earlier one. */
function turned(ahead: number) {
  const store = openStore(tempFolder());
  const { flow } = store.flows.open("invoices");
  const take = (
    { version, total }: { version: number; total: number },
    asked?: { at: number; answered: number | null },
  ) => {
    const text = JSON.stringify({ total });
    const changes = [{ id: "A", version: stamp(version), text }];
    const { at = 0, answered = null } = asked ?? {};
    const answeredAt = answered === null ? null : stamp(answered);
    const told = asked === undefined ? {} : { asked: { atMs: later(at), answeredAt } };
    const page = { changes, position: 1, ...told };
    // Stored long after it was asked for: what counts is when it left.
    return store.transaction(() => store.intake.page(flow, page, later(at + 600)));
  };
  const text = (): string => store.samples.latest(flow, 1)[0]?.text ?? "";
  const page = { changes: [{ id: "A", version: stamp(ahead), text: '{"total":1}' }], position: 1 };
  store.transaction(() => store.intake.page(flow, page, noon));
  return { take, text, end: () => store.close() };
}

test.each([
  ["nobody says when it was asked for", 5, undefined, 0],
  ["it was asked for before the newer one was stored", 5, { at: -1, answered: 3 }, 0],
  ["a copy that lags could say it still", 5, { at: 15, answered: 15 }, 0],
  ["the newer one has been here for longer than a copy lags", 5, { at: 16, answered: 16 }, 1],
  ["the newer one is of the future by the source's own clock", 60, { at: 1, answered: 1 }, 1],
  ["two clocks of the source are a little apart", 2, { at: 1.5, answered: 1 }, 0],
  ["the source says nothing of its clock", 60, { at: 1, answered: null }, 0],
  ["it is asked for again a day later", 5_000, { at: 1_440, answered: null }, 1],
])(
  "a version of an earlier time is taken where no old answer can say it: %s",
  (_, ahead, asked, setBack) => {
    const { take, text, end } = turned(ahead);
    const taken = take({ version: 1, total: 2 }, asked);
    expect(taken).toMatchObject({
      received: setBack,
      stale: 1 - setBack,
      news: setBack === 1 ? [{ id: "A", isSetBack: true }] : [],
    });
    expect(text()).toBe(setBack === 1 ? '{"total":2}' : '{"total":1}');
    end();
  },
);

test("what was taken under an earlier time is followed by what is later than that, and by nothing that was told before", () => {
  const { take, text, end } = turned(60);
  const asked = (at: number) => ({ at, answered: at });
  expect(take({ version: 2, total: 2 }, asked(3))).toMatchObject({
    news: [{ id: "A", isSetBack: true }],
  });
  expect(take({ version: 2, total: 2 }, asked(4))).toMatchObject({ unchanged: 1 });
  // A copy that lags says the wrong time once more.
  expect(take({ version: 60, total: 1 }, asked(5))).toMatchObject({ stale: 1, received: 0 });
  expect(take({ version: 6, total: 3 }, asked(7))).toMatchObject({ news: [{ isSetBack: false }] });
  // Nor is one that was here before taken for a later one of an earlier time.
  expect(take({ version: 2, total: 2 }, asked(1_000))).toMatchObject({ stale: 1, received: 0 });
  expect(text()).toBe('{"total":3}');
  end();
});
