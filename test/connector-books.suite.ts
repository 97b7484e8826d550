/** The part of the connector kit that is about receivers that keep documents: batches, inspection, cancellation, codes. */
import { expect, test } from "vitest";
import { compare } from "../src/ledger/compare.ts";
import { Decimal } from "../src/core/decimal.ts";
import type { GoodsHoldingKind, Holding, Scope } from "../src/core/holdings.ts";
import type { Delivered, Item, Memory, Outgoing, Sink } from "../src/core/contract.ts";
import { notes } from "../src/ledger/table.ts";
import {
  type Clerk,
  deliver,
  type Documents,
  type Ground,
  isDone,
  type Kit,
  never,
  open,
  type Paying,
  read,
  recordsOf,
  refusalOf,
  requestOf,
  SENT,
  sinkOf,
  stepsOf,
  type Trait,
} from "./support/connector.ts";
import { numbers } from "./support/runs.ts";

/** Of one sink. */
export function keeping(kit: Kit, name: string): void {
  const documents = kit.sinks[name] as Documents;
  const opened = async (): Promise<{ ground: Ground; sink: Sink }> => {
    const ground = await kit.ground();
    return { ground, sink: sinkOf(open(kit, ground), name) };
  };
  const cases: Readonly<Record<Trait, (given: Given) => Promise<void>>> = {
    batches,
    "batches-cut-off": (given) => cutOff(given, kit),
    restored,
    changed,
    cancellation,
    codes,
    clock,
    "shared-code": sharedCode,
    held: (given) => held(given, kit),
  };
  for (const trait of Object.keys(cases) as Trait[]) {
    const isLong = documents.long?.includes(trait) ?? false;
    const reason = documents.lacks?.[trait];
    const promise = `${name}: ${PROMISES[trait]}`;
    if (trait === "shared-code" && !namesParty(documents.good)) continue;
    if (trait === "held" && !(name in GOODS)) continue;
    if (reason === undefined)
      test(promise, isLong ? numbers : {}, () => cases[trait]({ kit, name, documents, opened }));
    else test.skip(`${promise} (${reason})`, () => {});
  }
}

/** Of one source. */
export function stamping(kit: Kit, source: string): void {
  if (kit.lacksClock !== undefined) return;
  test(`${source}: with a receiver's clock a day ahead or behind no record is lost`, async () => {
    const filled = async (aheadMs: number): Promise<Record<string, string>> => {
      const ground = await kit.ground();
      await needed(ground.clock)(aheadMs);
      await ground.fill(source);
      return recordsOf(await read(open(kit, ground), source, []));
    };
    const whole = Object.keys(await filled(0)).toSorted();
    for (const aheadMs of CLOCKS)
      expect(Object.keys(await filled(aheadMs)).toSorted()).toEqual(whole);
  });
}

/** Of books that keep payments. */
export function paying(kit: Kit, documents: Paying): void {
  const { open: invoice, paid, total, payment, lacks = {} } = documents;
  const booked = async (item: Item) => {
    const ground = await kit.ground();
    const endpoint = open(kit, ground);
    const { ids } = isDone(await deliver(sinkOf(endpoint, "invoices"), [item]));
    return {
      sink: sinkOf(endpoint, "payments"),
      money: needed(ground.money),
      on: (id: string, amount: string) => payment(id, ids?.[0] ?? "", amount),
    };
  };
  const taken = async (sink: Sink, item: Item): Promise<readonly (string | null)[]> => {
    const { ids } = isDone(await deliver(sink, [item]));
    expect(isDone(await deliver(sink, [item])).ids).toEqual(ids);
    expect(await sink.find(sentOf(sink, [item]), never)).toMatchObject({ found: "exact" });
    return ids ?? [];
  };
  const tested = (ability: keyof typeof lacks, promise: string, run: () => Promise<void>): void => {
    const reason = lacks[ability];
    if (reason === undefined) test(`payments: ${promise}`, run);
    else test.skip(`payments: ${promise} (${reason})`, () => {});
  };

  tested(
    "covering",
    "one that comes after its invoice was settled as one is no money",
    async () => {
      const { sink, money, on } = await booked(paid);
      const settled = { open: "0.00", onAccount: "0.00" };
      expect(await money()).toEqual(settled);
      expect(await taken(sink, on("part", "100.00"))).toEqual([null]);
      // The settlement has no room for the whole beside that part.
      expect(await refusalOf(sink, on("whole", total))).toMatchObject({ code: "more-than-to-pay" });
      expect(await money()).toEqual(settled);
    },
  );

  tested(
    "onAccount",
    "what is more than is to pay stays on the party's account, once",
    async () => {
      const { sink, money, on } = await booked(invoice);
      expect(await money()).toEqual({ open: total, onAccount: "0.00" });
      const more = Decimal.of(total).plus(Decimal.of("10.00"));
      expect(await taken(sink, on("over", more.fixed(2)))).toEqual([expect.any(String)]);
      expect(await money()).toEqual({ open: "0.00", onAccount: "10.00" });
    },
  );
}

