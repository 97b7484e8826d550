/** The story of a document, over a real store: nothing forgotten, nothing told twice. */
import { expect, test } from "vitest";
import { bill, engineOn, pagesOf, receiver } from "../../test/support/engine.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { Change, Page } from "../core/contract.ts";
import type { Answer } from "../core/outcome.ts";
import { lost } from "../engine/delivered.ts";
import { runFlow } from "../engine/daemon.ts";
import { storeOffice } from "../../test/support/office.ts";

const signal = new AbortController().signal;
const from = (file: string, change: Change): Change => ({ ...change, origin: file });
const page = (...changes: Change[]): Page[] => [{ changes, position: 1 }];

function site(options: Parameters<typeof receiver>[0], ...reads: Page[][]) {
  const made = engineOn(tempFolder());
  const rows = new Set<string>();
  const tables = { row: (_: string, key: string) => (rows.has(key) ? { code: key } : null) };
  const engine = { ...made.engine, tables };
  const sink = receiver(options);
  const bills = made.flow({ sink, source: pagesOf(...reads) });
  const home = { engine, flows: [bills], daemon: null, version: "1", startedAt: new Date(0) };
  const office = storeOffice(home);
  const step = async (): Promise<void> => {
    made.clock.advance(60_000);
    await runFlow(engine, bills, signal);
  };
  const story = async (number: string): Promise<string[]> =>
    (await office.trace(number)).steps.map(({ event, detail }) => `${event}: ${detail}`);
  return { ...made, engine, rows, sink, bills, office, step, story };
}

test("each version is told with the file that it came in, also one that was replaced before it was mapped", async () => {
  const { step, story } = site(
    {},
    page(from("monday.csv line 2", bill("INV-1", "1", { product: "ULSD" }))),
    page(from("tuesday.csv line 9", bill("INV-1", "2", { product: "ULSD" }))),
    page(from("wednesday.csv line 4", bill("INV-1", "3"))),
  );
  for (let day = 0; day < 3; day++) await step();
  expect(await story("INV-1")).toEqual([
    "received: monday.csv line 2",
    "quarantined: crossref/products.csv has no row `ULSD`",
    "superseded: a newer version takes its place",
    "received: tuesday.csv line 9",
    "quarantined: crossref/products.csv has no row `ULSD`",
    "superseded: a newer version takes its place",
    "received: wednesday.csv line 4",
    expect.stringMatching(/^send: /),
    "done: 201",
    "delivered: id-of-INV-1",
    "linked: INV-1, entered in the ERP first, amount 3.00",
  ]);
});

test("a quarantine stays in the story with its cause when it is over, and a retry is one line", async () => {
  const { rows, office, clock, step, story } = site(
    {},
    page(bill("INV-1", "1", { product: "ULSD" })),
  );
  await step();
  expect((await office.trace("INV-1")).groups).toEqual([(await office.quarantine())[0]?.id]);
  clock.advance(60_000);
  rows.add("ULSD");
  await office.retry("all");
  await step();
  expect((await story("INV-1")).slice(1, 3)).toEqual([
    "quarantined: crossref/products.csv has no row `ULSD`",
    "retried: by a person, who was told: crossref/products.csv has no row `ULSD`",
  ]);
  expect((await office.trace("INV-1")).groups).toEqual([]);
});

test.each(["retry", "resolve"] as const)(
  "a decision about a document of unknown outcome is told once: %s",
  async (decision) => {
    const { sink, office, step, story } = site({ writes: "upsert" }, page(bill("INV-1", "1")));
    const answer: Answer = { outcome: "unknown", holdMs: 86_400_000, detail: "no answer" };
    sink.script.push(() => ({ answer, execute: false }));
    for (let looks = 0; looks < 4; looks++) await step();
    if (decision === "retry") await office.retry("all");
    else await office.resolve("all", { by: "ann", note: "credit note 7" });
    const told = await story("INV-1");
    expect(told.filter((line) => line.startsWith("quarantined"))).toHaveLength(1);
    const decided = told.filter((line) => /retried|resolved|decision/.test(line));
    expect(decided).toEqual([
      decision === "retry"
        ? "retried: by a person, who was told: nobody can tell by machine whether it arrived: not there"
        : "resolved: ann: credit note 7",
    ]);
  },
);

test.each([1, 20])(
  "the booking before a loss stays in the story, and the loss is one line (%i in a request)",
  async (itemsMax) => {
    const ids = ["R-1", "R-2"].slice(0, Math.min(itemsMax, 2));
    const send = async (): Promise<Answer> => ({ outcome: "done", detail: "booked", ids });
    const many = { itemsMax, ...(itemsMax > 1 ? { send } : {}) };
    const changes = [bill("INV-1", "1"), bill("INV-2", "2")].slice(0, ids.length);
    const { engine, store, clock, bills, office, step, story } = site(many, page(...changes));
    await step();
    clock.advance(60_000);
    const link = store.links.find("invoice", "erp", "INV-1");
    store.transaction(() => expect(link && lost(engine, bills, link)).toBe(true));
    clock.advance(60_000);
    await office.retry("all");
    await step();
    const events = (await story("INV-1")).map((line) => line.split(":")[0]);
    expect(events).toEqual(
      "received send done quarantined retried send done delivered linked".split(" "),
    );
    expect(await story("INV-1")).toContain(
      'quarantined: it was delivered, but "platform" no longer has it, or not as it was brought there',
    );
  },
);

test("what was refused of a whole request is not told of each of its documents", async () => {
  const { sink, office, step } = site(
    { itemsMax: 2, writes: "upsert" },
    page(bill("INV-1", "1"), bill("INV-2", "2")),
  );
  const fault = { code: "bad-row" as const, message: "bill INV-2 is wrong", next: "Correct it." };
  const refused: Answer = { outcome: "refused", detail: fault.message, fault };
  sink.script.push(() => ({ answer: refused, execute: false }));
  await step();
  const { steps } = await office.trace("INV-1");
  expect(steps.find(({ event }) => event === "rejected")).toMatchObject({
    detail: fault.message,
    own: { detail: expect.not.stringContaining("INV-2") as string, others: 1 },
  });
});
