import type { z } from "zod";
import { codeOf, COLUMNS, pick, toFiles } from "./values.ts";
import { defineMapping, type References, skip } from "../src/core/contract.ts";
import { Decimal } from "../src/core/decimal.ts";
import { Connection } from "../src/platform/contract/network.ts";
import { Allocation, ListedLocation, SupplierTerminal } from "../src/platform/contract/place.ts";
import { RackPrice } from "../src/platform/contract/pricing.ts";

/** Whole numbers of the platform's as documents have them. */
const counted = <T extends number | null>(value: T): T extends number ? Decimal : null =>
  (value === null ? null : Decimal.of(String(value))) as T extends number ? Decimal : null;

/** What terminals and locations have in common. */
const placeOf = (place: z.output<typeof SupplierTerminal> | z.output<typeof ListedLocation>) => ({
  ...pick(place, "id", "name", "city", "state", "zip", "country"),
  version: place.updatedAt,
  status: place.isActive ? "ACTIVE" : "INACTIVE",
  latitude: place.lat,
  longitude: place.lng,
});

/** Terminals that are entered on the platform, for an ERP. */
export const terminals = defineMapping({
  ...toFiles("terminals"),
  kind: "supplier-terminal",
  reads: "platform.supplierTerminals",
  // The terminal is our own; its products are those that have a rack price; the version is the last change.
  leaves: { record: ["companyId", "products", "createdAt"] },
  input: SupplierTerminal,
  number: ({ terminalCode }) => terminalCode,
  map: (terminal) => ({
    ...placeOf(terminal),
    number: terminal.terminalCode,
    operatingHours: terminal.operatingHours,
    capacity: counted(terminal.capacity),
  }),
  about: ({ name }) => ({ name }),
});

/** Sites with their tanks, for an ERP. Contacts stay on the platform: they are people's data. */
export const locations = defineMapping({
  ...toFiles("locations"),
  kind: "location",
  reads: "platform.locations",
  tables: { items: COLUMNS.items },
  // Contacts are people's data; compartments and opening hours have no column; the version is the last change.
  leaves: { record: ["contacts", "compartments", "schedules", "assets.locationId", "createdAt"] },
  input: ListedLocation,
  number: ({ id }) => id,
  map: (location, references) => ({
    ...placeOf(location),
    number: location.id,
    ...pick(location, "companyId", "locationType", "street", "gateCode"),
    lines: (location.assets ?? []).map((asset) => ({
      assetId: asset.id,
      ...pick(asset, "name", "assetType", "product", "unit", "fillMethod"),
      item: asset.product === null ? null : codeOf(references, "items", asset.product),
      capacity: counted(asset.capacity),
      currentLevel: counted(asset.currentLevel),
      maxFillPercent: counted(asset.maxFillPct),
      reorderPercent: counted(asset.autoReorderPct),
    })),
  }),
  about: ({ name }) => ({ name }),
});

/** What suppliers grant and how much of it is used, for the purchasing of an ERP. */
export const allocations = defineMapping({
  ...toFiles("allocations"),
  kind: "allocation",
  reads: "platform.allocations",
  tables: { items: COLUMNS.items },
  // The version is the last change.
  leaves: { record: ["createdAt"] },
  input: Allocation,
  number: ({ id }) => id,
  map: (allocation, references) => ({
    ...pick(allocation, "id", "companyId", "connectionId", "supplierId", "product"),
    ...pick(allocation, "brand", "period"),
    number: allocation.id,
    version: allocation.updatedAt,
    terminal: allocation.terminalId,
    item: codeOf(references, "items", allocation.product),
    dailyAllocation: counted(allocation.dailyAllocation),
    dailyUsed: counted(allocation.dailyUsed),
    weeklyAllocation: counted(allocation.weeklyAllocation),
    weeklyUsed: counted(allocation.weeklyUsed),
    monthlyAllocation: counted(allocation.monthlyAllocation),
    monthlyUsed: counted(allocation.monthlyUsed),
  }),
  about: ({ terminalId, product }) => ({ name: `${terminalId} ${product}` }),
});

/**
 * Connections that were made on the platform, for the party list of an ERP. One that shows a code of the ERP, or that
 * was made from one of its parties, is known there.
 */
export const connections = defineMapping({
  ...toFiles("connections"),
  kind: "connection",
  reads: "platform.connections",
  // The version is the last change.
  leaves: { record: ["createdAt"] },
  input: Connection,
  number: ({ id }) => id,
  map(connection, references) {
    const { id, erpId, fromCompanyId, toCompanyId } = connection;
    const known = erpId || partyOf(references, fromCompanyId) || partyOf(references, toCompanyId);
    if (known) return skip("known to the ERP", known);
    return {
      ...pick(connection, "id", "status", "message", "paymentTerms", "creditLimit"),
      number: id,
      version: connection.updatedAt,
      fromCompanyId,
      toCompanyId,
    };
  },
});

/** The code of the party that was made this company; null: none was. */
const partyOf = (references: References, companyId: string): string | null =>
  references.find("customer", companyId) ?? references.find("supplier", companyId);

/** Rack prices that are entered on the platform, for the price lists of an ERP. */
export const rackPrices = defineMapping({
  ...toFiles("rack-prices"),
  kind: "platform-price",
  reads: "platform.rackPrices",
  tables: { items: COLUMNS.items },
  // The price is our own, and holds its spread over the index; the version is the last change.
  leaves: { record: ["companyId", "spread", "createdAt"] },
  input: RackPrice,
  number: ({ terminalId, product }) => `${terminalId}|${product}`,
  about: ({ terminalId }) => ({ partyName: terminalId }),
  map: (price, references) => ({
    ...pick(price, "id", "product", "price", "unit", "effectiveAt", "expiresAt", "indexSource"),
    number: `${price.terminalId}|${price.product}`,
    version: price.updatedAt,
    terminal: price.terminalId,
    item: codeOf(references, "items", price.product),
  }),
});