const PROMISES: Readonly<Record<Trait, string>> = {
  batches: "a batch with a refused document changes nothing, and its halves go through",
  "batches-cut-off": "a batch that is cut off is found or sent again, and nothing doubles",
  restored: "what restored books lost is gone, and goes again once",
  changed: "what a person changed there is told field by field, and is not overwritten",
  cancellation: "what is void is cancelled there once, and never booked when it was void before",
  codes: "a code that vanished is named, and the document goes when it is back",
  clock: "with a receiver's clock a day ahead or behind it is delivered once and found",
  "shared-code": "the party that was made for one company is never another one's by its code",
  held: "what was delivered is told to reconciliation as it was wanted, by list, id and number",
};
const DAY_MS = 86_400_000;
const CLOCKS = [DAY_MS, -DAY_MS];

interface Given {
  readonly kit: Kit;
  readonly name: string;
  readonly documents: Documents;
  readonly opened: () => Promise<{ ground: Ground; sink: Sink }>;
}

async function batches({ name, documents, opened }: Given): Promise<void> {
  const { good, refused } = documents;
  const others = needed(documents.others);
  const all = [good, ...others];
  const { ground, sink } = await opened();
  expect(sink.itemsMax).toBeGreaterThan(all.length);
  expect(await refusalOf(sink, good, refused, ...others)).not.toBeNull();
  for (const item of [...all, refused]) expect(await ground.effects(name, item)).toEqual([]);
  isDone(await deliver(sink, [good]));
  expect(await refusalOf(sink, refused)).not.toBeNull();
  isDone(await deliver(sink, others));
  const halves = await Promise.all(all.map(async (item) => ground.effects(name, item)));
  const fresh = await opened();
  const whole = isDone(await deliver(fresh.sink, all));
  expect(new Set(whole.ids).size).toBe(all.length);
  expect(await fresh.sink.find(sentOf(fresh.sink, all), never)).toMatchObject({
    found: "exact",
    ids: whole.ids,
  });
  const together = await Promise.all(all.map(async (item) => fresh.ground.effects(name, item)));
  expect(together).toEqual(halves);
}

async function cutOff({ name, documents, opened }: Given, kit: Kit): Promise<void> {
  const all = [documents.good, ...needed(documents.others)];
  const undisturbed = await opened();
  isDone(await deliver(undisturbed.sink, all));
  const effectsIn = (ground: Ground) =>
    Promise.all(all.map(async (item) => ground.effects(name, item)));
  const expected = await effectsIn(undisturbed.ground);
  for (const step of stepsOf(kit)) {
    const { ground, sink } = await opened();
    const request = sentOf(sink, all);
    await sink.prepare?.({ ...request, firstSentAt: null }, never);
    const { over } = await ground.interrupt(name, request, step);
    if (over) break;
    const { found } = await sink.find(request, never);
    const left = await effectsIn(ground);
    expect(found === "exact", `cut off after step ${step}`).toBe(
      JSON.stringify(left) === JSON.stringify(expected),
    );
    if (found !== "exact") isDone(await sink.send(request, never));
    expect(await effectsIn(ground), `cut off after step ${step}`).toEqual(expected);
  }
}

