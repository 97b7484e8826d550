/** What a person settles counts as it is there: with its amount, and with what is still to be done. */
import { describe, expect, test } from "vitest";
import { bill, billMapping, engineOn, quickPolicy, receiver } from "../../test/support/engine.ts";
import { deliveredTotal } from "../../test/support/delivered-total.ts";
import { officeOn } from "../../test/support/office.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Change, Sink } from "../core/contract.ts";
import type { Fault } from "../core/record.ts";
import { unknown } from "../core/outcome.ts";
import { Daemon } from "./daemon.ts";
import type { Flow } from "./engine.ts";

const signal = new AbortController().signal;
const DRAFT: Fault = { code: "draft-at-receiver", message: "it is a draft", next: "Issue it." };

function parsedBill({ text }: Change): { number: string; amount: string } {
  const { number, amount } = JSON.parse(text) as { number: string; amount: number };
  return { number, amount: String(amount) };
}

/** One record, whose versions come one after the other. */
function site(options: Partial<Sink>, more: Partial<Flow> = {}) {
  const folder = tempFolder();
  const bench = engineOn(folder);
  const pages: Change[][] = [];
  let position = 0;
  const source = {
    async *read() {
      for (const changes of pages.splice(0)) yield { changes, position: ++position };
    },
  };
  const sink = receiver(options);
  const flow = bench.flow({ sink, source, ...more });
  const daemon = new Daemon(bench.engine, [flow]);
  const office = officeOn(bench.engine, [flow], daemon);
  return {
    ...bench,
    sink,
    office,
    once: async (...changes: Change[]) => {
      if (changes.length > 0) pages.push(changes.map((one) => ({ ...one, id: "row-7" })));
      await daemon.once(signal);
    },
    byHand: (receiverId?: string) =>
      office.resolve("all", {
        by: "ann",
        note: "seen there",
        ...(receiverId === undefined ? {} : { receiverId }),
      }),
    causes: () => bench.store.questions.quarantine().map(({ code }) => code),
    /** Amounts of the newest delivered version of each record, and of what is linked. At the end: it closes the store. */
    totals: () => {
      const { store } = bench;
      const linked = store.links.find(flow.mapping.kind, flow.side, "row-7")?.amount ?? null;
      store.close();
      return { delivered: deliveredTotal(folder, flow.name), linked };
    },
  };
}

