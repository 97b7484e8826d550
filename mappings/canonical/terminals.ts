import { TerminalDocument } from "../../src/formats/documents.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { SupplierTerminal } from "../../src/platform/contract/place.ts";
import { activity, counted } from "./values.ts";

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
