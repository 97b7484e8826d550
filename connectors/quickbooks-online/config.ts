/** The `quickbooks-online` section of a configuration. Everything in QuickBooks is named as people see it there. */
import { z } from "zod";
import { address, deadlineMs, secret, settleAfter, settleMs } from "../../src/ledger/settings.ts";

const name = (what: string) => z.string().min(1).max(100).describe(what);

/** Addresses of Intuit; only a test names others. */
const INTUIT = {
  production: "https://quickbooks.api.intuit.com",
  sandbox: "https://sandbox-quickbooks.api.intuit.com",
} as const;

const Settings = z.strictObject({
  company: z
    .string()
    .regex(/^\d{1,20}$/, "is not a company id: the digits that QuickBooks shows under Settings")
    .describe("The company id (realm id): the digits that QuickBooks shows under Settings."),
  environment: z
    .enum(["production", "sandbox"])
    .default("production")
    .describe("production: a real company; sandbox: one of Intuit's for developers."),
  clientId: z.string().min(8).describe("Client ID of the app at developer.intuit.com."),
  clientSecret: secret("Its client secret"),
  redirectUri: z
    .string()
    .refine((text) => URL.canParse(text), "is not an address")
    .default("http://localhost:8449/callback")
    .describe(
      "A redirect address of the app. With production keys https and a name, of any page of yours: the command authorise " +
        "asks for the address that the browser shows at the end, whether or not a page is there.",
    ),
  tokens: z
    .string()
    .min(1)
    .default("state/quickbooks-online.json")
    .describe("Where the tokens are kept: a file of mode 0600, from the configuration's folder."),
  items: z
    .strictObject({
      charge: name("Invoice lines that name no product and no other item: freight, fees."),
    })
    .describe("Items by their names."),
  accounts: z
    .strictObject({
      expense: name("Bill lines that name no product and no other account: number or name."),
      paymentsMade: name("The bank or credit card account that bills are paid from."),
      receivable: name("The A/R account of invoices; left out: QuickBooks' own.").optional(),
      payable: name(
        "The A/P account of bills and purchase orders; left out: QuickBooks' own, which it implies where it has one.",
      ).optional(),
      paymentsReceived: name(
        "Where customers' payments are deposited; left out: Undeposited Funds.",
      ).optional(),
    })
    .describe("Accounts by their numbers or names."),
  billPayments: z
    .enum(["check", "credit-card"])
    .default("check")
    .describe("How payments of bills are entered."),
  salesTax: z
    .enum(["off", "not-taxable"])
    .default("not-taxable")
    .describe(
      "Taxes of documents are lines of items. not-taxable: every line is marked NON, so that QuickBooks (automated " +
        "sales tax too) adds none; off: the company does not use sales tax, and lines carry no mark.",
    ),
  class: name(
    "The class of every line of invoices and bills, where class tracking is on; left out: none.",
  ).optional(),
  location: name(
    "The location (department) of invoices and bills, where location tracking is on; left out: none.",
  ).optional(),
  taxItems: z
    .array(z.string().min(1))
    .default([])
    .describe("Items that stand for taxes: lines of these are taxes of what the platform is told."),
  multicurrency: z
    .enum(["refuse", "home"])
    .default("refuse")
    .describe(
      "refuse: a company with multicurrency is not written to; home: documents of parties in its own currency only.",
    ),
  duplicateNumbers: z
    .enum(["refuse", "allow"])
    .default("refuse")
    .describe(
      "When a document of another kind has the number: refuse it, or have QuickBooks take it twice.",
    ),
  sameName: z
    .enum(["refuse", "suffix"])
    .default("refuse")
    .describe(
      "A customer or vendor whose name another list has. refuse: a person decides; suffix: it is created with (C) or (V) after its name.",
    ),
  prices: z
    .strictObject({
      list: name("The terminal that the prices are of, as crossref/terminals.csv has it."),
      of: z.enum(["sales", "purchase"]).default("sales").describe("Sales price, or cost."),
      unit: name("The unit that prices are for.").default("gal"),
    })
    .optional()
    .describe("Item prices as rack prices; left out: none are read."),
  settleAfter,
  deadlineMs: deadlineMs(60_000, "", 100),
  settleMs: settleMs(90_000, "How long a call may still be running at Intuit after its deadline."),
  url: address("Another address of the API: for tests.").optional(),
  tokenUrl: address("Another address that gives tokens: for tests.").optional(),
});

/**
 * What Intuit takes as a redirect address (developer.intuit.com, "Set app redirect URIs"): with production keys https and a
 * name, no IP address; this machine's own with sandbox keys only.
 */
export const QuickbooksOnlineConfig = Settings.superRefine(
  ({ environment, redirectUri, tokenUrl }, context) => {
    const message = faultOfRedirect(redirectUri);
    if (environment === "sandbox" || tokenUrl !== undefined || message === null) return;
    context.addIssue({ code: "custom", path: ["redirectUri"], message });
  },
);

/** What is wrong with a redirect address for production keys; null: nothing. */
export function faultOfRedirect(redirectUri: string): string | null {
  const { protocol, hostname = "" } = URL.parse(redirectUri) ?? {};
  const isHere = /(?:^|\.)localhost$/.test(hostname);
  const isAddress = /^[\d.]+$|^\[/.test(hostname);
  return protocol === "https:" && !isHere && !isAddress
    ? null
    : "is an address that Intuit does not take with production keys: those want https and a name that is not " +
        "localhost. Name a page of yours there; the command authorise asks for the address that the browser shows at the end";
}

export type QuickbooksOnlineConfig = z.infer<typeof QuickbooksOnlineConfig>;

/** Where the API is, and where tokens are given. */
export const addressesOf = ({
  url,
  tokenUrl,
  environment,
}: QuickbooksOnlineConfig): { readonly url: string; readonly tokenUrl: string } => ({
  url: url ?? INTUIT[environment],
  tokenUrl: tokenUrl ?? "https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer",
});
