import { expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import { type Ladder, rungs, type Rung, type Standing, type Wanted } from "./adapter.ts";
import type { Identified, Identity } from "./identify.ts";
import { differencesOf, isBelow, type Next, plan, settlementMark } from "./plan.ts";
import { books, ladder, standing, wanted } from "./plan.fixture.ts";

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
  readonly wanted: Wanted;
  readonly standing: Standing;
  readonly by: Identity;
  readonly ladder: Ladder;
}

/** Every combination of how a document should be, how it stands, and what these books can do. */
function* cases(): Generator<Case> {
  const targets: readonly Rung[] = ["posted", "settled", "cancelled"];
  for (const target of targets)
    for (const disputed of target === "posted" ? [true, false] : [false])
      for (const until of target === "settled" ? [null, "2026-11-22T00:00:00.000Z"] : [null])
        for (const rung of [...rungs, "cancelled"] as const)
          for (const by of ["mark", "binding", "number"] as const)
            for (const touched of [true, false, null])
              for (const differs of Object.values(differing))
                for (const paid of Object.values(payments))
                  for (const byUs of ["handed", "draft", "posted", "settled"] as const)
                    yield {
                      wanted: wanted({ target, disputed, until }),
                      by,
                      ladder: { ...ladder, byUs },
                      standing: standing({
                        rung,
                        touched,
                        mark: by === "mark" ? "id-1" : null,
                        payments: paid,
                        facts: factsWith(differs),
                      }),
                    };
}

function factsWith(differs: { readonly order?: string; readonly due?: string }): Standing["facts"] {
  const { facts } = standing({});
  return {
    ...facts,
    days: { due: "2026-12-08", ...(differs.due === undefined ? {} : { due: differs.due }) },
    words: { order: "PO 1", ...(differs.order === undefined ? {} : { order: differs.order }) },
  };
}

const nextOf = ({ wanted, standing, by, ladder }: Case): Next =>
  plan({ kind: "invoice", ladder, books }, wanted, { is: "one", standing, by });

const contentOf = ({ wanted, standing, ladder }: Case): string[] =>
  differencesOf({ kind: "invoice", ladder, books }, wanted, standing).map(({ field }) => field);

test("nothing is posted, settled or left as done while it differs", () => {
  for (const one of cases()) {
    const next = nextOf(one);
    if (next.do === "cancelled" || one.wanted.target === "cancelled") continue;
    const differs = contentOf(one).filter((field) => next.do !== "posted" || field !== "state");
    if (next.do === "posted" || next.do === "settle" || next.do === "nothing")
      expect(differs, JSON.stringify([next.do, one])).toEqual([]);
  }
});

test("only our own untouched draft is retracted; a draft that is not ours is not touched", () => {
  for (const one of cases()) {
    const next = nextOf(one);
    const { rung, touched } = one.standing;
    if (next.do === "retracted")
      expect([rung, touched, one.by], JSON.stringify(one)).toEqual(["draft", false, "mark"]);
    const isInHand = one.by !== "mark" || touched === true;
    if (rung === "draft" && isInHand && one.wanted.target !== "cancelled")
      expect(["ask", "nothing", "amended"]).toContain(next.do);
    if (next.do === "posted") expect(isInHand, JSON.stringify(one)).toBe(false);
  }
});

test("what is cancelled there and not here, and what is void here and paid there, is for a person", () => {
  for (const one of cases()) {
    const next = nextOf(one);
    const { standing, wanted } = one;
    if (standing.rung === "cancelled")
      expect(next.do).toBe(wanted.target === "cancelled" ? "nothing" : "ask");
    else if (wanted.target === "cancelled")
      expect(next.do).toMatch(standing.payments.length > 0 ? /ask/ : /ask|cancelled/);
  }
});

test("what is open is settled once, when it has waited, and no further than these books let us", () => {
  for (const one of cases()) {
    const next = nextOf(one);
    if (next.do !== "settle") continue;
    expect(one.standing.rung).toBe("posted");
    expect(one.wanted).toMatchObject({ target: "settled", until: null });
    expect(one.standing.payments).not.toBe(payments.settlement);
    expect(one.ladder.byUs).toBe("settled");
  }
});

test("every plan ends within eight steps: with a question, or as far as these books let us bring it", () => {
  for (const one of cases()) {
    let now = one;
    let next = nextOf(now);
    for (let round = 0; round < 8 && next.do !== "ask" && next.do !== "nothing"; round++) {
      if (next.do === "retracted") break;
      now = { ...now, standing: stepped(now, next) };
      next = nextOf(now);
    }
    expect(["ask", "nothing", "retracted"], JSON.stringify([one, next])).toContain(next.do);
    if (next.do !== "nothing" || now.standing.rung === "handed") continue;
    const { wanted, ladder, standing } = now;
    const reached = isBelow(ladder.byUs, wanted.target) ? ladder.byUs : wanted.target;
    const isFar = !isBelow(standing.rung, reached) || next.until !== null;
    expect(isFar || standing.rung === "cancelled", JSON.stringify(now)).toBe(true);
  }
});

/** What an ERP makes of a step. */
function stepped({ wanted, standing }: Case, next: Next): Standing {
  const { facts } = standing;
  if (next.do === "settle") return { ...standing, rung: "settled" };
  if (next.do !== "amended") return { ...standing, rung: next.do as Rung };
  const words = { ...facts.words, order: "PO 1" };
  return { ...standing, disputed: wanted.disputed, facts: { ...facts, words } };
}

test("what is not there is created, unless it is void", () => {
  const planning = { kind: "invoice", ladder, books } as const;
  const none: Identified = { is: "none" };
  expect(plan(planning, wanted({}), none)).toEqual({ do: "create" });
  expect(plan(planning, wanted({ target: "cancelled" }), none)).toMatchObject({ do: "nothing" });
});

test("several, a taken number and a refusal after the hand-over are questions with a next step", () => {
  const planning = { kind: "invoice", ladder, books } as const;
  const refusal = { code: "rejected", message: "segment 3 is wrong", next: "Correct it." };
  const told: readonly Identified[] = [
    { is: "several", standings: [standing({}), standing({ id: "S-2" })] },
    { is: "taken", by: { id: "S-9", mark: "id-9", isCancelled: false } },
    { is: "taken", by: { id: "S-9", mark: "id-9", isCancelled: true } },
    { is: "one", standing: standing({ refusal }), by: "mark" },
  ];
  const faults = told.map((found) => plan(planning, wanted({}), found));
  expect(faults).toMatchObject([
    {
      question: "twice",
      fault: { message: "invoice FL-1 in the ledger is there more than once: S-1 and S-2" },
    },
    {
      question: "taken",
      fault: {
        code: "number-taken",
        message:
          "invoice FL-1 in the ledger cannot be booked, because another document has its number: S-9, platform id id-9",
      },
    },
    {
      question: "kept",
      fault: {
        code: "number-kept",
        message:
          "invoice FL-1 in the ledger cannot be booked, because a cancelled document keeps its number: S-9, platform id id-9",
      },
    },
    { question: "refused-there", fault: refusal },
  ]);
});
