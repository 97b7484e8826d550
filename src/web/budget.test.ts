/** The page about the month's requests. */
import { expect, test } from "vitest";
import { testConsole } from "../../test/support/console.ts";
import { recordingOffice } from "../../test/support/console-offices.ts";
import { testClock } from "../../test/support/clock.ts";
import type { MonthStatus } from "../office/answers.ts";

const MONTH: MonthStatus = {
  month: "2026-11",
  used: 1_000,
  perMonth: 2_000,
  purposes: [
    { purpose: "poll", used: 700, reserve: 0, left: 400 },
    { purpose: "write", used: 300, reserve: 400, left: 1_000 },
    { purpose: "audit", used: 0, reserve: 0, left: 200 },
  ],
  forecast: { expected: 1_500, stretch: 1, runsOut: null },
  days: [
    { day: "2026-11-01", spent: { poll: 100 } },
    { day: "2026-11-03", spent: { poll: 500, write: 300 } },
  ],
  lists: [],
  polls: [],
  bought: [],
  slowed: null,
  minute: null,
};

test("looks that go slowly, and a flow that finds its own pace, are told on the page Budget", async () => {
  const { office } = recordingOffice();
  const by = { flow: "orders", purpose: "poll", requests: 2_450 } as const;
  const rates = { changes: [], hours: [] };
  const polls = [{ flow: "orders", perLook: 1, times: 1, perMonth: 744, rates }];
  const month: MonthStatus = { ...MONTH, polls, slowed: { requests: 2_460, most: 2_500, by } };
  const { as } = await testConsole({ ...office, budget: async () => month });
  const { body } = await (await as("viewer")).get("/budget");
  expect(body).toContain(
    "Looks are 2460 requests ahead of what the month allows; from 2500 on they go slowly, and writes as always; most of today&#39;s were for orders: poll 2450.",
  );
  expect(cellsOf(body, "orders")).toEqual(["1", "744", "every: auto, as the month allows"]);
});

/** The cells of each row that begins with such a heading, without their markup. */
function cellsOf(body: string, heading: string): string[] {
  const start = body.indexOf(`<th scope="row">${heading}</th>`);
  const row = body.slice(start, body.indexOf("</tr>", start));
  return [...row.matchAll(/<td[^>]*>([^<]*)<\/td>/g)].map(([, text = ""]) => text.trim());
}

test("the budget is shown by day and purpose, with what is left and the forecast; what has no day is told", async () => {
  const clock = testClock(Date.parse("2026-11-04T12:00:00Z"));
  const { office } = recordingOffice();
  const { as } = await testConsole({ ...office, budget: async () => MONTH }, clock);
  const { body } = await (await as("viewer")).get("/budget");
  // 100 polls have no day: of 3.5 days, 2/7 of them are taken to be used at the end of the first.
  expect(cellsOf(body, "2026-11-01")).toEqual(["100", "0", "100", "1,871"]);
  expect(cellsOf(body, "2026-11-02")).toEqual(["0", "0", "0", "1,843"]);
  expect(cellsOf(body, "2026-11-03")).toEqual(["500", "300", "800", "1,014"]);
  expect(cellsOf(body, "2026-11-04")).toEqual(["0", "0", "0", "1,000"]);
  expect(cellsOf(body, "No day known")).toEqual(["100", "0", "100", ""]);
  expect(cellsOf(body, "Expected at the end of the month")).toEqual(["", "", "", "500"]);
  expect(body).toContain("100 of the used requests have no day here");
  // The month is 616 wide and 2,000 requests are 144 high: 1,000 are left now, 500 at the end.
  expect(body).toContain('<polyline class="then" stroke-width="2" points="95.9,128 640,164"');
  expect(body).toMatch(/<polygon class="poll" points="24,56 [^"]* 95\.9,106\.4 /);
  expect(body).toMatch(/<polyline class="used" [^>]*points="24,56 [^"]* 95\.9,128"/);
  expect(body.match(/<polygon/g)).toHaveLength(2);
});
