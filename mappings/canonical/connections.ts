import { ConnectionDocument } from "../../src/formats/documents.ts";
import { defineMapping, type References, skip } from "../../src/core/contract.ts";
import { Connection } from "../../src/platform/contract/network.ts";

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
