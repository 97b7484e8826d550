/** What monitors read, and the dashboard and rules that are shipped for them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { expect, onTestFinished, test } from "vitest";
import { STATUS, STOP } from "../views/status.fixture.ts";
import { root } from "../demo/world.ts";
import { tempFolder } from "../../test/support/folder.ts";
import type { FlowStatus, MonthStatus, QuarantineGroup, Status } from "./answers.ts";
import type { Office } from "./questions.ts";
import { exposed } from "./metrics.ts";
import { serveMonitor } from "./server.ts";

const [FLOW] = STATUS.flows as [FlowStatus];
const [GROUP] = STATUS.quarantine as [QuarantineGroup];

/** Everything is wrong that can be. */
const ILL: Status = {
  ...STATUS,
  flows: [
    {
      ...FLOW,
      lastSuccessAt: "2026-11-21T06:00:00.000Z",
      failingSince: "2026-11-21T06:10:00.000Z",
    },
    { ...FLOW, name: "invoices", from: "erp.invoices", to: "platform.invoices", unread: [] },
  ],
  stops: [
    { ...STOP, breaker: "scope", scope: "order.create" },
    { ...STOP, breaker: "scope", scope: "invoice.create" },
  ],
  reconciliation: { ...STATUS.reconciliation, lastAt: "2026-11-21T02:20:00.000Z" },
  requests: {
    ...STATUS.requests,
    forecast: {
      ...STATUS.requests.forecast,
      runsOut: { at: "2026-11-29T00:00:00.000Z", stops: "polls" },
    },
  },
};
const MONTH = {
  purposes: [{ purpose: "poll", used: 12, reserve: 0, left: 34_988 }],
} as unknown as MonthStatus;

const officeOf = (status: Status): Office =>
  ({ status: async () => status, budget: async () => MONTH }) as unknown as Office;

test("metrics follow the conventions: prefix, base units, help, and labels from a closed list", async () => {
  const many = Array.from({ length: 60 }, (_, at) => ({ ...GROUP, code: `code-${at + 10}` }));
  const ill = { ...ILL, quarantine: [...ILL.quarantine, ...many] };
  const { text, type } = await exposed(officeOf(ill), tempFolder());
  expect(type).toBe("text/plain; version=0.0.4; charset=utf-8");
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of samples) {
    expect(line).toMatch(/^fuelbridge_[a-z_]+(\{[^}]*\})? [-+0-9.e]+$/);
    const labels = [...line.matchAll(/[{,](\w+)=/g)].map(([, name]) => name);
    for (const label of labels)
      expect(["flow", "direction", "state", "cause", "purpose", "version"]).toContain(label);
  }
  expect(samples.filter((line) => line.startsWith("fuelbridge_quarantined"))).toHaveLength(42);
  expect(samples).toContain('fuelbridge_stops{cause="scope"} 2');
  expect(samples).toContain(
    'fuelbridge_flow_last_success_timestamp_seconds{flow="orders",direction="to_erp"} 1795240800',
  );
  const names = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name as string);
  for (const name of names) expect(text).toContain(`# HELP ${name} `);
});

test("the shipped dashboard and alert rules name only metrics and labels that there are", async () => {
  const { text } = await exposed(officeOf(ILL), tempFolder());
  const labelsOf = new Map<string, Set<string>>();
  for (const [, name = "", , labels = ""] of text.matchAll(/^(fuelbridge\w+)(\{(.*)\})? /gm)) {
    const known = labelsOf.get(name) ?? new Set(["instance", "job"]);
    for (const [, label = ""] of labels.matchAll(/(\w+)="/g)) known.add(label);
    labelsOf.set(name, known);
  }
  const at = join(root, "packaging", "monitoring");
  const board = JSON.parse(readFileSync(join(at, "grafana-dashboard.json"), "utf8")) as {
    panels: { targets: { expr: string; legendFormat: string }[] }[];
  };
  const rules = parse(readFileSync(join(at, "alerts.yaml"), "utf8")) as {
    groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[];
  };
  const all = rules.groups.flatMap((group) => group.rules);
  const shown = board.panels.flatMap(({ targets }) =>
    targets.map(({ expr, legendFormat }) => ({ expr, text: legendFormat })),
  );
  const said = all.map(({ expr, annotations }) => ({
    expr,
    text: Object.values(annotations).join(" ").replaceAll("$labels.", ""),
  }));
  const used = new Set<string>();
  for (const { expr, text } of [...shown, ...said]) {
    const own: string[] = [];
    for (const [, name = "", , labels = ""] of expr.matchAll(/(fuelbridge_\w+)(\{([^}]*)\})?/g)) {
      expect([...labelsOf.keys()], expr).toContain(name);
      used.add(name);
      own.push(...(labelsOf.get(name) ?? []));
      for (const [, label = ""] of labels.matchAll(/(\w+)=/g))
        expect([...(labelsOf.get(name) ?? [])], expr).toContain(label);
    }
    for (const [, label = ""] of text.matchAll(/\{\{\s*(\w+)\s*\}\}/g))
      if (own.length > 0) expect(own, expr).toContain(label);
  }
  expect(all.length).toBeGreaterThan(8);
  expect(used.size).toBeGreaterThan(12);
});

test("ready means that the daemon works: what needs a person degrades it, a store that cannot be read ends it", async () => {
  let answer = async (): Promise<Status> => STATUS;
  const office = { ...officeOf(STATUS), status: () => answer() };
  const monitor = await serveMonitor({ office, state: tempFolder(), port: 0 });
  onTestFinished(() => monitor.close());
  const ask = async (path: string): Promise<{ status: number; body: unknown }> => {
    const got = await fetch(`http://127.0.0.1:${monitor.port}${path}`);
    return { status: got.status, body: path === "/metrics" ? await got.text() : await got.json() };
  };
  expect(await ask("/readyz")).toEqual({ status: 200, body: { ready: true, degraded: true } });
  expect(await ask("/healthz")).toEqual({ status: 503, body: { healthy: false } });
  expect((await ask("/metrics")).body).toContain("fuelbridge_healthy 0");
  expect((await ask("/office/status")).status).toBe(404);
  answer = async () => ({ ...STATUS, healthy: true });
  expect(await ask("/readyz")).toEqual({ status: 200, body: { ready: true, degraded: false } });
  answer = () => Promise.reject(new Error("the disk is gone"));
  expect(await ask("/readyz")).toEqual({ status: 503, body: { ready: false, degraded: true } });
  expect((await ask("/metrics")).status).toBe(503);
});
