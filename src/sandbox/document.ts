/** Invoices and delivery tickets on paper: what their PDFs show (specification part 4, `/pdf`). */
import { Decimal } from "../core/decimal.ts";
import type { Json } from "../core/json.ts";
import { type Fields, isFields } from "./kinds.ts";

export interface PrintedDocument {
  readonly title: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly tables: readonly Table[];
  readonly totals: readonly (readonly [label: string, value: string])[];
}

interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

type Naming = (companyId: string) => string | null;

export function invoiceDocument(invoice: Fields, name: Naming): PrintedDocument {
  return {
    title: `Invoice ${say(invoice.invoiceNumber)}`,
    facts: [
      ["Issuer", party(invoice.companyId, name)],
      ["Bill to", party(invoice.payerCompanyId, name)],
      ["Status", say(invoice.status)],
      ["Issued", day(invoice.createdAt)],
      ["Due", day(invoice.dueDate)],
      ["PO number", say(invoice.poNumber)],
      ["Contract", say(invoice.contractNumber)],
    ],
    tables: [
      table(invoice.lineItems, ["description", "product", "gallons", "rate", "amount"]),
      table(invoice.taxLines, ["taxType", "authority", "gallons", "rate", "amount"]),
    ],
    totals: [
      ["Subtotal", say(invoice.subtotal)],
      ["Tax", say(invoice.tax)],
      ["Total", say(invoice.total)],
    ],
  };
}

export function ticketDocument(ticket: Fields, name: Naming): PrintedDocument {
  const figures = ["gross_gallons", "net_gallons", "temperature", "api_gravity"];
  return {
    title: `Delivery ticket ${say(ticket.ticketNumber)}`,
    facts: [
      ["Supplier", party(ticket.supplierCompanyId, name)],
      ["Receiver", party(ticket.receiverCompanyId, name)],
      ["Status", say(ticket.status)],
      ["Delivered", day(ticket.deliveryDate)],
      ["Bill of lading", say(ticket.bolNumber)],
      ["Carrier", say(ticket.carrierCompanyName)],
      ["Driver", say(ticket.driverName)],
      ["Loaded at", say(ticket.loadingTerminalName)],
      ["Delivered to", say(ticket.destinationName)],
      ["Received by", say(ticket.receiverName)],
    ],
    tables: [table(ticket.productLines, ["product_name", "spec", ...figures])],
    totals: [],
  };
}

/** The bytes of the PDF. Text is left uncompressed: a test, or a person with an editor, can read it. */
export async function print(document: PrintedDocument): Promise<Buffer> {
  // A fifth of a second of computing: few sandboxes are asked for paper.
  const { default: Pdf } = await import("pdfkit");
  const pdf = new Pdf({ size: "LETTER", margin: MARGIN, compress: false });
  const chunks: Buffer[] = [];
  const done = new Promise<Buffer>((resolve, reject) => {
    pdf.on("data", (chunk: Buffer) => chunks.push(chunk));
    pdf.on("end", () => resolve(Buffer.concat(chunks)));
    pdf.on("error", reject);
  });
  pdf.font("Helvetica-Bold").fontSize(18).text(document.title).moveDown();
  for (const [label, value] of document.facts.filter(([, value]) => value !== ""))
    pdf.font("Helvetica").fontSize(10).text(`${label}: ${value}`);
  for (const { head, rows } of document.tables.filter(({ rows }) => rows.length > 0)) {
    pdf.moveDown().font("Helvetica-Bold").fontSize(9);
    row(pdf, head);
    pdf.font("Helvetica");
    for (const cells of rows) row(pdf, cells);
  }
  pdf.x = MARGIN;
  pdf.moveDown().font("Helvetica-Bold").fontSize(11);
  for (const [label, value] of document.totals) pdf.text(`${label}: ${value}`);
  pdf.end();
  return done;
}

const MARGIN = 50;
const WIDTH = 512;
const LOWEST = 720;

/** One line of a table: the first column takes what the others leave. */
function row(pdf: PDFKit.PDFDocument, cells: readonly string[]): void {
  if (pdf.y > LOWEST) pdf.addPage();
  const narrow = 80;
  const first = WIDTH - narrow * (cells.length - 1);
  const top = pdf.y;
  let [x, bottom] = [MARGIN, top];
  for (const [at, cell] of cells.entries()) {
    const width = at === 0 ? first : narrow;
    pdf.text(cell, x, top, { width: width - 6 });
    bottom = Math.max(bottom, pdf.y);
    x += width;
  }
  pdf.y = bottom;
}

function table(rows: Json | undefined, fields: readonly string[]): Table {
  const list = Array.isArray(rows) ? (rows as readonly Json[]).filter(isFields) : [];
  return {
    head: fields.map(headline),
    rows: list.map((item) => fields.map((field) => say(item[field]))),
  };
}

/** `gross_gallons` and `taxType` as headlines. */
const headline = (field: string): string =>
  field
    .replaceAll("_", " ")
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^./, (letter) => letter.toUpperCase());

const party = (id: Json | undefined, name: Naming): string =>
  typeof id === "string" ? (name(id) ?? id) : "";

const day = (value: Json | undefined): string => say(value).slice(0, 10);

/** Plain text; what the standard fonts cannot show becomes a question mark. */
function say(value: Json | undefined): string {
  const text = typeof value === "string" ? value : value instanceof Decimal ? value.text : "";
  return text.replaceAll(/[^\u0020-\u007e\u00a0-\u00ff]/g, "?");
}
