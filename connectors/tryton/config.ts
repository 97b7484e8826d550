/** The `tryton` section of a configuration. Everything in Tryton is named as people see it there: by code or name. */
import { z } from "zod";
import { address, batch, code, posting, secret, waiting } from "../../src/ledger/settings.ts";

/** What in Tryton says that a party is a customer, or a supplier. */
const roleSigns = ["payment-term", "category", "invoice"] as const;
type RoleSign = (typeof roleSigns)[number];
const signs = (what: string, given: readonly RoleSign[]) =>
  z
    .array(z.enum(roleSigns))
    .min(1)
    .default([...given])
    .describe(`${what}: one of these is enough. payment-term, category, invoice.`);

export const TrytonConfig = z.strictObject({
  url: address(
    "The address of the Tryton server, without the database: https://tryton.example.com.",
  ),
  database: z.string().min(1).describe("The name of its database."),
  user: z.string().min(1).describe("The login of a user of the synchronisation's own."),
  password: secret("Its password"),
  company: code("The company of the books, by its name in Tryton."),
  accounts: z
    .strictObject({
      receivable: code("What customers owe: the account of customer invoices."),
      payable: code("What we owe: the account of supplier invoices."),
      revenue: code("Lines of customer invoices whose product has no account."),
      expense: code("Lines of supplier invoices whose product has no account."),
    })
    .describe("Accounts by their codes."),
  journals: z
    .strictObject({
      revenue: code("Of customer invoices.").default("REV"),
      expense: code("Of supplier invoices.").default("EXP"),
    })
    .prefault({})
    .describe("Journals by their codes."),
  paymentMethod: code("How payments are booked: an invoice payment method, by its name."),
  paymentTerm: code(
    "For invoices without a due date: a payment term, by its name; left out: due at once.",
  ).optional(),
  warehouse: code("Where orders and deliveries go out and come in.").default("WH"),
  posting,
  batch,
  guard: z
    .enum(["search", "module"])
    .default("search")
    .describe(
      "What keeps a document from being booked twice. search: it is looked for before; module: Tryton refuses it " +
        "(needs the server module).",
    ),
  numbering: z
    .enum(["platform", "tryton"])
    .default("platform")
    .describe("Whose invoice number a customer invoice gets."),
  roles: z
    .strictObject({
      customer: signs("Who is a customer", ["payment-term", "category", "invoice"]),
      supplier: signs("Who is a supplier", ["payment-term", "category"]),
    })
    .prefault({})
    .describe(
      "Tryton keeps no role of a party. payment-term: it has a term of that side; category: one of its categories " +
        'begins with "customer", or "supplier" or "vendor"; invoice: an invoice made in Tryton was posted for it.',
    ),
  ...waiting(
    [120_000, "; posting many invoices computes for long"],
    90_000,
    "How long after its deadline a call may still be running in Tryton: it waits up to 30 s for a lock, then " +
      "computes. Only then is looked for what it did; shorter on test systems only.",
  ),
});

export type TrytonConfig = z.infer<typeof TrytonConfig>;