async function restored({ name, documents: { good }, opened }: Given): Promise<void> {
  const { ground, sink } = await opened();
  const restore = await needed(ground.backup)();
  const inspected = async (delivered: readonly Delivered[]) =>
    needed(await sink.inspect?.(delivered, never));
  const { ids } = isDone(await deliver(sink, [good]));
  const delivered = deliveredAs(sink, good, ids?.[0]);
  const nobody = { id: "nobody", counterpart: "nobody", body: null };
  expect(await inspected([nobody, delivered])).toEqual([
    { is: "gone" },
    { is: "there", differences: [] },
  ]);
  const effects = await ground.effects(name, good);
  await restore();
  expect(await inspected([delivered])).toEqual([{ is: "gone" }]);
  expect(await sink.find(sentOf(sink, [good]), never)).toMatchObject({ found: "none" });
  isDone(await deliver(sink, [{ ...good, counterpart: delivered.counterpart }]));
  expect(await ground.effects(name, good)).toEqual(effects);
  expect(await inspected([delivered])).toEqual([{ is: "there", differences: [] }]);
}

async function changed({ name, documents: { good }, opened }: Given): Promise<void> {
  const { ground, sink } = await opened();
  const { ids } = isDone(await deliver(sink, [good]));
  await needed(ground.change)(name, good);
  const effects = await ground.effects(name, good);
  const delivered = deliveredAs(sink, good, ids?.[0]);
  const [inspection] = needed(await sink.inspect?.([delivered], never));
  const words = expect.stringMatching(/./);
  expect(inspection).toMatchObject({
    is: "there",
    differences: expect.arrayContaining([
      expect.objectContaining({ field: words, expected: words, held: words }),
    ]),
  });
  expect(await sink.find(sentOf(sink, [good]), never)).toMatchObject({ found: "different" });
  expect(await refusalOf(sink, good)).not.toBeNull();
  expect(await ground.effects(name, good)).toEqual(effects);
}

async function cancellation({ name, documents, opened }: Given): Promise<void> {
  const { good } = documents;
  const voided = needed(documents.voided);
  const { ground, sink } = await opened();
  const { ids } = isDone(await deliver(sink, [good]));
  const booked = await ground.effects(name, good);
  const ended = { ...voided, counterpart: ids?.[0] ?? null };
  isDone(await deliver(sink, [ended]));
  const cancelled = await ground.effects(name, good);
  expect(cancelled).toHaveLength(1);
  expect(cancelled).not.toEqual(booked);
  isDone(await deliver(sink, [ended]));
  expect(await ground.effects(name, good)).toEqual(cancelled);
  expect(await sink.find(sentOf(sink, [ended]), never)).toMatchObject({ found: "exact", ids });
  const before = await opened();
  expect(isDone(await deliver(before.sink, [voided])).ids).toEqual([null]);
  expect(await before.ground.effects(name, good)).toEqual([]);
}

async function codes({ name, documents: { good }, opened }: Given): Promise<void> {
  const { ground, sink } = await opened();
  const putBack = await needed(ground.vanish)(name);
  const fault = await refusalOf(sink, good);
  expect(fault?.message).toMatch(/\w+ \w+/);
  expect(await ground.effects(name, good)).toEqual([]);
  await putBack();
  isDone(await deliver(sink, [good]));
  expect(await ground.effects(name, good)).toHaveLength(1);
}

async function clock({ name, documents: { good }, opened }: Given): Promise<void> {
  for (const aheadMs of CLOCKS) {
    const { ground, sink } = await opened();
    await needed(ground.clock)(aheadMs);
    const { ids } = isDone(await deliver(sink, [good]));
    expect(isDone(await deliver(sink, [good])).ids).toEqual(ids);
    expect(await sink.find(sentOf(sink, [good]), never)).toMatchObject({ found: "exact", ids });
    expect(await ground.effects(name, good)).toHaveLength(1);
  }
}

