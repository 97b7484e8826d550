/** The `business-central` section of a configuration. Everything in Business Central is named by its code there. */
import { z } from "zod";
import {
  address,
  code,
  lineAccounts,
  posting,
  secret,
  waiting,
} from "../../src/ledger/settings.ts";

const word = (what: string) => z.string().min(1).max(250).describe(what);
/** As it is kept: in capitals. */
const capitals = (what: string) => z.string().trim().min(1).max(80).toUpperCase().describe(what);
const journal = (what: string) => z.string().min(1).max(10).describe(what);

const Settings = z.strictObject({
  tenant: word(
    "Online: the Microsoft Entra tenant, its id or its domain (contoso.com).",
  ).optional(),
  environment: word("Online: the environment.").default("Production"),
  url: address(
    "On premises: the address of the API, https://HOST:7048/INSTANCE/api/v2.0. Left out: Business Central online.",
  ).optional(),
  login: address("The address that gives tokens. Left out: that of the tenant.").optional(),
  company: word("The company: its name on the page Companies, or its id, which no rename changes."),
  clientId: word("The id of the application in Microsoft Entra.").optional(),
  clientSecret: secret("Its secret").optional(),
  user: word("On premises: a user with a web service access key.").optional(),
  accessKey: secret("On premises: that key").optional(),
  accounts: lineAccounts.describe("G/L accounts by their numbers."),
  taxCode: code(
    "The tax code of every line, with which Business Central adds no tax by itself (a tax group that is not taxable). Left out: the item's or account's own.",
  ).optional(),
  dimensions: z
    .strictObject({
      first: code("Value of the first global dimension.").optional(),
      second: code("Value of the second global dimension.").optional(),
      lines: z
        .record(capitals("A number."), z.record(capitals("A dimension."), capitals("The value.")))
        .default({})
        .describe(
          "On lines of an item or G/L account, by its number: values by the codes of their dimensions (50100: { TERMINAL: SA }).",
        ),
    })
    .prefault({})
    .describe("Dimensions on every document. Left out: the party's, item's or account's own."),
  journals: z
    .strictObject({
      received: journal("Batch of the cash receipt journal for what customers pay."),
      made: journal("Batch of the payment journal for what we pay."),
    })
    .optional()
    .describe(
      "Journal batches that nobody else uses, without number series: all of a batch is posted at once. Left out: payments are entered by hand.",
    ),
  unseenPayments: z
    .enum(["ask", "money"])
    .default("ask")
    .describe(
      "What settles an invoice and was not brought from here: the API does not say what it is. ask: a person looks before the platform is told; money: it is told as paid.",
    ),
  prices: z
    .strictObject({
      list: word("The terminal that the prices are told for."),
      category: code("Items of this category only. Left out: all.").optional(),
    })
    .optional()
    .describe("Unit prices of items as rack prices. Left out: none are read."),
  sharedParties: z
    .array(code("A number."))
    .default([])
    .describe("Numbers of customers and vendors that several companies of the platform share."),
  requests: z
    .int()
    .min(100)
    .default(6_000)
    .describe("Requests that Business Central takes of this user in any five minutes."),
  posting,
  ...waiting(
    [60_000],
    600_000,
    "How long a call may still be running in Business Central after its deadline: its gateway gives up after 10 minutes.",
  ),
});

export const BusinessCentralConfig = Settings.superRefine((config, context) => {
  const need = (field: keyof typeof config, why: string): void => {
    if (config[field] === undefined)
      context.addIssue({ code: "custom", path: [field], message: `is needed ${why}` });
  };
  if (config.user !== undefined || config.accessKey !== undefined) {
    need("user", "beside accessKey");
    need("accessKey", "beside user");
    return need("url", "with an access key, which is for on premises only");
  }
  need("clientId", "to log in");
  need("clientSecret", "to log in");
  if (config.url === undefined || config.login === undefined) need("tenant", "to log in");
});

export type BusinessCentralConfig = z.infer<typeof BusinessCentralConfig>;
