/** The settings of `format: idoc` besides folders. What is agreed with the people of the SAP system stands here. */
import { z } from "zod";
import { choice } from "../../core/settings.ts";

const code = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .regex(/^[\x21-\x7e]+$/, "is a code: no blanks, no letters with accents");

const partner = (which: string) =>
  z
    .strictObject({
      port: code(10).describe("The port's name (WE21)."),
      type: choice(["LS", "LI", "KU"], "LS: logical system; LI: vendor; KU: customer."),
      partner: code(10).describe("The partner's number (WE20): the logical system."),
    })
    .describe(which);

const Units = z.record(code(20), code(20));

/** SAP's ISO codes of what the mappings and the platform call the units. */
const UNITS_OUT = {
  gal: "GLL",
  l: "LTR",
  ltr: "LTR",
  liter: "LTR",
  bbl: "BLL",
  barrel: "BLL",
  t: "TNE",
  mt: "TNE",
};

const TextId = code(4).optional();

const outgoing = {
  client: z
    .string()
    .regex(/^\d{3}$/, "is three digits")
    .optional()
    .describe("SAP's client (MANDT): 100. Left out: blank."),
  sender: partner("We, as SAP knows us: SNDPOR, SNDPRT, SNDPRN."),
  receiver: partner("The SAP system: RCVPOR (SAP and its SID), RCVPRT, RCVPRN."),
  extension: code(30).optional().describe("CIMTYP, where the site has one. Left out: blank."),
  variant: code(3).optional().describe("MESCOD, as in the partner profile. Left out: blank."),
  function: code(3).optional().describe("MESFCT, as in the partner profile. Left out: blank."),
  test: z.boolean().default(false).describe("Marks every IDoc as a test (TEST=X)."),
  units: Units.default(UNITS_OUT).describe("What SAP calls the units: gal: GLL. In place of ours."),
  characters: choice(
    ["refuse", "clean"],
    "A control character in a text: refuse the document, or write a line break as a blank and leave others out.",
  ),
  headerText: TextId.describe("The text id (TDID) for notes of the document. Left out: not sent."),
  itemText: TextId.describe("The text id (TDID) for descriptions of items. Left out: not sent."),
};

export const InvoicSink = z.strictObject({
  ...outgoing,
  message: z.literal("INVOIC").describe("Vendor bills as INVOIC02."),
  companyCode: z
    .strictObject({ code: code(4), name: z.string().min(1).max(35) })
    .describe("Who is billed (PARVW RE), exactly as in SAP's table T076B."),
  numberTooLong: choice(
    ["refuse", "shorten"],
    "A vendor's invoice number of more than 16 characters: refuse the bill, or write its last 10 after 5 of a hash and a dash.",
  ),
  withoutOrder: choice(
    ["refuse", "send"],
    "A bill without a purchase order: INVL cannot post it, INVF can.",
  ),
  paid: choice(
    ["refuse", "deliver"],
    "A bill that is paid on the platform: refuse it, for SAP would pay it again; or deliver it like others, where SAP pays.",
  ),
  baseline: choice(
    ["invoice", "due"],
    "The baseline date (IDDAT 024): the invoice's, or the due date where the terms are none.",
  ),
  taxCode: code(7)
    .optional()
    .describe("The tax code of items without a tax (E1EDP04, and E1EDK04 over 0). Left out: none."),
  orderItems: choice(
    ["position", "material"],
    "The item of the purchase order (E1EDP02-ZEILE), where the PO number does not name it (4500017823/20): position, the bill's first product is item 10, the next one 20; material, none is written and SAP finds it by E1EDP19.",
  ),
  chargeItem: code(35)
    .default("CHARGE")
    .describe("What a line without a product is called (E1EDP19 002)."),
});

export const OrdersSink = z.strictObject({
  ...outgoing,
  message: z.literal("ORDERS").describe("Sales orders as ORDERS05."),
  organization: code(4).describe("Sales organization (E1EDK14 008)."),
  channel: code(2).describe("Distribution channel (007)."),
  division: code(2).describe("Division (006)."),
  orderType: code(4).default("OR").describe("Order type (012)."),
  plants: z
    .record(z.string().min(1), code(4))
    .optional()
    .describe(
      "The plant (WERKS) of each terminal, by its code or name on the platform. Left out: none is written.",
    ),
  priceCondition: code(4)
    .optional()
    .describe("The condition type that carries our price (E1EDP05). Left out: SAP prices."),
});

