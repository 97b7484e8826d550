/** The platform's side of the table of fates: raw records through the sandbox's control interface, faults at its API. */
import { Decimal } from "../../src/core/decimal.ts";
import type { controlOf, Row } from "../conformance/support.ts";
import type { Actor, Held, Side } from "./table.ts";

/** Of config/crossref. */
const PAYER = "0942f541-2340-4858-9502-8b0979809fca";
const VENDOR = "3c32a18c-b781-4efd-afcf-a5e1dcab93fb";
const LOCATION = "a903118c-3ef2-46c6-98ee-b5f48a83e50d";
/** Of records that we see no more: they have been deleted, for all that we can tell. */
const ELSEWHERE = "00000000-0000-4000-8000-000000000001";
const DAY_MS = 86_400_000;

type Control = ReturnType<typeof controlOf>;

export interface Platform {
  readonly control: Control;
  readonly companyId: string;
}

const daysFromNow = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

export const d = (digits: string | number): Decimal => Decimal.of(String(digits));

/** Each document has an amount of its own. */
let counter = 100;

export function platformSide({ control, companyId }: Platform): Side {
  const stored = (resource: string): Promise<Row[]> => control.stored(resource);
  const patch = async (resource: string, { id }: Held, fields: Row): Promise<void> => {
    await control.patch(resource, id, fields);
  };
  const textOf = (row: Row, field: string): string => {
    const value = row[field];
    return typeof value === "string" ? value : "";
  };
  const rowOf = async (resource: string, { id }: Held): Promise<Row> => {
    const row = (await stored(resource)).find((one) => one["id"] === id);
    if (row === undefined) throw new Error(`the platform has no ${resource} ${id}`);
    return row;
  };
  const add = async (resource: string, record: Row, key = "supplier"): Promise<Row> => {
    const [row] = await control.records(resource, [record], key);
    if (row === undefined) throw new Error(`nothing was added to ${resource}`);
    return row;
  };
  /** Without its ids and times: the same entered again. */
  const again = async (resource: string, held: Held, fields: Row): Promise<Row> => {
    const { id, createdAt, updatedAt, ...rest } = await rowOf(resource, held);
    void id;
    void updatedAt;
    return add(
      resource,
      { ...rest, createdAt, ...fields },
      rest["companyId"] === VENDOR ? "carrier" : "supplier",
    );
  };
  const numbered = (resource: string, field: string) => ({
    renumber: async (held: Held): Promise<string> => {
      const number = `${held.number}-NEW`;
      await patch(resource, held, { [field]: number });
      return number;
    },
    touch: (held: Held) => patch(resource, held, { updatedAt: new Date().toISOString() }),
  });
  const cuts = (write: string, list: string) => ({
    cutWrite: async (when: "before" | "after"): Promise<void> => {
      await control.fault({ method: "POST", path: write, kind: "reset", when });
    },
    cutList: async (): Promise<void> => {
      await control.fault({ method: "GET", path: list, kind: "truncate" });
    },
  });

  const invoiceOf = (row: Row): Held => ({
    id: textOf(row, "id"),
    number: textOf(row, "invoiceNumber"),
    party: textOf(row, "payerCompanyId"),
    stands: row["status"] !== "VOID",
  });
  const invoices = (issuer: () => string, payer: (row: Row) => boolean): Actor => ({
    list: async () =>
      (await stored("invoices"))
        .filter((row) => row["companyId"] === issuer() && payer(row))
        .map(invoiceOf),
    ...numbered("invoices", "invoiceNumber"),
    void: (held) => patch("invoices", held, { status: "VOID" }),
    remove: (held) => patch("invoices", held, { companyId: ELSEWHERE, payerCompanyId: ELSEWHERE }),
    ...cuts("/invoices", "/invoices"),
  });
  const isOurs = (): boolean => true;
  const issued: Actor = {
    ...invoices(() => companyId, isOurs),
    make: async () => invoiceOf(await add("invoices", newInvoice())),
    copy: async (held) =>
      invoiceOf(await again("invoices", held, { invoiceNumber: `${held.number}-COPY` })),
  };
  const payable: Actor = {
    ...invoices(
      () => VENDOR,
      (row) => row["payerCompanyId"] === companyId,
    ),
    make: async () =>
      invoiceOf(
        await add(
          "invoices",
          { ...newInvoice("BILL"), companyId: VENDOR, payerCompanyId: companyId },
          "carrier",
        ),
      ),
    copy: async (held) =>
      invoiceOf(await again("invoices", held, { invoiceNumber: `${held.number?.toLowerCase()} ` })),
  };

  const paymentOf = (row: Row): Held => ({
    id: textOf(row, "id"),
    number: textOf(row, "reference"),
    stands: row["status"] === "SUCCEEDED",
  });
  const payments: Actor = {
    list: async () =>
      (await stored("payments")).filter((row) => row["invoiceId"] !== ELSEWHERE).map(paymentOf),
    make: async () => {
      const invoice = await add("invoices", newInvoice("PAID"));
      const made = paymentOf(
        await add("payments", {
          ownerCompanyId: companyId,
          invoiceId: invoice["id"],
          amount: 10 + (counter % 80),
          method: "ACH",
          reference: `ACH-${counter}`,
          status: "SUCCEEDED",
          paidAt: daysFromNow(-1),
        }),
      );
      return { ...made, names: [textOf(invoice, "id")] };
    },
    ...numbered("payments", "reference"),
    void: (held) => patch("payments", held, { status: "REFUNDED" }),
    remove: (held) => patch("payments", held, { ownerCompanyId: ELSEWHERE, invoiceId: ELSEWHERE }),
    copy: async (held) => paymentOf(await again("payments", held, { ownerCompanyId: companyId })),
    ...cuts("/invoices/{id}/mark-paid", "/payments"),
  };

  const orderOf = (row: Row): Held => ({
    id: textOf(row, "id"),
    number: textOf(row, "loadingNumber"),
    stands: row["status"] !== "CANCELLED",
  });
  const orders = (isPurchase: boolean): Actor => ({
    list: async () =>
      (await stored("orders"))
        .filter((row) => row["companyId"] === companyId && isBought(row) === isPurchase)
        .map(orderOf),
    make: async () => orderOf(await add("orders", newOrder(isPurchase))),
    ...numbered("orders", "loadingNumber"),
    void: (held) => patch("orders", held, { status: "CANCELLED" }),
    remove: (held) => patch("orders", held, { companyId: ELSEWHERE, locationId: null }),
    copy: async (held) => orderOf(await again("orders", held, {})),
    ...cuts("/orders", "/orders"),
  });

  const ticketOf = (row: Row): Held => ({
    id: textOf(row, "id"),
    number: textOf(row, "ticketNumber"),
    stands: row["status"] !== "VOID",
  });
  /** @param own where it names us */
  const tickets = (own: "receiverCompanyId" | "supplierCompanyId"): Actor => ({
    list: async () =>
      (await stored("delivery-tickets")).filter((row) => row[own] === companyId).map(ticketOf),
    make: async () => ticketOf(await add("delivery-tickets", newTicket(companyId, own))),
    ...numbered("delivery-tickets", "ticketNumber"),
    void: (held) => patch("delivery-tickets", held, { status: "VOID" }),
    remove: (held) =>
      patch("delivery-tickets", held, {
        companyId: ELSEWHERE,
        supplierCompanyId: ELSEWHERE,
        receiverCompanyId: ELSEWHERE,
      }),
    copy: async (held) =>
      ticketOf(
        await again("delivery-tickets", held, { companyId, ticketNumber: `DT-${++counter}` }),
      ),
    ...cuts("/delivery-tickets/{id}/sign", "/delivery-tickets"),
  });

  const parties = (path: "/customers" | "/suppliers"): Actor => ({
    // A connection has no role; its company's type says which it is.
    list: async () => {
      const companies = (await stored("companies")).filter(
        ({ type }) => type === (path === "/customers" ? "CUSTOMER" : "SUPPLIER"),
      );
      return (await stored("connections")).flatMap((row) => {
        const ends = [row["fromCompanyId"], row["toCompanyId"]];
        const company = companies.find(({ id }) => id !== companyId && ends.includes(id));
        if (company === undefined || !ends.includes(companyId)) return [];
        return [
          {
            id: textOf(row, "id"),
            number: textOf(row, "erpId"),
            stands: row["status"] === "ACCEPTED",
            names: [textOf(company, "id"), textOf(company, "name")],
          },
        ];
      });
    },
    renumber: async (held) => {
      await patch("connections", held, { erpId: `${held.number}-NEW` });
      return `${held.number}-NEW`;
    },
    void: (held) => patch("connections", held, { status: "DECLINED" }),
    remove: (held) => patch("connections", held, { fromCompanyId: ELSEWHERE, toCompanyId: PAYER }),
    // Another company that is given its code.
    copy: async (held) => {
      const { fromCompanyId } = await rowOf("connections", held);
      const end = fromCompanyId === companyId ? "toCompanyId" : "fromCompanyId";
      const company = `00000000-0000-4000-8000-00000000000${path === "/customers" ? 2 : 3}`;
      const copied = await again("connections", held, { [end]: company });
      return { ...held, id: textOf(copied, "id"), names: [company] };
    },
    ...cuts(path, "/connections"),
  });

  const own: Actor = {
    ...invoices(() => companyId, isOurs),
    copy: async (held) =>
      invoiceOf(await again("invoices", held, { invoiceNumber: `${held.number}-COPY` })),
  };
  const settled: Actor = {
    list: async () =>
      (await stored("invoices"))
        .filter((row) => row["companyId"] === companyId)
        .map((row) => ({ ...invoiceOf(row), stands: row["status"] === "PAID" })),
    void: (held) => patch("invoices", held, { status: "OUTSTANDING", paidAt: null }),
    ...cuts("/invoices/{id}/mark-paid", "/invoices"),
    lacks: {
      renumber: "a payment of the books has no record of its own on the platform",
      remove: "a payment of the books has no record of its own on the platform",
      copy: "a payment of the books has no record of its own on the platform",
    },
  };
  const prices: Actor = {
    list: async () =>
      (await stored("rack-prices"))
        .filter((row) => row["companyId"] === companyId)
        .map((row) => ({
          id: textOf(row, "id"),
          number: `${textOf(row, "terminalId")} ${textOf(row, "product")}`,
          stands: row["expiresAt"] === null || Date.parse(textOf(row, "expiresAt")) > Date.now(),
        })),
    void: (held) => patch("rack-prices", held, { expiresAt: daysFromNow(-0.01) }),
    remove: (held) => patch("rack-prices", held, { companyId: ELSEWHERE }),
    ...cuts("/pricing/bulk/rack", "/pricing/rack"),
    lacks: {
      renumber: NO_NUMBER,
      copy: "a price that is entered again takes the place of the other",
    },
  };

  return {
    "invoice to books": issued,
    "bill to books": payable,
    "payment to books": payments,
    "order to books": orders(false),
    "purchase to books": orders(true),
    "ticket to books": tickets("receiverCompanyId"),
    "delivery to books": tickets("supplierCompanyId"),
    "customer to platform": parties("/customers"),
    "supplier to platform": parties("/suppliers"),
    "invoice to platform": own,
    "payment to platform": settled,
    "price to platform": prices,
  };
}

