/**
 * Lines of documents as QuickBooks tells them (Intuit's schema: `Line`, `LineDetailTypeEnum`). An amount counts once: a
 * subtotal repeats the lines above it, a text has none, a bundle is the lines inside it, a discount is taken off.
 */
import type { Fault } from "../../src/core/fault.ts";
import { Decimal } from "../../src/core/decimal.ts";
import type { FactLine } from "../../src/core/holdings.ts";
import { ACCOUNT, ITEM, type Names } from "./codes.ts";
import type { DocumentRow, Line } from "./rows.ts";

export type AmountLine = Omit<Line, "GroupLineDetail">;

const DISCOUNT = "DiscountLineDetail";
const NO_AMOUNT: readonly string[] = ["SubTotalLineDetail", "DescriptionOnly"];
const AMOUNT: readonly string[] = [
  "SalesItemLineDetail",
  "ReimburseLineDetail",
  "ItemBasedExpenseLineDetail",
  "AccountBasedExpenseLineDetail",
  DISCOUNT,
];

/** The schema lets a line leave out what it is: then its detail says it. */
const kindOf = (line: AmountLine): string =>
  line.DetailType ??
  AMOUNT.find((kind) => (line[kind as keyof AmountLine] ?? null) !== null) ??
  "(none)";

const isAmount = (line: AmountLine): boolean => AMOUNT.includes(kindOf(line));

const inside = (line: Line): AmountLine[] =>
  line.GroupLineDetail ? line.GroupLineDetail.Line : [line];

/** Those that count, with what no kind is known of: whoever compares sees it. */
export const amountLines = ({ Line: lines }: Pick<DocumentRow, "Line">): AmountLine[] =>
  lines
    .flatMap(inside)
    .filter(
      (line) => isAmount(line) || (!NO_AMOUNT.includes(kindOf(line)) && line.Amount.sign !== 0),
    );

/** Why lines cannot be told; null: they can. Whether they come to the total is for whoever takes them. */
export function unknownLine({ Line: lines }: Pick<DocumentRow, "Line">): Fault | null {
  for (const [at, line] of lines.entries()) {
    const odd = amountLines({ Line: [line] }).find((one) => !isAmount(one));
    if (odd === undefined) continue;
    return {
      code: "unknown-line",
      message: `line ${at + 1} (${kindOf(odd)}, ${odd.Amount.plain()}) is of a kind that fuelbridge does not know: it may be an amount or not`,
      next: "An accountant replaces it in QuickBooks by a line of an item; or enters the invoice on the platform by hand and resolves it here.",
      field: "Line",
    };
  }
  return null;
}

const detailOf = (line: AmountLine) =>
  line.SalesItemLineDetail ?? line.ReimburseLineDetail ?? line.ItemBasedExpenseLineDetail ?? null;

/** The item's name as people call it; null: the line has none. */
export function itemIn(names: Names, line: AmountLine): string | null {
  const ref = detailOf(line)?.ItemRef ?? null;
  return ref === null ? null : names.codeOf(ITEM, ref.value, ref.name);
}

export function lineIn(names: Names, line: AmountLine): FactLine {
  const detail = detailOf(line);
  const account = line.AccountBasedExpenseLineDetail?.AccountRef ?? null;
  const isDiscount = kindOf(line) === DISCOUNT;
  const amount = isDiscount ? line.Amount.negated() : line.Amount;
  return {
    product: itemIn(names, line),
    ...(account === null ? {} : { account: names.codeOf(ACCOUNT, account.value, account.name) }),
    ...counted(detail?.Qty ?? null, detail?.UnitPrice ?? null, amount),
    unit: null,
    amount,
    text: line.Description ?? (isDiscount ? "Discount" : null),
  };
}

const ONE = Decimal.of("1");

/** One of an amount is the amount alone: QuickBooks may tell it either way. */
export const counted = (
  quantity: Decimal | null,
  rate: Decimal | null,
  amount: Decimal,
): { readonly quantity: Decimal | null; readonly unitPrice: Decimal | null } =>
  quantity === null || rate === null || (quantity.equals(ONE) && rate.equals(amount))
    ? { quantity: null, unitPrice: null }
    : { quantity, unitPrice: rate };
