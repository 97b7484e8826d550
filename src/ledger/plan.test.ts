import { expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import { type Capabilities, type Desired, type Entry, type EntryStatus, statuses } from "./port.ts";
import {
  differencesOf,
  type Identified,
  type Identity,
  isBelow,
  type Next,
  plan,
  settlementMark,
} from "./plan.ts";
import { books, can, desired, entry } from "./plan.fixture.ts";

const AMOUNT = Decimal.of("100.00");
const payments = {
  none: [],
  theirs: [{ mark: null, amount: AMOUNT }],
  settlement: [{ mark: settlementMark("id-1"), amount: AMOUNT }],
};
const differing = {
  nothing: {},
  amendable: { order: "PO 2" },
  content: { due: "2026-12-31" },
};

interface Case {
  readonly desired: Desired;
  readonly entry: Entry;
  readonly by: Identity;
  readonly can: Capabilities;
}

/** Every combination of how a document should be, how it stands, and what these books can do. */
function* cases(): Generator<Case> {
  const targets: readonly EntryStatus[] = ["posted", "settled", "cancelled"];
  for (const target of targets)
    for (const disputed of target === "posted" ? [true, false] : [false])
      for (const until of target === "settled" ? [null, "2026-11-22T00:00:00.000Z"] : [null])
        for (const status of [...statuses, "cancelled"] as const)
          for (const by of ["mark", "binding", "number"] as const)
            for (const touched of [true, false, null])
              for (const differs of Object.values(differing))
                for (const paid of Object.values(payments))
                  for (const byUs of statuses)
                    yield {
                      desired: desired({ target, disputed, until }),
                      by,
                      can: { ...can, byUs },
                      entry: entry({
                        status,
                        touched,
                        mark: by === "mark" ? "id-1" : null,
                        payments: paid,
                        facts: factsWith(differs),
                      }),
                    };
}

function factsWith(differs: { readonly order?: string; readonly due?: string }): Entry["facts"] {
  const { facts } = entry({});
  return {
    ...facts,
    days: { due: "2026-12-08", ...(differs.due === undefined ? {} : { due: differs.due }) },
    words: { order: "PO 1", ...(differs.order === undefined ? {} : { order: differs.order }) },
  };
}

const nextOf = ({ desired, entry, by, can }: Case): Next =>
  plan({ kind: "invoice", can, books }, desired, { is: "one", entry, by });

const contentOf = ({ desired, entry, can }: Case): string[] =>
  differencesOf({ kind: "invoice", can, books }, desired, entry).map(({ field }) => field);

test("nothing is posted, settled or left as done while it differs", () => {
  for (const one of cases()) {
    const next = nextOf(one);
    if (next.do === "cancelled" || one.desired.target === "cancelled") continue;
    const differs = contentOf(one).filter((field) => next.do !== "posted" || field !== "state");
    if (next.do === "posted" || next.do === "settle" || next.do === "nothing")
      expect(differs, JSON.stringify([next.do, one])).toEqual([]);
  }
});

test("only our own untouched draft is retracted; a draft that is not ours is not touched", () => {
  for (const one of cases()) {
    const next = nextOf(one);
    const { status, touched } = one.entry;
    if (next.do === "retracted")
      expect([status, touched, one.by], JSON.stringify(one)).toEqual(["draft", false, "mark"]);
    const isInHand = one.by !== "mark" || touched === true;
    if (status === "draft" && isInHand && one.desired.target !== "cancelled")
      expect(["ask", "nothing", "amended"]).toContain(next.do);
    if (next.do === "posted") expect(isInHand, JSON.stringify(one)).toBe(false);
  }
});

test("what is cancelled there and not here, and what is void here and paid there, is for a person", () => {
  for (const one of cases()) {
    const next = nextOf(one);
    const { entry, desired } = one;
    if (entry.status === "cancelled")
      expect(next.do).toBe(desired.target === "cancelled" ? "nothing" : "ask");
    else if (desired.target === "cancelled")
      expect(next.do).toMatch(entry.payments.length > 0 ? /ask/ : /ask|cancelled/);
  }
});

test("what is open is settled once, when it has waited, and no further than these books let us", () => {
  for (const one of cases()) {
    const next = nextOf(one);
    if (next.do !== "settle") continue;
    expect(one.entry.status).toBe("posted");
    expect(one.desired).toMatchObject({ target: "settled", until: null });
    expect(one.entry.payments).not.toBe(payments.settlement);
    expect(one.can.byUs).toBe("settled");
  }
});

test("every plan ends within eight steps: with a question, or as far as these books let us bring it", () => {
  for (const one of cases()) {
    let now = one;
    let next = nextOf(now);
    for (let round = 0; round < 8 && next.do !== "ask" && next.do !== "nothing"; round++) {
      if (next.do === "retracted") break;
      now = { ...now, entry: stepped(now, next) };
      next = nextOf(now);
    }
    expect(["ask", "nothing", "retracted"], JSON.stringify([one, next])).toContain(next.do);
    if (next.do !== "nothing") continue;
    const { desired, can, entry } = now;
    const reached = isBelow(can.byUs, desired.target) ? can.byUs : desired.target;
    const isFar = !isBelow(entry.status, reached) || next.until !== null;
    expect(isFar || entry.status === "cancelled", JSON.stringify(now)).toBe(true);
  }
});

/** What an ERP makes of a step. */
function stepped({ desired, entry }: Case, next: Next): Entry {
  const { facts } = entry;
  if (next.do === "settle") return { ...entry, status: "settled" };
  if (next.do !== "amended") return { ...entry, status: next.do as EntryStatus };
  const words = { ...facts.words, order: "PO 1" };
  return { ...entry, disputed: desired.disputed, facts: { ...facts, words } };
}

test("what is not there is created, unless it is void", () => {
  const planning = { kind: "invoice", can, books } as const;
  const none: Identified = { is: "none" };
  expect(plan(planning, desired({}), none)).toEqual({ do: "create" });
  expect(plan(planning, desired({ target: "cancelled" }), none)).toMatchObject({ do: "nothing" });
});

test("several, a taken number and a refusal after the hand-over are questions with a next step", () => {
  const planning = { kind: "invoice", can, books } as const;
  const refusal = {
    code: "rejected-by-erp" as const,
    message: "segment 3 is wrong",
    next: "Correct it.",
  };
  const told: readonly Identified[] = [
    { is: "several", entries: [entry({}), entry({ id: "S-2" })] },
    { is: "taken", by: { id: "S-9", mark: "id-9", isCancelled: false } },
    { is: "taken", by: { id: "S-9", mark: "id-9", isCancelled: true } },
    { is: "one", entry: entry({ refusal }), by: "mark" },
  ];
  const faults = told.map((found) => plan(planning, desired({}), found));
  expect(faults).toMatchObject([
    {
      found: "several",
      fault: {
        code: "twice-in-books",
        message: "invoice FL-1 in the ledger is there more than once: S-1 and S-2",
      },
    },
    {
      found: "different",
      fault: {
        code: "number-taken",
        message:
          "invoice FL-1 in the ledger cannot be booked, because another document has its number: S-9, platform id id-9",
      },
    },
    {
      found: "different",
      fault: {
        code: "number-kept",
        message:
          "invoice FL-1 in the ledger cannot be booked, because a cancelled document keeps its number: S-9, platform id id-9",
      },
    },
    { found: "different", fault: refusal },
  ]);
});