/** Items and the platform's products, of config/crossref. The lines of documents are of the last. */
export const PRODUCTS: Readonly<Record<string, string>> = {
  "087": "UNL-87",
  "089": "UNL-89",
  "ULSD-DYE": "ULSD-DYE",
  "ULSD-CLR": "ULSD-CLR",
};

export const NO_NUMBER = "a price has no number: it is known by terminal and product";

function newInvoice(prefix = "INV"): Row {
  const amount = ++counter;
  return {
    invoiceNumber: `${prefix}-${amount}`,
    payerCompanyId: PAYER,
    status: "OUTSTANDING",
    poNumber: `PO-${amount}`,
    subtotal: amount,
    tax: 8.25,
    total: amount + 8.25,
    dueDate: daysFromNow(20),
    createdAt: daysFromNow(-3),
    lineItems: [{ description: "Diesel", product: "ULSD-CLR", gallons: amount, rate: 1, amount }],
    taxLines: [{ taxType: "AL State Diesel Tax", amount: 8.25 }],
  };
}

/** Without a price that it is sold at. */
const isBought = ({ lines }: Row): boolean =>
  Array.isArray(lines) && lines.every((line: Row) => line["sellPrice"] === null);

function newOrder(isPurchase: boolean): Row {
  const gallons = ++counter;
  return {
    status: "CONFIRMED",
    locationId: LOCATION,
    loadingNumber: `LD-${gallons}`,
    createdAt: daysFromNow(-3),
    lines: [
      {
        product: "ULSD-CLR",
        terminal: "San Antonio",
        supplierId: VENDOR,
        rate: 2,
        buyPrice: 2,
        sellPrice: isPurchase ? null : 2.5,
        terminalCode: "T-76-TX-2799",
        gallons,
        unit: "gal",
        quantity: gallons,
        unitCode: "gal",
      },
    ],
  };
}

/** Every connector that takes tickets takes what a vendor brings us. */
function newTicket(companyId: string, own: "receiverCompanyId" | "supplierCompanyId"): Row {
  const gallons = ++counter;
  return {
    companyId,
    ticketNumber: `DT-${gallons}`,
    supplierCompanyId: VENDOR,
    receiverCompanyId: PAYER,
    [own]: companyId,
    status: "SIGNED",
    bolNumber: `BOL-${gallons}`,
    deliveryDate: daysFromNow(-2),
    createdAt: daysFromNow(-3),
    productLines: [
      {
        product_name: "ULSD-CLR",
        spec: null,
        gross_gallons: gallons + 1,
        net_gallons: gallons,
        temperature: 60,
        api_gravity: 35,
      },
    ],
  };
}
