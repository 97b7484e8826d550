/** The `quickbooks-desktop` section of a configuration. What QuickBooks names, it names by full names (`Fuel:ULSD2`). */
import { z } from "zod";
import { expectEvery, secret, settleAfter, settleMs } from "../../src/ledger/settings.ts";

const full = (most: number, what: string) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[\x20-\x7e]+$/, "has characters that QuickBooks Desktop does not hold")
    .describe(what);

const word = (what: string) => z.string().min(1).describe(what);

const fullOrNone = (most: number, what: string) => full(most, what).optional();

const ms = (most: number, usual: number, what: string) =>
  z.int().min(0).max(most).default(usual).describe(what);

const guid = z
  .string()
  .regex(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "is not a UUID in small letters");

const LOCAL = new Set(["localhost", "127.0.0.1"]);

const Settings = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: "is not an http or https address" })
    .refine((url) => {
      const { protocol, hostname } = new URL(url);
      return protocol === "https:" || LOCAL.has(hostname);
    }, "is http, which the Web Connector takes for localhost only: use https, or run on the machine with QuickBooks")
    .refine((url) => new URL(url).port !== "", "has no port")
    .describe(
      "Where the Web Connector calls: http://localhost:8447/qbwc on the machine with QuickBooks, else https with a port.",
    ),
  listen: word("The address of this machine that it listens on; 0.0.0.0: every one.").default(
    "127.0.0.1",
  ),
  certificate: word("https: a PEM file with the certificate chain.").optional(),
  key: word("https: a PEM file with the private key, of mode 0600.").optional(),
  user: z.string().min(1).max(60).describe("The user name in the .qwc file."),
  password: secret("What the administrator types into the Web Connector"),
  fileId: guid.describe(
    "A UUID of your own for this company file. It never changes: QuickBooks keeps it in the company file.",
  ),
  company: full(59, "The company's name as QuickBooks has it: another company file is refused."),
  companyFile: z
    .string()
    .min(1)
    .max(255)
    .default("")
    .describe("The full path of the .qbw file on that machine; left out: the one that is open."),
  chargeItem: full(159, "The item of lines without a product: freight, a fee."),
  taxCode: fullOrNone(
    3,
    "The sales tax code of every invoice line, which is not taxed: Non. Left out: sales tax is switched off.",
  ),
  bankAccount: full(159, "The account that bill payments are drawn on."),
  depositAccount: fullOrNone(
    159,
    "The account that customers' payments go to; left out: Undeposited Funds, or as QuickBooks is set.",
  ),
  receivableAccount: fullOrNone(159, "The A/R account of invoices; left out: QuickBooks' own."),
  payableAccount: fullOrNone(159, "The A/P account of bills; left out: QuickBooks' own."),
  class: fullOrNone(
    159,
    "The class of invoices and of lines of bills, where class tracking is on; left out: none.",
  ),
  paymentMethod: fullOrNone(31, "The payment method of customers' payments; left out: none."),
  terms: z
    .strictObject({
      customer: fullOrNone(31, "Of customers."),
      vendor: fullOrNone(31, "Of vendors."),
    })
    .default({})
    .describe("The payment terms of customers and vendors that are created; left out: none."),
  sameName: z
    .enum(["refuse", "suffix"])
    .default("refuse")
    .describe(
      "A customer or vendor whose name another list has. refuse: a person decides; suffix: it is created with (C) or (V) after its name.",
    ),
  taxItems: z
    .array(full(159, "An item."))
    .default([])
    .describe("Items that stand for taxes: lines of these are taxes of what the platform is told."),
  prices: z
    .strictObject({
      list: fullOrNone(
        31,
        "The terminal that the prices of items are of, as crossref/terminals.csv has it; left out: they are not read.",
      ),
      of: z.enum(["sales", "purchase"]).default("sales").describe("Sales price, or cost."),
      levels: z
        .boolean()
        .default(false)
        .describe("Each price level with prices per item is a terminal, by its name."),
    })
    .refine(({ list, levels }) => list !== undefined || levels, "needs list, or levels: true")
    .optional()
    .describe("Prices as rack prices; left out: none are read."),
  unit: word(
    "What items are counted in, and what their prices are for: orders and tickets in another unit are for a person.",
  ).default("gal"),
  receipts: z
    .enum(["unpriced", "linked"])
    .default("unpriced")
    .describe(
      "Item receipts of delivery tickets. unpriced: they come to 0.00, and the bills of this endpoint carry the amounts; linked: they receive their purchase order's lines at its prices, bills are entered in QuickBooks from them, and this endpoint offers no bills.",
    ),
  settleAfter,
  expectEvery,
  patienceMs: ms(60_000, 1_000, "How long something waits for a session before it is put off, ms."),
  holdMs: ms(
    20_000,
    3_000,
    "How long a call of the Web Connector is held while nothing is ready for it, ms.",
  ),
  lingerMs: ms(600_000, 20_000, "How long a session is kept open after the last request, ms."),
  deadlineMs: z
    .int()
    .min(100)
    .max(3_600_000)
    .default(600_000)
    .describe("How long QuickBooks may take for one request, ms; a dialog there can hold it."),
  settleMs: settleMs(
    60_000,
    "How long a request whose answer was lost may still be running in QuickBooks, ms.",
  ),
});

export const DesktopConfig = Settings.refine(
  ({ url, certificate, key }) =>
    new URL(url).protocol === "http:" || (certificate !== undefined && key !== undefined),
  { path: ["certificate"], error: "is missing, or key is: https needs both" },
);

export type DesktopConfig = z.infer<typeof DesktopConfig>;
