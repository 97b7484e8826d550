import { expect, test } from "vitest";
import { ago, untilDue, valueIn } from "./blocks.ts";
import { inPage } from "./html.ts";
import { age, inLine } from "./text.ts";

test("amounts that differ have their currency and two digits, prices their own digits, and all else stays", () => {
  const shown = [
    ["money.total", "20712.4"],
    ["money.untaxed", "-5"],
    ["lines.2.amount", "1000.125"],
    ["taxes.STATE", "7.1"],
    ["taxes.STATE.base", "100"],
    ["money.price", "2.84"],
    ["lines.1.unitPrice", "2.13456"],
    ["lines.1.quantity", "7500.5"],
    ["number", "1000"],
    ["money.open", "none"],
  ].map(([field = "", value = ""]) => {
    const shown = valueIn(field, value, "USD");
    expect(inLine(shown).startsWith(value)).toBe(true);
    return String(inPage(shown, { site: { timeZone: "UTC" }, nowMs: 0 })).replaceAll(
      /<[^>]*>/g,
      "",
    );
  });
  expect(shown).toEqual([
    "$20,712.40",
    "-$5.00",
    "$1,000.125",
    "$7.10",
    "$100.00",
    "$2.84",
    "$2.13456",
    "7500.5",
    "1000",
    "none",
  ]);
});

test.each([
  [ago("2026-11-21T09:00:00.000Z"), "3 hours ago"],
  [ago("2026-11-21T12:00:00.400Z"), "just now"],
  // Written down by a clock that was ahead.
  [ago("2026-11-21T15:00:00.000Z"), "at an unknown time"],
  [untilDue("2026-11-21T15:00:00.000Z"), "in 3 hours"],
])("%j is said on a page as: %s", (word, said) => {
  const reading = { site: { timeZone: "UTC" }, nowMs: Date.parse("2026-11-21T12:00:00Z") };
  expect(String(inPage(word, reading))).toContain(`>${said}</span`);
});

test("an age that nobody knows is a dash on a terminal, and no 0 seconds", () => {
  expect([age(0), age(null)]).toEqual(["0 seconds", "-"]);
});
