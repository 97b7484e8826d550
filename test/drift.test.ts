/** What the platform tells beyond its contract is counted and told once, and stops nothing. */
import { expect, test } from "vitest";
import { conditionsOf } from "../src/alerts/alerts.ts";
import { STEADY } from "../src/core/shape.ts";
import { sources } from "../src/platform/parts.ts";
import { asText } from "../src/views/text.ts";
import { driftView, statusText } from "../src/views/status.ts";
import { Daemon } from "../src/engine/daemon.ts";
import { monthReport } from "../src/office/month.ts";
import { storeOffice } from "./support/office.ts";
import { usualBudget } from "../src/core/budget.ts";
import { pageIn } from "../src/platform/reading.ts";
import { lookoutOf } from "../src/platform/contract/operations.ts";
import { driftOf } from "../src/core/shape.ts";
import { times } from "./conformance/support.ts";
import { never, usePlatform } from "./platform/support.ts";
import { engineOn, receiver } from "./support/engine.ts";
import { tempFolder } from "./support/folder.ts";

const platform = usePlatform("demo");
const { control } = platform;

/** Every list of the platform as a flow. */
async function site() {
  await platform.unlimited();
  const clock = await platform.clock();
  const bench = engineOn(tempFolder(), clock);
  const endpoint = platform.endpoint({ clock });
  const flows = Object.entries(endpoint.sources).map(([name, source]) =>
    bench.flow({
      name,
      side: "platform",
      from: `platform.${name}`,
      to: "erp.anything",
      source,
      sink: receiver({ operation: `file.${name}` }),
    }),
  );
  const month = monthReport({
    spent: () => ({}),
    store: bench.store,
    clock,
    flows,
    budget: usualBudget,
    minute: () => null,
  });
  const started = { version: "", startedAt: new Date(0), daemon: null, month };
  const office = storeOffice({ engine: bench.engine, flows, ...started });
  const once = () => new Daemon(bench.engine, flows).once(never);
  return { ...bench, clock, office, once };
}

const invoiceId = async (): Promise<string> =>
  (await control.stored("invoices"))[0]?.["id"] as string;

test("what the contract knows is no drift, in any list of the platform", async () => {
  const { once, office, store } = await site();
  await once();
  expect(store.deliveries.counts(1).size).toBeGreaterThan(0);
  expect(Object.keys(sources).length).toBeGreaterThan(10);
  expect(await office.drift()).toEqual([]);
  expect(statusText(await office.status())).not.toContain("fuelbridge drift");
});

test("a new field and a new value are counted with their first record, told at first sight, and stop nothing", async () => {
  const { once, office, clock } = await site();
  await once();
  const id = await invoiceId();
  const before = (await control.stored("invoices")).find((one) => one["id"] === id);
  const [line = {}] = (before?.["lineItems"] ?? []) as object[];
  await clock.pause(600_000);
  await control.patch("invoices", id, {
    carbonTax: 1.5,
    status: "FACTORED",
    lineItems: [
      { ...line, blend: "B20" },
      { ...line, blend: "B5" },
    ],
  });
  await once();
  const drift = await office.drift();
  const told = drift.filter(({ flow }) => flow === "invoicesIssued");
  expect(
    told.map(({ what, field, value, count, record }) => [what, field, value, count, record]),
  ).toEqual(
    expect.arrayContaining([
      ["new", "carbonTax", "", 1, id],
      ["value", "status", "FACTORED", 1, id],
      ["new", "lineItems.blend", "", 1, id],
    ]),
  );
  expect(told).toHaveLength(3);
  expect(told.every(({ mappings }) => mappings.length > 0)).toBe(true);
  expect(asText(driftView(drift))).toContain('the field status has the new value "FACTORED"');

  const status = await office.status();
  expect(statusText(status)).toContain(": fuelbridge drift.");
  const limits = { unreachableMs: 0 };
  const alerts = () => conditionsOf(status, limits, clock.now().wallMs);
  expect(alerts().map(({ title }) => title)).toContain(
    "platform.invoicesIssued: the new field carbonTax",
  );
  expect(status.stops).toEqual([]);
  expect(status.flows.every(({ lastError }) => lastError === null)).toBe(true);

  // The overlap of a list tells the same records again, and nobody is told of the same thing for ever.
  await once();
  expect(await office.drift()).toEqual(drift);
  // Beside a record that is new they are not counted again.
  await control.records("invoices", [{ invoiceNumber: "NEW", payerCompanyId: null }]);
  await once();
  expect(await office.drift()).toEqual(drift);
  await clock.pause(4 * 86_400_000);
  const later = await office.status();
  expect(conditionsOf(later, limits, 0).filter(({ key }) => key.startsWith("drift"))).toEqual([]);
  expect(later.drift).toHaveLength(drift.length);
});

/** What a page of invoices is found to have, as it came. */
function found(lookout: ReturnType<typeof lookoutOf>, records: readonly object[], space?: number) {
  const meta = { hasMore: false, nextCursor: null, total: records.length };
  const text = JSON.stringify({ success: true, data: records, meta }, null, space);
  const exchange = { kind: "answer", status: 200, text, headers: {} } as const;
  const clock = { now: () => ({ wallMs: 0, monoMs: 0 }) } as never;
  const page = pageIn(exchange, "listPayments", { clock, purpose: "poll" }, ["id"], lookout);
  return driftOf(page.found.map((found, at) => ({ id: `R-${at}`, found })));
}

test.each([undefined, 2])(
  "a field that no longer comes is missed: at once where the contract requires it, else where it has always come (indent %s)",
  async (space) => {
    const { rows } = await platform.get("/payments?role=issuer");
    const [payment = {}] = rows as Record<string, unknown>[];
    const { status: _, ...unstated } = payment;
    const lookout = lookoutOf("listPayments");
    expect(found(lookout, [payment, unstated, unstated], space)).toEqual([
      { what: "missing", field: "status", value: "", records: ["R-1", "R-2"] },
    ]);
    const optional = Object.keys(payment).find((name) => payment[name] === null) ?? "";
    const without = Object.fromEntries(
      Object.entries(payment).filter(([name]) => name !== optional),
    );
    expect(optional).not.toBe("");
    expect(found(lookout, [without], space)).toEqual([]);
    expect(
      found(
        lookout,
        times(STEADY, () => payment),
        space,
      ),
    ).toEqual([]);
    expect(found(lookout, [without, without], space)).toEqual([
      { what: "missing", field: optional, value: "", records: ["R-0", "R-1"] },
    ]);
  },
);