describe.each(["erp", "platform"] as const)("what came from the %s", (side) => {
  const at = { side };

  test("is counted with its amount once a person has given it its new number there", async () => {
    const { once, byHand, causes, totals } = site({}, at);
    await once(bill("INV-1", "40936.02"));
    await once(bill("INV-1b", "40936.02"));
    expect(causes()).toEqual(["renumbered"]);
    await byHand("id-of-INV-1");
    expect(causes()).toEqual([]);
    expect(totals()).toEqual({ delivered: "40936.02", linked: "40936.02" });
  });

  test("is counted as it is now where a person has changed its amount there, and its next change is told", async () => {
    const { once, byHand, causes, totals } = site({}, at);
    await once(bill("INV-1", "100"));
    await once(bill("INV-1", "120"));
    expect(causes()).toEqual(["amount-changed-after-posting"]);
    await byHand("id-of-INV-1");
    await once(bill("INV-1", "150"));
    expect(causes()).toEqual(["amount-changed-after-posting"]);
    expect(totals()).toEqual({ delivered: "120", linked: "120" });
  });

  test.each([
    ["its new number was given there", bill("INV-1b", "100")],
    ["its new terms were entered there", bill("INV-1", "100", { terms: "net 30" })],
  ])("is told of its next change after %s, and of nothing that was seen", async (_, changed) => {
    const { once, byHand, causes, totals } = site({}, at);
    await once(bill("INV-1", "100"));
    await once(changed);
    await byHand("id-of-INV-1");
    await once({ ...changed, text: `${changed.text} ` });
    expect(causes()).toEqual([]);
    const { number, amount } = parsedBill(changed);
    await once(bill(number, amount, { terms: "net 60" }));
    expect(causes()).toEqual(["changed-after-delivery"]);
    expect(totals()).toEqual({ delivered: "100", linked: "100" });
  });

  test("keeps its amount where its newest version cannot be read, and its next change is told", async () => {
    const { once, byHand, causes, totals } = site({}, at);
    await once(bill("INV-1", "100"));
    await once({ ...bill("INV-1", "100"), text: '{"number":"INV-1"}' });
    expect(causes()).toEqual(["does-not-fit"]);
    await byHand("id-of-INV-1");
    await once(bill("INV-1", "150"));
    expect(causes()).toEqual(["amount-changed-after-posting"]);
    expect(totals()).toEqual({ delivered: "100", linked: "100" });
  });

  test("and is newer than the version that a person found there is judged by what is there", async () => {
    const undecided: Partial<Sink> = {
      policy: { ...quickPolicy, afterNone: "person" },
      send: async () => unknown("504", { holdMs: 86_400_000 }),
      find: async () => ({ found: "none", detail: "not there" }),
    };
    const { once, byHand, causes, totals, clock } = site(undecided, at);
    await once(bill("INV-1", "100"));
    clock.advance(60_000);
    await once();
    await once(bill("INV-1", "120"));
    expect(causes()).toEqual(["needs-decision"]);
    await byHand("id-of-INV-1");
    await once();
    expect(causes()).toEqual(["amount-changed-after-posting"]);
    expect(totals()).toEqual({ delivered: "100", linked: "100" });
  });

  describe("and is a draft there", () => {
    const drafts = () => {
      let isDraft = true;
      const made = site(
        {
          send: async () => ({
            outcome: "done",
            detail: "201",
            ids: ["id-of-INV-1"],
            unfinished: DRAFT,
          }),
          unfinished: { fault: DRAFT, still: async (ids) => ids.map(() => isDraft) },
        },
        at,
      );
      const issued = async (): Promise<void> => {
        isDraft = false;
        made.clock.advance(3_600_000);
        await made.once();
      };
      return { ...made, issued };
    };

    test.each([
      ["with its id there", "id-of-INV-1"],
      ["without its id there", undefined],
    ])(
      "is told until it is issued, also when a person has settled its new number %s",
      async (_, id) => {
        const { once, byHand, causes, totals, issued } = drafts();
        await once(bill("INV-1", "40936.02"));
        expect(causes()).toEqual(["draft-at-receiver"]);
        await once(bill("INV-1b", "40936.02"));
        expect(causes()).toEqual(["renumbered"]);
        await byHand(id);
        expect(causes()).toEqual(["draft-at-receiver"]);
        await once();
        expect(causes()).toEqual(["draft-at-receiver"]);
        await issued();
        expect(causes()).toEqual([]);
        expect(totals()).toEqual({ delivered: "40936.02", linked: "40936.02" });
      },
    );

    test("counts once with its amount, whichever version was told of it last", async () => {
      const { once, causes, totals, issued } = drafts();
      await once(bill("INV-1", "40936.02"));
      await once({
        ...bill("INV-1", "40936.02"),
        text: '{"amount":40936.020,"number":"INV-1"}',
        version: "2",
      });
      expect(causes()).toEqual(["draft-at-receiver"]);
      await issued();
      expect(causes()).toEqual([]);
      expect(totals()).toEqual({ delivered: "40936.02", linked: "40936.02" });
    });

    test("is told no more when a person says so of the draft itself", async () => {
      const { once, byHand, causes } = drafts();
      await once(bill("INV-1", "1"));
      await byHand();
      await once();
      expect(causes()).toEqual([]);
    });
  });
});

test("a document of a kind without amounts that a person has linked is delivered without one", async () => {
  const mapping = {
    ...billMapping,
    figures: () => ({ amount: null, gallons: null }),
    posts: false,
  };
  const { once, byHand, causes, totals } = site({}, { mapping });
  await once(bill("INV-1", "1"));
  await once(bill("INV-1b", "1"));
  await byHand("id-of-INV-1");
  expect(causes()).toEqual([]);
  expect(totals()).toEqual({ delivered: "0", linked: null });
});
