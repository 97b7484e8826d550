import { expect, test } from "vitest";
import { WAITS_FOR_BUDGET, WAITS_FOR_TURN } from "../core/budget.ts";
import { STATUS } from "../views/status.fixture.ts";
import { concernsOf } from "./concerns.ts";

/** What is told while flows wait with these codes. */
function told(...codes: string[]): string[] {
  const [flow] = STATUS.flows;
  const flows = codes.map((code) => ({
    ...(flow as (typeof STATUS.flows)[number]),
    lastError: { code, message: "the platform allows nothing before December", next: "" },
  }));
  return concernsOf({ ...STATUS, flows }).map(({ key }) => key);
}

test("a month without requests is told, whatever else flows wait for, and whoever says so", () => {
  const spent = `budget spent ${STATUS.requests.month}`;
  expect(told(WAITS_FOR_TURN, WAITS_FOR_BUDGET)).toContain(spent);
  expect(told(WAITS_FOR_BUDGET, WAITS_FOR_TURN)).toContain(spent);
  expect(told(WAITS_FOR_TURN)).not.toContain(spent);
});

test("a flow that waits for requests is no failure", () => {
  for (const code of [WAITS_FOR_BUDGET, WAITS_FOR_TURN])
    expect(told(code)).not.toContain(`flow orders ${code}`);
  expect(told("unavailable")).toContain("flow orders unavailable");
});
