import { expect, test } from "vitest";
import { Decimal } from "../core/decimal.ts";
import type { Desired } from "./port.ts";
import type { ShipmentDocument } from "./documents.ts";
import { desired as document } from "./plan.fixture.ts";
import { type BookedTicket, ticketAdapter, ticketIn } from "./orders.ts";

const { signal } = new AbortController();
const call = { key: "k", signal, purpose: "delivery", made: new Set<string>() } as const;

const ticket = (more: Partial<BookedTicket<null>> = {}): BookedTicket<null> => ({
  type: "out",
  id: "5",
  number: "DT-1",
  called: "shipment DT-1",
  state: "waiting",
  stage: "waiting",
  fixed: false,
  party: "C-1",
  reference: "BOL 7",
  date: "2026-11-20",
  lines: [],
  notes: ["gross 8010\nplatform:id-1"],
  native: null,
  ...more,
});

/** What is done to the ticket is told in `steps`. */
function adapterOf(one: BookedTicket<null>) {
  const steps: string[] = [];
  const adapter = ticketAdapter<null>({
    search: async ({ numbers, ids }) =>
      numbers.includes(one.number) || ids.includes(one.id) ? [one] : [],
    async *list() {
      yield { rows: [one], position: "" };
    },
    create: async () => void steps.push("create"),
    note: async (_, text) => void steps.push(`note ${text}`),
    amend: async () => void steps.push("amend"),
    cancel: async () => void steps.push("cancel"),
    bring: async (_, to) => void steps.push(`bring ${to}`),
  });
  return { adapter, steps };
}

const line = { product: "ULSD", quantity: Decimal.of("0"), unit: "gal" };
const desired = (status: ShipmentDocument["status"]): Desired<"shipment"> => ({
  ...document({ number: "DT-1" }),
  document: {
    id: "id-1",
    number: "DT-1",
    type: "out",
    status,
    note: "gross 8010",
    lines: [line],
  } as unknown as ShipmentDocument,
});

test.each([
  [
    "DT-1 done platform:id-1",
    { number: "DT-1", status: "done", brought: "DT-1 done", platformId: "id-1" },
  ],
  [
    "DT 1 waiting platform:id-1",
    { number: "DT 1", status: "waiting", brought: "DT 1 waiting", platformId: "id-1" },
  ],
  ["DT-1", null],
])("an id of any age is read: %s", (id, name) => {
  expect(ticketIn(id)).toEqual(name);
});

test.each<[says: string, unfinished: boolean, more: Partial<BookedTicket<null>>]>([
  ["that has its note and waits is complete", false, {}],
  ["without its note is not", true, { notes: ["platform:id-1"] }],
  ["that was only entered is not", true, { stage: "entered" }],
])("a ticket %s", async (_, unfinished, more) => {
  const [entry] = await adapterOf(ticket(more)).adapter.locate([desired("waiting")], call);
  expect(entry).toMatchObject({ mark: "id-1", unfinished, id: "DT-1 waiting platform:id-1" });
});

test("it is called by all that it may have been brought to, and by nothing that a person did", async () => {
  const called = async (stage: BookedTicket<null>["stage"]) => {
    const [entry] = await adapterOf(ticket({ stage })).adapter.get(["DT-1"], call);
    // By its number alone: as a person has linked it.
    const [number, ...others] = entry?.aliases ?? [];
    expect(number).toBe("DT-1");
    return others.map((name) => name.split(" ")[1]);
  };
  expect(await called("entered")).toEqual([]);
  expect(await called("waiting")).toEqual(["waiting"]);
  expect(await called("done")).toEqual(["waiting", "done"]);
  expect(await called("cancelled")).toEqual(["waiting", "done", "cancelled"]);
});

test("a step notes first whose it is, goes as far as the ticket says, and cancels once", async () => {
  const stepsOf = async (
    to: "posted" | "cancelled",
    status: ShipmentDocument["status"],
    more: Partial<BookedTicket<null>> = {},
  ) => {
    const { adapter, steps } = adapterOf(ticket(more));
    const [entry] = await adapter.get(["DT-1"], call);
    if (entry === undefined) throw new Error("no ticket");
    await adapter.apply(to, [{ desired: desired(status), entry, differences: [] }], call);
    return steps;
  };
  const note = "note gross 8010\nplatform:id-1";
  expect(await stepsOf("posted", "done", { notes: [] })).toEqual([note, "bring done"]);
  expect(await stepsOf("posted", "waiting")).toEqual(["bring waiting"]);
  expect(await stepsOf("cancelled", "cancelled")).toEqual(["cancel"]);
  expect(await stepsOf("cancelled", "cancelled", { stage: "cancelled" })).toEqual([]);
});

test("a line that moves nothing is refused before a request is made of it", () => {
  const { adapter } = adapterOf(ticket());
  expect(() => adapter.accept?.(desired("done").document)).toThrow("the line of ULSD moves 0 gal");
});
