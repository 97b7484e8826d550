/**
 * `fuelbridge demo --play`: both sides are told to do what their people do, one thing after the other, and each change
 * is followed to the other side. A script and no menu: it tells the same story on a terminal, in a log and in a test.
 */
import { counted } from "../core/text.ts";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Decimal } from "../core/decimal.ts";
import { EnvironmentError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { Office } from "../office/questions.ts";
import { documentsIn, parted } from "../views/documents.ts";
import { exportAgain, exported, type Row } from "./erp.ts";
import { repairEverything } from "./repairs.ts";
import type { World } from "./world.ts";

interface Playing {
  readonly world: World;
  readonly office: Office;
  /** Of the demo. */
  readonly folder: string;
  /** `2026-11-22`, where the company is. */
  readonly today: string;
  /** Both sides look, until nothing more can go. False when it was stopped before. */
  readonly settle: () => Promise<boolean>;
  readonly say: (text: string) => void;
}

interface Step {
  /** Who does what to which document. */
  readonly told: string;
  /** What `trace` knows it by. */
  readonly number: string;
  readonly act: () => void | Promise<void>;
  /** What the other side has now. */
  readonly seen: () => string | Promise<string>;
}

type Members = Readonly<Record<string, Json>>;

/** Each finds its document when its turn comes: what was paid before is not voided. */
const STORY: readonly ((playing: Playing) => Promise<Step>)[] = [
  erpIsPaid,
  erpChangesPrice,
  erpCancels,
  platformIsPaid,
  platformVoids,
  platformCorrectsOrder,
  erpCorrects,
  erpIsPaidTheRest,
  peopleSettle,
  accountantMatches,
];

/** False when it was stopped before its end. */
export async function play(playing: Playing): Promise<boolean> {
  const { say, settle } = playing;
  say("\nThe play: each side does something, and fuelbridge brings it to the other.");
  for (const [at, next] of STORY.entries()) {
    const { told, number, act, seen } = await next(playing);
    say(`\n${at + 1}. ${told}`);
    await act();
    if (!(await settle())) return false;
    say(`   ${await seen()}\n   Its way: node src/launch.mjs trace "${number}"`);
  }
  return true;
}

/** An invoice of the ERP that is on the platform and not paid on either side. */
async function openInvoice({ world, folder }: Playing): Promise<Row> {
  const open = new Set(
    (await world.records("invoices")).flatMap(({ companyId, status, invoiceNumber }) =>
      companyId === world.companyId && status === "OUTSTANDING" ? [invoiceNumber] : [],
    ),
  );
  return first(
    exported(folder, "customer-invoices"),
    (row) =>
      row["State"] === "posted" &&
      row["Amount to Pay"] === row["Total"] &&
      open.has(row["Number"] ?? ""),
    "open invoice of the ERP",
  );
}

async function erpIsPaid(playing: Playing): Promise<Step> {
  const { folder, world, today } = playing;
  const { Number: number = "", Total: total = "" } = await openInvoice(playing);
  const paid = paidOn(today);
  return {
    told: `The customer pays invoice ${number} over ${total} in the ERP, which exports paid-invoices.csv.`,
    number,
    act: () => changeHeads(folder, "customer-invoices", "paid-invoices", isNumber(number), paid),
    seen: async () => `On the platform invoice ${number} is ${await statusOf(world, number)} now.`,
  };
}

function paidOn(today: string): Row {
  const [year, month, day] = today.split("-");
  return { State: "paid", "Amount to Pay": "0", Reconciled: `${month}/${day}/${year}` };
}

async function erpChangesPrice({ folder, world }: Playing): Promise<Step> {
  const rows = exported(folder, "price-lists");
  const row = first(
    rows,
    (one) => one["Name"] !== "" && Decimal.is(one["Lines/Formula"] ?? "") && !one["Lines/Quantity"],
    "price of the ERP",
  );
  const { Name: list = "", "Lines/Product/Code": product = "", "Lines/Formula": was = "" } = row;
  const is = Decimal.of(was).plus(Decimal.of("0.01")).text;
  return {
    told: `The price of ${product} in ${list} goes from ${was} to ${is} in the ERP, which exports price-lists.csv.`,
    number: `${list}|${product}`,
    act: () => {
      row["Lines/Formula"] = is;
      exportAgain(folder, "price-lists", rows);
    },
    seen: async () => {
      const prices = await world.records("rack-prices");
      const has = prices.some(
        ({ companyId, price }) =>
          companyId === world.companyId && price instanceof Decimal && price.equals(Decimal.of(is)),
      );
      return has ? `The platform has the price ${is} now.` : `The platform has no price ${is} yet.`;
    },
  };
}

async function erpCancels(playing: Playing): Promise<Step> {
  const { folder, office } = playing;
  const { Number: number = "" } = await openInvoice(playing);
  return {
    told: `Invoice ${number} is cancelled in the ERP, which exports the invoices, their lines and taxes.`,
    number,
    act: () => {
      for (const list of ["customer-invoice-taxes", "customer-invoice-lines"])
        exportAgain(folder, list, exported(folder, list));
      const cancelled = { State: "cancelled" };
      changeHeads(folder, "paid-invoices", "customer-invoices", isNumber(number), cancelled);
    },
    seen: async () => {
      const groups = await office.quarantine();
      const group = groups.find(({ code }) => code === "cancelled-after-delivery");
      return `The platform cannot be told that, so a person has it: node src/launch.mjs quarantine show ${group?.id ?? "(none)"}`;
    },
  };
}

async function platformIsPaid(playing: Playing): Promise<Step> {
  const { world } = playing;
  const invoice = await ownInvoice(playing);
  const [id, number] = [textOf(invoice["id"]), textOf(invoice["invoiceNumber"])];
  const paidAt = new Date(`${playing.today}T12:00:00Z`).toISOString();
  return arriving(playing, "invoices", {
    told: `The customer pays invoice ${number} on the platform.`,
    number,
    act: async () => {
      const { total = null } = invoice;
      await world.add("payments", { invoiceId: id, amount: total, status: "SUCCEEDED", paidAt });
      await world.change("invoices", id, { status: "PAID", paidAt });
    },
  });
}

async function platformVoids(playing: Playing): Promise<Step> {
  const { id, invoiceNumber } = await ownInvoice(playing);
  const number = textOf(invoiceNumber);
  return arriving(playing, "invoices", {
    told: `Invoice ${number} is voided on the platform.`,
    number,
    act: () => playing.world.change("invoices", textOf(id), { status: "VOID" }),
  });
}

async function platformCorrectsOrder(playing: Playing): Promise<Step> {
  const { world } = playing;
  const order = first(
    await world.records("orders"),
    ({ status, lines }) => status === "CONFIRMED" && Array.isArray(lines) && lines.length > 0,
    "confirmed order on the platform",
  );
  const [line, ...others] = order["lines"] as readonly Members[];
  const was = (line?.["quantity"] ?? line?.["gallons"]) as Decimal;
  const quantity = was.plus(Decimal.of("100"));
  const number = textOf(order["loadingNumber"]) || textOf(order["id"]);
  const unit = textOf(line?.["unitCode"] ?? line?.["unit"]);
  const corrected = { ...line, quantity, gallons: quantity };
  return arriving(playing, "orders", {
    told: `Order ${number} is corrected on the platform: ${quantity.plain()} ${unit} instead of ${was.plain()}.`,
    number,
    act: () => world.change("orders", textOf(order["id"]), { lines: [corrected, ...others] }),
  });
}

/** What a person has to see to and the ERP's office can mend. */
async function erpCorrects({ folder, office }: Playing): Promise<Step> {
  const forPeople = async (): Promise<number> => documentsIn(parted(await office.quarantine())[0]);
  const before = await forPeople();
  return {
    told: `The office corrects in the ERP what it can of ${counted(before, "document")} for a person: an address, prices, a reference, lines. It exports these lists again.`,
    number: "000113",
    act: () => repairEverything(folder),
    seen: async () => `${counted(await forPeople(), "document")} for a person are left.`,
  };
}

const isPaidInPart = (row: Row): boolean =>
  row["State"] === "posted" && !["0", row["Total"]].includes(row["Amount to Pay"]);

async function erpIsPaidTheRest({ folder, world, today }: Playing): Promise<Step> {
  const parts = exported(folder, "customer-invoices").filter(isPaidInPart);
  const numbers = parts.map((row) => row["Number"] ?? "");
  return {
    told: `The customers pay the rest of ${counted(parts.length, "invoice")} paid in part in the ERP, which exports paid-invoices.csv.`,
    number: numbers[0] ?? "",
    act: () =>
      changeHeads(folder, "customer-invoices", "paid-invoices", isPaidInPart, paidOn(today)),
    seen: async () => {
      const states = await Promise.all(numbers.map((number) => statusOf(world, number)));
      return `On the platform ${states.filter((state) => state === "PAID").length} of them are PAID now.`;
    },
  };
}

/** Why each kind of case that no program can end is closed, as whoever did it by hand notes it. */
const SETTLED: Readonly<Record<string, string>> = {
  "cancelled-after-delivery": "voided on the platform by hand",
  "credit-note": "agreed with the customer, who takes it off the next payment",
};

/** What is left is done by hand on the side that cannot be told, and closed with a note. */
async function peopleSettle({ world, office }: Playing): Promise<Step> {
  const groups = await office.quarantine();
  const group = groups.find(({ code }) => code === "cancelled-after-delivery");
  const number = group?.first?.number ?? "";
  return {
    told: `The accountant voids invoice ${number} on the platform by hand, and closes ${counted(groups.length, "case")} that no program can settle, each with a note.`,
    number,
    act: async () => {
      const invoice = await invoiceOf(world, number);
      await world.change("invoices", textOf(invoice?.["id"]), { status: "VOID" });
      for (const { id, code } of groups)
        await office.resolve(id, { by: "demo", note: SETTLED[code] ?? "removed in the ERP" });
    },
    seen: async () =>
      `${counted(documentsIn(await office.quarantine()), "document")} in quarantine.`,
  };
}

/** What a supplier bills above its own price nobody sees by looking at one paper. */
async function accountantMatches({ office }: Playing): Promise<Step> {
  const everything = { from: null, to: null, party: null, direction: null, by: "demo" };
  const { parties, findings } = await office.match(everything);
  const most = parties.find(({ direction }) => direction === "purchase");
  const bill = findings.find(({ party }) => party === most?.party)?.papers[0]?.number;
  return {
    told: "The accountant has orders, tickets, invoices and prices compared with each other, and looks at what suppliers bill.",
    number: bill ?? "",
    act: () => undefined,
    seen: () =>
      `${most?.partyName ?? "Nobody"} has billed ${most?.forUs ?? "nothing"} too much. The claim: page Match, "Claim it".`,
  };
}

/** A step that puts a file into the ERP's import folder. */
function arriving({ folder }: Playing, sub: string, step: Omit<Step, "seen">): Step {
  const names = (): string[] => readdirSync(join(folder, "erp", "import", sub));
  const before = new Set(names());
  return {
    ...step,
    seen: () => {
      const files = names().filter((name) => !before.has(name));
      return files.length === 0
        ? "The ERP has no new file."
        : `The ERP has got erp/import/${sub}/${files.join(", ")}`;
    },
  };
}

/** An invoice that began on the platform, and is open there. */
async function ownInvoice({ world, folder }: Playing): Promise<Members> {
  const theirs = new Set(exported(folder, "customer-invoices").map((row) => row["Number"]));
  return first(
    await world.records("invoices"),
    ({ companyId, status, invoiceNumber }) =>
      companyId === world.companyId &&
      status === "OUTSTANDING" &&
      !theirs.has(textOf(invoiceNumber)),
    "open invoice on the platform",
  );
}

/** Both lists have the same heads: `from` has what was told in the other one before. */
function changeHeads(
  folder: string,
  from: string,
  to: string,
  isOne: (row: Row) => boolean,
  is: Row,
): void {
  const rows = exported(folder, from);
  exportAgain(
    folder,
    to,
    rows.map((row) => (isOne(row) ? { ...row, ...is } : row)),
  );
}

const isNumber =
  (number: string) =>
  (row: Row): boolean =>
    row["Number"] === number;

async function invoiceOf(world: World, number: string): Promise<Members | undefined> {
  const invoices = await world.records("invoices");
  return invoices.find(
    ({ companyId, invoiceNumber }) => companyId === world.companyId && invoiceNumber === number,
  );
}

const statusOf = async (world: World, number: string): Promise<string> =>
  textOf((await invoiceOf(world, number))?.["status"]);

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

function first<One>(all: readonly One[], is: (one: One) => boolean, what: string): One {
  const found = all.find(is);
  if (found !== undefined) return found;
  throw new EnvironmentError(
    `The demo has no ${what} left to play with.`,
    "Remove the folder var/demo: the next demo starts anew.",
  );
}
