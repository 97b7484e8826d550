/** Which payments are booked, which are noted, and which are for a person; in books that can do both. */
import { expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import { Refused } from "../core/errors.ts";
import type { Books, Call, Desired, Entry, LedgerAdapter, PaymentOn } from "./port.ts";
import type { PaymentDocument } from "./documents.ts";
import { payable, settlementMark } from "./plan.ts";
import { desired, entry } from "./plan.fixture.ts";

const d = (digits: string): Decimal => Decimal.of(digits);
const call: Call = {
  key: "k",
  signal: new AbortController().signal,
  purpose: "delivery",
  made: new Set(),
};

const paid = (mark: string | null, amount: string): PaymentOn => ({ mark, amount: d(amount) });
const settled = paid(settlementMark("id-1"), "60.00");

interface More extends Pick<Partial<Entry>, "status"> {
  readonly noted?: string;
  readonly onAccount?: boolean;
  /** What else there is of payments. */
  readonly cash?: readonly Entry[];
}

/** An invoice of 100.00 with these payments; what is noted on it; which books. */
function booksWith(open: string, payments: readonly PaymentOn[], more: More): Books {
  const { facts } = entry({});
  const { noted = null, status = "posted" as const, cash = [], ...rest } = more;
  const invoice = entry({
    payments,
    status,
    facts: { ...facts, money: { total: d("100"), open: d(open) } },
  });
  const get = async (): Promise<Entry[]> => [invoice];
  const covering = { covered: async () => d(noted ?? "0"), cover: async () => {} };
  return {
    name: "the ledger",
    adapters: {
      invoice: { get } as unknown as LedgerAdapter<"invoice">,
      bill: { get } as unknown as LedgerAdapter<"bill">,
      payment: {
        idle: async (_: Desired, since: string) =>
          cash.filter(({ facts }) => (facts.days?.date ?? since) >= since),
        ...(noted === null ? {} : { covering }),
      } as unknown as LedgerAdapter<"payment">,
    },
    ...rest,
  } as Books;
}

async function told(
  books: Books,
  amount: string,
  say: "code" | "message" = "code",
  type: PaymentDocument["type"] = "out",
): Promise<string> {
  const document = {
    number: "ACH 1",
    type,
    invoice: "S-1",
    invoiceId: null,
    amount: d(amount),
    date: "2026-11-20",
  } as PaymentDocument;
  const one: Desired = { ...desired({ mark: "pay-1" }), document };
  try {
    const { booked, covered } = await payable(books, [one], call);
    expect([...booked, ...covered].map(({ on }) => on?.id)).toEqual(["S-1"]);
    return booked.length > 0 ? "booked" : "noted";
  } catch (error) {
    if (error instanceof Refused) return error.fault[say];
    throw error;
  }
}

const ours = paid("pay-0", "40.00");
/** A payment of the invoice's party that names no document. */
const cashOf = (amount: string, date: string, more: Partial<Entry> = {}): Entry =>
  entry({
    id: "#9",
    mark: null,
    ...more,
    facts: { days: { date }, money: { amount: d(amount) }, words: { document: null } },
  });
const beside = (...given: Parameters<typeof cashOf>) => ({ cash: [cashOf(...given)] });
test.each([
  ["anything, of a draft", "100.00", [], { status: "draft" }, "1.00", "not-posted"],
  [
    "anything, of what is cancelled",
    "0.00",
    [],
    { status: "cancelled" },
    "1.00",
    "cancelled-in-books",
  ],
  ["a part", "60.00", [ours], {}, "10.00", "booked"],
  ["all that is open", "60.00", [ours], {}, "60.00", "booked"],
  ["more than is open, and no account for it", "60.00", [ours], {}, "60.01", "more-than-to-pay"],
  ["more than is open, on account", "60.00", [ours], { onAccount: true }, "60.01", "booked"],
  [
    "more than is open, where a part was entered by hand",
    "60.00",
    [paid(null, "40.00")],
    { onAccount: true },
    "60.01",
    "paid-by-others",
  ],
  [
    "anything, where all is paid",
    "0.00",
    [paid("p", "100")],
    { onAccount: true },
    "1.00",
    "more-than-to-pay",
  ],
  [
    "of a settlement, which cannot be noted",
    "0.00",
    [ours, settled],
    {},
    "60.00",
    "settled-as-one",
  ],
  ["of a settlement", "0.00", [ours, settled], { noted: "0", onAccount: true }, "60.00", "noted"],
  ["the rest of a settlement", "0.00", [ours, settled], { noted: "50" }, "10.00", "noted"],
  [
    "more than the rest of a settlement",
    "0.00",
    [ours, settled],
    { noted: "50", onAccount: true },
    "10.01",
    "more-than-to-pay",
  ],
  [
    "as much as a clerk entered on it",
    "60.00",
    [paid(null, "40.00")],
    {},
    "40.00",
    "paid-by-others",
  ],
  [
    "as much as was credited",
    "60.00",
    [{ ...paid(null, "40.00"), instead: "memo" }],
    {},
    "40.00",
    "booked",
  ],
  [
    "cash that names no document",
    "100.00",
    [],
    beside("60.00", "2026-12-20"),
    "60.00",
    "paid-by-others",
  ],
  ["another sum of cash", "100.00", [], beside("60.01", "2026-11-20"), "60.00", "booked"],
  ["cash of another time", "100.00", [], beside("60.00", "2026-10-01"), "60.00", "booked"],
  [
    "cash of another party",
    "100.00",
    [],
    beside("60.00", "2026-11-20", { party: "C-2" }),
    "60.00",
    "booked",
  ],
  [
    "another payment of the platform",
    "100.00",
    [],
    beside("60.00", "2026-11-20", { mark: "pay-0" }),
    "60.00",
    "booked",
  ],
  [
    "cash that was taken back",
    "100.00",
    [],
    beside("60.00", "2026-11-20", { status: "cancelled" }),
    "60.00",
    "booked",
  ],
] as const)("%s: of 100.00 with %s open", async (_, open, payments, more, amount, expected) => {
  expect(await told(booksWith(open, payments, more), amount)).toBe(expected);
});

test("whoever is asked reads which document it is, and what settled it instead", async () => {
  const credit = { ...paid(null, "40.00"), id: "#80", instead: "vendor credit 77 in payment #80" };
  expect(await told(booksWith("60.00", [credit], {}), "60.01", "message", "in")).toBe(
    "payment ACH 1: bill S-1 in the ledger has 60.00 to pay, not 60.01: 40.00 was settled there by vendor credit 77 in payment #80",
  );
});