const namesParty = ({ document }: Item): boolean =>
  typeof document === "object" && document !== null && "party" in document;

/** Two firms were given one code: the second is a person's, as is every later document of it; the first one goes on. */
async function sharedCode({ documents: { good }, opened }: Given): Promise<void> {
  const { sink } = await opened();
  const of = (company: number, document: number): Item => {
    const [id, number] = [`0a000000-0000-4000-8000-0000000000${document}`, `SHARED-${document}`];
    const companyId = `0a000000-0000-4000-8000-0000000000${company}`;
    const party = { code: "000101", name: `Firm ${company}`, companyId };
    return { ...good, id, number, document: { ...(good.document as object), id, number, party } };
  };
  isDone(await deliver(sink, [of(71, 11)]));
  for (const document of [12, 13])
    expect(await refusalOf(sink, of(72, document))).toMatchObject({ code: "party-of-another" });
  isDone(await deliver(sink, [of(71, 14)]));
}

/** Sinks of goods, and what reconciliation calls them. */
const GOODS: Readonly<Record<string, GoodsHoldingKind>> = { orders: "order", shipments: "ticket" };

/** A run over everything, over the document's day, and over what has changed; then what a person changed is a difference. */
async function held({ name, documents }: Given, kit: Kit): Promise<void> {
  const { good, lacks } = documents;
  const kind = GOODS[name] ?? "order";
  const ground = await kit.ground();
  const endpoint = open(kit, ground);
  isDone(await deliver(sinkOf(endpoint, name), [good]));
  const holdings = needed(endpoint.holdings);
  const [wanted] = await holdings.expect(kind, [good], never);
  if (wanted === undefined || !("facts" in wanted)) throw new Error("no record is expected");
  const listed = async (scope: Scope): Promise<Holding[]> => {
    const all: Holding[] = [];
    for await (const page of holdings.list(kind, scope, null, never)) all.push(...page.holdings);
    return all.filter(({ mark }) => mark === good.id);
  };
  const { date } = good.document as { readonly date: string };
  const changedSince = "1970-01-01T00:00:00.000Z";
  const scopes: readonly Scope[] = [
    { dated: null, changedSince, open: false },
    { dated: { from: date, to: date }, changedSince: null, open: true },
  ];
  for (const scope of scopes) expect(await listed(scope)).toHaveLength(1);
  const other = { from: "2020-01-01", to: "2020-01-31" };
  expect(await listed({ dated: other, changedSince: null, open: false })).toEqual([]);
  const [one] = await listed(scopes[0] as Scope);
  if (one === undefined) throw new Error("it is not in the list");
  expect(compare(kind, wanted.facts, one.facts)).toEqual([]);
  expect(one).toMatchObject({ kind, mark: good.id, change: null, facts: { number: good.number } });
  expect(one.facts.days?.date).toBe(date);
  expect(await holdings.get(kind, [one.id], never)).toMatchObject([{ id: one.id }]);
  expect(await holdings.named?.(kind, [good.number], never)).toMatchObject([{ id: one.id }]);
  if (lacks?.changed !== undefined) return;
  await needed(ground.change)(name, good);
  const [changedOne] = await holdings.get(kind, [one.id], never);
  expect(compare(kind, wanted.facts, changedOne?.facts ?? {})).not.toEqual([]);
}

/** A part that a connector has unless it declares that it lacks it. */
function needed<T>(part: T | undefined): T {
  if (part === undefined)
    throw new Error("the ground does not have this part, and the sink's `lacks` does not say why");
  return part;
}

const deliveredAs = (
  sink: Sink,
  item: Item,
  counterpart: string | null | undefined,
): Delivered => ({
  id: item.id,
  counterpart: counterpart ?? "",
  body: sink.freeze([item]).body,
});

