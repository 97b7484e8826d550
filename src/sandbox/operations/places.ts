/** Locations, terminals, allocations, companies (specification part 4, the last two tables). */
import { randomUUID } from "node:crypto";
import { stringifyExact } from "../../core/json.ts";
import { type Answer, success } from "../answer.ts";
import { isFields } from "../kinds.ts";
import { amend, type Call, create, type Handlers, known, list, one, seen } from "./call.ts";

export const places: Handlers<
  | "listLocations"
  | "getLocation"
  | "updateLocation"
  | "listAllocations"
  | "listSupplierTerminals"
  | "createSupplierTerminal"
  | "getSupplierTerminal"
  | "updateSupplierTerminal"
  | "getCompanyProfile"
> = {
  listLocations(call) {
    const { search, isActive } = call.query;
    const status = isActive === undefined ? undefined : String(isActive);
    return list(call, "locations", "own", { search, status });
  },

  getLocation(call) {
    return one(200, seen(call, "locations", "The location"));
  },

  updateLocation(call) {
    const location = seen(call, "locations", "The location");
    // What a schedule or compartment holds is not specified, so it is kept whole.
    const { schedules, compartments } = isFields(call.raw) ? call.raw : {};
    const whole = {
      ...(schedules === undefined ? {} : { schedules }),
      ...(compartments === undefined ? {} : { compartments }),
    };
    return one(200, amend(call, "locations", location, { ...known(call), ...whole }));
  },

  listAllocations({ world, key }) {
    const shelf = world.records.shelf("allocations", key.company, "own");
    return success(
      200,
      world.lists.whole("allocations", shelf, {}, { by: "parent", order: "asc" }),
    );
  },

  listSupplierTerminals(call) {
    const { search, state } = call.query;
    return list(call, "supplier-terminals", "own", { search, status: state });
  },

  createSupplierTerminal(call) {
    return one(201, create(call, "supplier-terminals", known(call)));
  },

  getSupplierTerminal(call) {
    return one(200, seen(call, "supplier-terminals", "The terminal"));
  },

  updateSupplierTerminal(call) {
    const terminal = seen(call, "supplier-terminals", "The terminal");
    return one(200, amend(call, "supplier-terminals", terminal, known(call)));
  },

  getCompanyProfile(call) {
    return one(200, seen(call, "companies", "The company"));
  },
};

/** Creating a party makes a company and an accepted connection to it, together (part 3; 2.15). */
export const parties: Handlers<"createCustomer" | "createSupplier"> = {
  createCustomer: (call) => createParty(call, "CUSTOMER"),
  createSupplier: (call) => createParty(call, "SUPPLIER"),
};

function createParty(call: Call, type: "CUSTOMER" | "SUPPLIER"): Answer {
  const { world, key, at } = call;
  const { name = "", phone, contactPhone, street, city, state, zip, ...contact } = known(call);
  const id = randomUUID();
  const company = {
    id,
    name,
    type,
    dba: null,
    phone: phone ?? contactPhone ?? null,
    website: null,
    logoUrl: null,
    billingStreet: street ?? null,
    billingCity: city ?? null,
    billingState: state ?? null,
    billingZip: zip ?? null,
    createdAt: at,
    updatedAt: at,
    sandbox: key.sandbox,
    contact: { ...contact, ...(contactPhone === undefined ? {} : { contactPhone }) },
  };
  world.records.put("companies", company, id);
  const { externalIdBecomesErpId, supplierConnectionRuns } = world.readings.values();
  const runsToUs = type === "SUPPLIER" && supplierConnectionRuns === "toUs";
  const [fromCompanyId, toCompanyId] = runsToUs ? [id, key.company] : [key.company, id];
  const connection = create(call, "connections", {
    fromCompanyId,
    toCompanyId,
    status: "ACCEPTED",
    erpId: externalIdBecomesErpId ? (contact.externalId ?? null) : null,
  });
  const party = {
    id,
    name,
    type,
    connectionId: connection.record.id,
    connectionStatus: "ACCEPTED",
  };
  return success(201, stringifyExact(party));
}
