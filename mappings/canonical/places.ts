import { activity, codeOf, counted } from "./values.ts";
import { defineMapping, type References, skip } from "../../src/core/contract.ts";
import {
  AllocationDocument,
  ConnectionDocument,
  LocationDocument,
  RackPriceDocument,
  TerminalDocument,
} from "../../src/formats/documents.ts";
import { Connection } from "../../src/platform/contract/network.ts";
import { Allocation, ListedLocation, SupplierTerminal } from "../../src/platform/contract/place.ts";
import { RackPrice } from "../../src/platform/contract/pricing.ts";

/** Terminals that are entered on the platform, for an ERP. */
export const terminals = defineMapping({
  name: "canonical/terminals",
  kind: "supplier-terminal",
  reads: "platform.supplierTerminals",
  writes: "files.terminals",
  // The terminal is our own; its products are those that have a rack price; the version is the last change.
  leaves: { record: ["companyId", "products", "createdAt"] },
  input: SupplierTerminal,
  output: TerminalDocument,
  number: ({ terminalCode }) => terminalCode,
  map: (terminal) => ({
    id: terminal.id,
    number: terminal.terminalCode,
    version: terminal.updatedAt,
    status: activity(terminal.isActive),
    name: terminal.name,
    city: terminal.city,
    state: terminal.state,
    zip: terminal.zip,
    country: terminal.country,
    latitude: terminal.lat,
    longitude: terminal.lng,
    operatingHours: terminal.operatingHours,
    capacity: counted(terminal.capacity),
  }),
  figures: () => ({ amount: null, gallons: null }),
  about: ({ name }) => ({ name }),
});

/** Sites with their tanks, for an ERP. Contacts stay on the platform: they are people's data. */
export const locations = defineMapping({
  name: "canonical/locations",
  kind: "location",
  reads: "platform.locations",
  writes: "files.locations",
  tables: { items: ["product", "item"] },
  // Contacts are people's data; compartments and opening hours have no column; the version is the last change.
  leaves: { record: ["contacts", "compartments", "schedules", "assets.locationId", "createdAt"] },
  input: ListedLocation,
  output: LocationDocument,
  number: ({ id }) => id,
  map: (location, references) => ({
    id: location.id,
    number: location.id,
    version: location.updatedAt,
    status: activity(location.isActive),
    companyId: location.companyId,
    name: location.name,
    locationType: location.locationType,
    street: location.street,
    city: location.city,
    state: location.state,
    zip: location.zip,
    country: location.country,
    gateCode: location.gateCode,
    latitude: location.lat,
    longitude: location.lng,
    lines: (location.assets ?? []).map((asset) => ({
      assetId: asset.id,
      name: asset.name,
      assetType: asset.assetType,
      item: asset.product === null ? null : codeOf(references, "items", asset.product),
      product: asset.product,
      capacity: counted(asset.capacity),
      currentLevel: counted(asset.currentLevel),
      unit: asset.unit,
      fillMethod: asset.fillMethod,
      maxFillPercent: counted(asset.maxFillPct),
      reorderPercent: counted(asset.autoReorderPct),
    })),
  }),
  figures: () => ({ amount: null, gallons: null }),
  about: ({ name }) => ({ name }),
});

/** What suppliers grant and how much of it is used, for the purchasing of an ERP. */
export const allocations = defineMapping({
  name: "canonical/allocations",
  kind: "allocation",
  reads: "platform.allocations",
  writes: "files.allocations",
  tables: { items: ["product", "item"] },
  // The version is the last change.
  leaves: { record: ["createdAt"] },
  input: Allocation,
  output: AllocationDocument,
  number: ({ id }) => id,
  map: (allocation, references) => ({
    id: allocation.id,
    number: allocation.id,
    version: allocation.updatedAt,
    companyId: allocation.companyId,
    connectionId: allocation.connectionId,
    supplierId: allocation.supplierId,
    terminal: allocation.terminalId,
    item: codeOf(references, "items", allocation.product),
    product: allocation.product,
    brand: allocation.brand,
    period: allocation.period,
    dailyAllocation: counted(allocation.dailyAllocation),
    dailyUsed: counted(allocation.dailyUsed),
    weeklyAllocation: counted(allocation.weeklyAllocation),
    weeklyUsed: counted(allocation.weeklyUsed),
    monthlyAllocation: counted(allocation.monthlyAllocation),
    monthlyUsed: counted(allocation.monthlyUsed),
  }),
  figures: () => ({ amount: null, gallons: null }),
  about: ({ terminalId, product }) => ({ name: `${terminalId} ${product}` }),
});

/**
 * Connections that were made on the platform, for the party list of an ERP. One that shows a code of the ERP, or that
 * was made from one of its parties, is known there.
 */
export const connections = defineMapping({
  name: "canonical/connections",
  kind: "connection",
  reads: "platform.connections",
  writes: "files.connections",
  // The version is the last change.
  leaves: { record: ["createdAt"] },
  input: Connection,
  output: ConnectionDocument,
  number: ({ id }) => id,
  map(connection, references) {
    const { id, erpId, fromCompanyId, toCompanyId } = connection;
    const isOurs = (erpId ?? "") !== "" || [fromCompanyId, toCompanyId].some(isPartyOf(references));
    if (isOurs) return skip("known to the ERP");
    return {
      id,
      number: id,
      version: connection.updatedAt,
      status: connection.status,
      fromCompanyId,
      toCompanyId,
      message: connection.message,
      paymentTerms: connection.paymentTerms,
      creditLimit: connection.creditLimit,
    };
  },
  figures: () => ({ amount: null, gallons: null }),
});

const isPartyOf =
  (references: References) =>
  (companyId: string): boolean =>
    references.find("customer", companyId) !== null ||
    references.find("supplier", companyId) !== null;

/** Rack prices that are entered on the platform, for the price lists of an ERP. */
export const rackPrices = defineMapping({
  name: "canonical/rack-prices",
  kind: "platform-price",
  reads: "platform.rackPrices",
  writes: "files.rack-prices",
  tables: { items: ["product", "item"] },
  // The price is our own, and holds its spread over the index; the version is the last change.
  leaves: { record: ["companyId", "spread", "createdAt"] },
  input: RackPrice,
  output: RackPriceDocument,
  number: ({ terminalId, product }) => `${terminalId}|${product}`,
  map: (price, references) => ({
    id: price.id,
    number: `${price.terminalId}|${price.product}`,
    version: price.updatedAt,
    terminal: price.terminalId,
    item: codeOf(references, "items", price.product),
    product: price.product,
    price: price.price,
    unit: price.unit,
    effectiveAt: price.effectiveAt,
    expiresAt: price.expiresAt,
    indexSource: price.indexSource,
  }),
  figures: () => ({ amount: null, gallons: null }),
});
