/** The rows inside records: they get ids, point to their record, and have every field (specification part 2). */
import { randomUUID } from "node:crypto";
import type { Fields, ResourceName } from "./kinds.ts";

type Row = (given: Fields, recordId: string) => Fields;

export const rows: Readonly<Partial<Record<ResourceName, Readonly<Record<string, Row>>>>> = {
  orders: { lines: orderLine },
  invoices: {
    lineItems: (given, invoiceId) => ({
      id: randomUUID(),
      invoiceId,
      description: "",
      product: null,
      location: null,
      spec: null,
      bolNumber: null,
      deliveryTicket: null,
      carrier: null,
      gallons: null,
      grossGallons: null,
      netGallons: null,
      rate: null,
      rackPrice: null,
      margin: null,
      amount: 0,
      deliveredDate: null,
      ...given,
    }),
    taxLines: (given, invoiceId) => ({
      id: randomUUID(),
      invoiceId,
      taxType: "",
      authority: null,
      productRef: null,
      rateDisplay: null,
      rate: null,
      gallons: null,
      amount: 0,
      ...given,
    }),
  },
  "freight-rates": {
    customFees: (given) => ({ id: randomUUID(), label: "", amount: null, unit: null, ...given }),
  },
  locations: {
    contacts: (given) => ({
      name: "",
      title: null,
      email: null,
      phone: null,
      isPrimary: false,
      ...given,
    }),
    assets: (given, locationId) => ({
      id: randomUUID(),
      locationId,
      name: "",
      assetType: "TANK",
      product: null,
      capacity: 0,
      currentLevel: 0,
      unit: "gal",
      fillMethod: null,
      maxFillPct: 90,
      autoReorderPct: null,
      ...given,
    }),
  },
};

/** Both names of quantity and unit are shown, whichever was given (specification 2.2). */
function orderLine(given: Fields, orderId: string): Fields {
  const quantity = given.quantity ?? given.gallons ?? 1;
  const unit = given.unitCode ?? given.unit ?? "gal";
  return {
    id: randomUUID(),
    orderId,
    product: "",
    terminal: null,
    supplierId: null,
    rate: 0,
    buyPrice: null,
    sellPrice: null,
    loadingNumber: null,
    lat: null,
    lng: null,
    productCode: null,
    terminalCode: null,
    ...given,
    gallons: quantity,
    unit,
    quantity,
    unitCode: unit,
  };
}