const sentOf = (sink: Sink, items: readonly Item[]): Outgoing => ({
  ...requestOf(sink, items),
  firstSentAt: SENT,
});

/** Whom a code means, where people keep the list of parties. The firm's first invoice was booked on 000101. */
interface CodeCase {
  readonly acts: (clerk: Clerk) => Promise<unknown>;
  /** The code that the cross-reference names for its next invoice. Left out: 000101. */
  readonly code?: string;
  /** What a person is told, and goes to whoever has the code once that person has it go again. Null: it goes where the first one is. */
  readonly told: "party-apart" | "party-gone" | null;
  /** Needs {@link Clerk.remove}. */
  readonly removes?: true;
}

const giveAway = async (clerk: Clerk): Promise<void> => {
  await clerk.recode("000101", "000901");
  await clerk.enter("000101");
};

const CODES: Readonly<Record<string, CodeCase>> = {
  "stays as it is": { acts: async () => {}, told: null },
  "is changed": { acts: async (clerk) => clerk.recode("000101", "000901"), told: null },
  "is given to another firm": { acts: giveAway, told: "party-apart" },
  "is given to another firm, and the cross-reference names the new one": {
    acts: giveAway,
    code: "000901",
    told: null,
  },
  "is gone with its party, deleted or merged": {
    acts: async (clerk) => clerk.remove?.("000101"),
    removes: true,
    told: "party-gone",
  },
  "is gone with its party, which is made again": {
    async acts(clerk) {
      await clerk.remove?.("000101");
      await clerk.enter("000101");
    },
    removes: true,
    told: "party-apart",
  },
};

/** Of books whose ground has a clerk. */
export function naming(kit: Kit): void {
  const { good } = kit.sinks["invoices"] as Documents;
  const of = (document: number, code: string): Item => {
    const [id, number] = [`0a000000-0000-4000-8000-0000000000${document}`, `CODE-${document}`];
    const party = { code, name: "Ranch Supply", companyId: "0a000000-0000-4000-8000-000000000071" };
    return { ...good, id, number, document: { ...(good.document as object), id, number, party } };
  };
  for (const [what, { acts, code = "000101", told, removes }] of Object.entries(CODES))
    test(`no other firm is billed, and none is made twice, where the code of a party ${what}`, async ({
      skip,
    }) => {
      const ground = await kit.ground();
      const clerk = needed(ground.clerk);
      if (removes && clerk.remove === undefined) return skip();
      const endpoint = open(kit, ground, undefined, notes());
      const sink = sinkOf(endpoint, "invoices");
      const others = (await clerk.codes()).length;
      await clerk.enter("000101");
      const booked = async (item: Item, memory?: Memory): Promise<string> =>
        isDone(await deliver(sink, [item], never, memory)).ids?.[0] ?? "";
      const payerOf = async (id: string): Promise<string | null | undefined> => {
        const [one] = needed(await endpoint.holdings?.get("invoice", [id], never));
        return needed(one).facts.party;
      };
      const first = of(11, "000101");
      const id = await booked(first);
      await acts(clerk);
      const parties = await clerk.codes();
      const next = of(12, code);
      if (told === null) expect(await payerOf(await booked(next))).toBe(await payerOf(id));
      else {
        const fault = await refusalOf(sink, next);
        expect(fault).toMatchObject({ code: told });
        // What was booked on the firm is its own all the same.
        const inspected = await sink.inspect?.([deliveredAs(sink, first, id)], never);
        if (!removes) expect(inspected).toEqual([{ is: "there", differences: [] }]);
        const isDismissed = (one: string): boolean => fault?.candidates?.includes(one) === true;
        const agreed = await booked(next, { isDismissed } as Memory);
        if (!removes) expect(await payerOf(agreed)).not.toBe(await payerOf(id));
        // Nobody is asked a second time.
        await booked(of(13, code));
      }
      const after = await clerk.codes();
      expect(after.length).toBe(told === "party-gone" ? others + 1 : parties.length);
    });
}
