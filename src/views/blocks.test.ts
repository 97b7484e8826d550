import { expect, test } from "vitest";
import { valueIn } from "./blocks.ts";
import { inPage } from "./html.ts";
import { inLine } from "./text.ts";

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
