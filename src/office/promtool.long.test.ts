/**
 * Prometheus' own tool reads what is shipped for it: the metrics as they are exposed, and the rules with what they fire on.
 *
 * @module-tag numbers
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { isThere } from "../../test/support/machine.ts";
import { root } from "../demo/world.ts";
import { STATUS } from "../views/status.fixture.ts";
import type { MonthStatus } from "./answers.ts";
import type { Office } from "./questions.ts";
import { exposed } from "./metrics.ts";

const promtool = (args: readonly string[], input = ""): string =>
  execFileSync("promtool", args, { input, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"] });

const RULES = join(root, "packaging", "monitoring", "alerts.yaml");

test.runIf(isThere("promtool"))("promtool finds nothing to say about /metrics", async () => {
  const purposes = [{ purpose: "poll", used: 12, reserve: 0, left: 34_988 }];
  const month = { purposes } as unknown as MonthStatus;
  const office = { status: async () => STATUS, budget: async () => month } as unknown as Office;
  const { text } = await exposed(office, tempFolder());
  expect(promtool(["check", "metrics"], text)).toBe("");
});

/** Series over an hour, and which alerts stand at its end. */
const FIRES: readonly (readonly [series: Record<string, string>, alerts: readonly string[]])[] = [
  [{ 'up{job="fuelbridge"}': "0x60" }, ["FuelbridgeDown"]],
  [{ 'fuelbridge_stops{cause="scope"}': "2x60" }, ["FuelbridgeStopped"]],
  [
    { 'fuelbridge_quarantined{flow="orders",cause="not-mapped"}': "3x60" },
    ["FuelbridgeNeedsPerson"],
  ],
  [
    { 'fuelbridge_late_documents{flow="prices",cause="unknown"}': "3x60" },
    ["FuelbridgeStandsStill"],
  ],
  [{ 'fuelbridge_unread_files{flow="prices"}': "1x60" }, ["FuelbridgeFilesNotRead"]],
  [{ 'fuelbridge_differences{state="confirmed"}': "1x60" }, ["FuelbridgeSidesDiffer"]],
  [
    {
      'fuelbridge_platform_requests_month{purpose="poll"}': "30000x60",
      'fuelbridge_platform_requests_month{purpose="write"}': "20000x60",
      fuelbridge_platform_requests_month_limit: "50000x60",
    },
    ["FuelbridgeBudgetSpent"],
  ],
  [{ fuelbridge_store_free_bytes: "900000000x60" }, ["FuelbridgeDiskFull"]],
  [
    {
      'fuelbridge_flow_failing_since_timestamp_seconds{flow="orders"}': "-60x60",
      'fuelbridge_flow_state{flow="orders",state="paused_budget"}': "0x60",
      'fuelbridge_flow_state{flow="orders",state="stopped"}': "1x60",
    },
    ["FuelbridgeFlowNotRead"],
  ],
  [
    { fuelbridge_reconciliation_last_timestamp_seconds: `-${8 * 86_400}x60` },
    ["FuelbridgeNotReconciled"],
  ],
  [
    {
      fuelbridge_platform_requests_month_forecast: "50001x60",
      fuelbridge_platform_requests_month_limit: "50000x60",
    },
    ["FuelbridgeBudgetForecast"],
  ],
  [
    {
      'up{job="fuelbridge"}': "1x60",
      'fuelbridge_stops{cause="scope"}': "0x60",
      'fuelbridge_quarantined{flow="orders",cause="not-mapped"}': "0x60",
      'fuelbridge_platform_requests_month{purpose="poll"}': "49999x60",
      fuelbridge_platform_requests_month_limit: "50000x60",
      fuelbridge_platform_requests_month_forecast: "50000x60",
      fuelbridge_store_free_bytes: "2000000000x60",
      'fuelbridge_flow_failing_since_timestamp_seconds{flow="orders"}': "60x60",
      'fuelbridge_flow_failing_since_timestamp_seconds{flow="bills"}': "-60x60",
      'fuelbridge_flow_state{flow="bills",state="paused_budget"}': "1x60",
      fuelbridge_reconciliation_last_timestamp_seconds: `-${8 * 86_400 - 3_600}x60`,
    },
    [],
  ],
];

test.runIf(isThere("promtool"))(
  "promtool accepts the alert rules, and each fires on what it is for and on nothing else",
  () => {
    expect(promtool(["check", "rules", RULES])).toContain("SUCCESS");
    const folder = tempFolder();
    copyFileSync(RULES, join(folder, "alerts.yaml"));
    const tests = FIRES.map(([series, alerts]) => ({
      interval: "1m",
      input_series: Object.entries(series).map(([name, values]) => ({
        series: name,
        values: values.replace("x", "+0x"),
      })),
      promql_expr_test: [
        {
          expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
          eval_time: "1h",
          exp_samples: alerts.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
        },
      ],
    }));
    const file = join(folder, "tests.yaml");
    writeFileSync(file, JSON.stringify({ rule_files: ["alerts.yaml"], tests }));
    expect(promtool(["test", "rules", file])).toContain("SUCCESS");
  },
);
