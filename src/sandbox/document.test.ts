import { describe, expect, it } from "vitest";
import { documentOf, print } from "./document.ts";
import { parseExact } from "../core/json.ts";
import type { Fields } from "./kinds.ts";

const names = (id: string) => ({ a: "Bluebonnet", b: "Lone Prairie" })[id] ?? null;

describe("PDFs", () => {
  it("of an invoice show number, parties, lines, taxes and totals with their digits", async () => {
    const invoice =
      parseExact(`{"invoiceNumber":"INV-7","companyId":"a","payerCompanyId":"b","status":"PAID",
      "subtotal":100.10,"tax":3.00,"total":103.10,"createdAt":"2026-03-01T10:00:00Z",
      "lineItems":[{"description":"ULSD clear","gallons":40,"rate":2.5025,"amount":100.10}],
      "taxLines":[{"taxType":"Federal Excise","amount":3.00}]}`) as Fields;
    const text = shown(await print(documentOf("invoices", invoice, names)));
    const expected = [
      "Invoice INV-7",
      "Bluebonnet",
      "Lone Prairie",
      "ULSD clear",
      "2.5025",
      "100.10",
    ];
    for (const part of [...expected, "Federal Excise", "Total: 103.10", "Issued: 2026-03-01"])
      expect(text).toContain(part);
  });

  it("of a ticket run over as many pages as they need", async () => {
    const productLines = Array.from({ length: 80 }, (_, n) => ({ product_name: `Product ${n}` }));
    const ticket = { ticketNumber: "T-1 ✓", productLines, receiverName: "J. Doe" };
    const pdf = await print(documentOf("delivery-tickets", ticket, names));
    const text = shown(pdf);
    expect(text).toContain("Delivery ticket T-1 ?");
    expect(text).toContain("Product 79");
    expect(pdf.toString("latin1").match(/\/Type \/Page\b/g)).toHaveLength(2);
    expect(pdf.toString("latin1").trimEnd()).toMatch(/^%PDF-1\.\d[^]*%%EOF$/);
  });
});

/** The text of the pages: strings of hexadecimal digits, with the kerning between them. */
function shown(pdf: Buffer): string {
  const lines = pdf.toString("latin1").matchAll(/\[([^\]]*)\] TJ/g);
  return Array.from(lines, ([, parts = ""]) =>
    Array.from(parts.matchAll(/<([0-9a-f]+)>/g), ([, hex = ""]) =>
      Buffer.from(hex, "hex").toString("latin1"),
    ).join(""),
  ).join("\n");
}
