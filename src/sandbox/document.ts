/** Invoices and delivery tickets on paper: what their PDFs show (specification part 4, `/pdf`). */
import { Decimal } from "../core/decimal.ts";
import { type Fields, type Kind, rowsIn } from "./kinds.ts";

/** What a kind of paper shows: labels and the fields behind them. Ids of companies become names, instants days. */
interface Paper {
  readonly title: readonly [words: string, field: string];
  readonly facts: Readonly<Record<string, string>>;
  readonly tables: Readonly<Record<string, readonly string[]>>;
  readonly totals: Readonly<Record<string, string>>;
}

const FIGURES = ["gross_gallons", "net_gallons", "temperature", "api_gravity"];

const papers: Readonly<Partial<Record<Kind, Paper>>> = {
  invoices: {
    title: ["Invoice", "invoiceNumber"],
    facts: {
      Issuer: "companyId",
      "Bill to": "payerCompanyId",
      Status: "status",
      Issued: "createdAt",
      Due: "dueDate",
      "PO number": "poNumber",
      Contract: "contractNumber",
    },
    tables: {
      lineItems: ["description", "product", "gallons", "rate", "amount"],
      taxLines: ["taxType", "authority", "gallons", "rate", "amount"],
    },
    totals: { Subtotal: "subtotal", Tax: "tax", Total: "total" },
  },

  "delivery-tickets": {
    title: ["Delivery ticket", "ticketNumber"],
    facts: {
      Supplier: "supplierCompanyId",
      Receiver: "receiverCompanyId",
      Status: "status",
      Delivered: "deliveryDate",
      "Bill of lading": "bolNumber",
      Carrier: "carrierCompanyName",
      Driver: "driverName",
      "Loaded at": "loadingTerminalName",
      "Delivered to": "destinationName",
      "Received by": "receiverName",
    },
    tables: { productLines: ["product_name", "spec", ...FIGURES] },
    totals: {},
  },
};

type Labelled = readonly (readonly [label: string, value: string])[];

export interface PrintedDocument {
  readonly title: string;
  readonly facts: Labelled;
  /** The first row is the head. */
  readonly tables: readonly (readonly (readonly string[])[])[];
  readonly totals: Labelled;
}

type Naming = (companyId: string) => string | null;

/** A record of a kind that is printed. */
export function documentOf(kind: Kind, record: Fields, name: Naming): PrintedDocument {
  const { title, facts, tables, totals } = papers[kind] as Paper;
  const [words, number] = title;
  const labelled = (fields: Readonly<Record<string, string>>): Labelled =>
    Object.entries(fields).map(([label, field]) => [label, shown(record, field, name)]);
  return {
    title: `${words} ${shown(record, number, name)}`,
    facts: labelled(facts),
    tables: Object.entries(tables).map(([field, columns]) => [
      columns.map(headline),
      ...rowsIn(record, field).map((row) => columns.map((column) => shown(row, column, name))),
    ]),
    totals: labelled(totals),
  };
}

/** Plain text; what the standard fonts cannot show becomes a question mark. */
function shown(record: Fields, field: string, name: Naming): string {
  const value = record[field];
  const text = typeof value === "string" ? value : value instanceof Decimal ? value.text : "";
  if (/companyId$/i.test(field)) return name(text) ?? text;
  const plain = text.replaceAll(/[^\u0020-\u007e\u00a0-\u00ff]/g, "?");
  return /(At|Date)$/.test(field) ? plain.slice(0, 10) : plain;
}

/** `gross_gallons` and `taxType` as headlines. */
const headline = (field: string): string =>
  field
    .replaceAll("_", " ")
    .replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .replace(/^./, (letter) => letter.toUpperCase());

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
  for (const [head = [], ...rows] of document.tables.filter(({ length }) => length > 1)) {
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
