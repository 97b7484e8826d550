import { AllocationDocument } from "../../src/formats/documents.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { Allocation } from "../../src/platform/contract/place.ts";
import { codeOf } from "./codes.ts";
import { counted } from "./values.ts";

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