export const DelvrySink = z.strictObject({
  ...outgoing,
  message: z
    .literal("DELVRY")
    .describe("Delivery tickets: what we receive as DESADV, what we ship as SHPCON."),
  basicType: choice(
    ["DELVRY03", "DELVRY05", "DELVRY06", "DELVRY07"],
    "As in the partner profile; only fields of DELVRY03 are written.",
  ),
  deliveryNumber: z
    .enum(["ticketNumber", "bolNumber"])
    .optional()
    .describe(
      "Where a ticket of what we ship has SAP's delivery number, which SHPCON must name (E1EDL20-VBELN). Left out: such tickets are skipped.",
    ),
  action: choice(
    ["PGI", "PIC", "CHG"],
    "What SHPCON does with the delivery (E1EDL18): post goods issue, confirm picking, or change its quantities.",
  ),
  withoutOrder: choice(
    ["refuse", "send"],
    "A ticket of what we receive that names no purchase order: SAP makes no inbound delivery of it.",
  ),
});

/** What SAP answers: a document that it says nothing of for so long after it was delivered is for a person. */
export interface AnswerSettings {
  readonly withinHours?: number | undefined;
}
/** `answers`: left out, nobody knows what SAP did with a document. */
export type IdocSink = (InvoicSink | OrdersSink | DelvrySink) & {
  readonly answers?: AnswerSettings | undefined;
};
export type InvoicSink = z.infer<typeof InvoicSink>;
export type OrdersSink = z.infer<typeof OrdersSink>;
export type DelvrySink = z.infer<typeof DelvrySink>;

const incoming = {
  sender: code(10)
    .optional()
    .describe("SAP's logical system (SNDPRN). IDocs of another are refused. Left out: any."),
  receiver: code(10)
    .optional()
    .describe("We (RCVPRN). IDocs for another are refused. Left out: any."),
  tests: z.boolean().default(false).describe("Whether IDocs that are marked as tests are taken."),
};

const Groups = z
  .array(code(4))
  .min(1)
  .optional()
  .describe("Account groups (KTOKD, KTOKK) that are taken. Left out: all.");

/** A key field of a condition, or a part of its concatenated key. */
const KeyPart = z.union([
  z.enum(["WERKS", "MATNR"]),
  z.strictObject({
    from: z.int().min(1).max(100).describe("The first character of VAKEY, from 1."),
    length: z.int().min(1).max(40),
  }),
]);
export type KeyPart = z.infer<typeof KeyPart>;

export const DebmasSource = z.strictObject({
  ...incoming,
  message: z.literal("DEBMAS").describe("Customers."),
  accountGroups: Groups,
});
export const CremasSource = z.strictObject({
  ...incoming,
  message: z.literal("CREMAS").describe("Vendors."),
  accountGroups: Groups,
});
export const CondSource = z.strictObject({
  ...incoming,
  message: z.literal("COND_A").describe("Rack prices: one condition is one price."),
  conditionTypes: z.array(code(4)).min(1).describe("Which conditions are rack prices: PR00, ZRCK."),
  terminal: KeyPart.default("WERKS").describe(
    "Where the terminal stands: WERKS, or a part of VAKEY.",
  ),
  product: KeyPart.default("MATNR").describe(
    "Where the product stands: MATNR, or a part of VAKEY.",
  ),
  units: Units.default({
    GLL: "gal",
    GAL: "gal",
    LTR: "l",
    L: "l",
    BLL: "bbl",
    BBL: "bbl",
    TNE: "t",
    TO: "t",
  }).describe("What the books' mappings call SAP's units: GLL: gal. In place of ours."),
});

export type IdocSource = PartySource | CondSource;
export type PartySource = z.infer<typeof DebmasSource> | z.infer<typeof CremasSource>;
export type CondSource = z.infer<typeof CondSource>;
