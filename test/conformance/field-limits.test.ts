/** Part 4: every field of every body, at its limits and one step past them. */
import { beforeAll, describe, expect, it } from "vitest";
import * as bodies from "./samples.ts";
import {
  absent,
  latitude,
  type Limit,
  limitsOf,
  list,
  longitude,
  nullable,
  number,
  oneOf,
  optional,
  reference,
  required,
  text,
  time,
} from "./field-words.ts";
import { nowhere } from "./samples.ts";
import { chars, useSandbox } from "./support.ts";

const sandbox = useSandbox("empty", "when told");
const { control } = sandbox;

const ids = {
  location: "10000000-0000-4000-8000-000000000001",
  order: "10000000-0000-4000-8000-000000000002",
  ticket: "10000000-0000-4000-8000-000000000003",
  invoice: "10000000-0000-4000-8000-000000000004",
  terminal: "10000000-0000-4000-8000-000000000005",
  rate: "10000000-0000-4000-8000-000000000006",
};
let known: Record<string, string> = {};

async function setUp(): Promise<void> {
  await sandbox.fresh();
  const connection = String((await control.stored("connections"))[0]?.["id"]);
  known = {
    ...ids,
    connection,
    customer: sandbox.company("customer"),
    carrier: sandbox.company("carrier"),
  };
  await control.records("locations", [{ id: ids.location, name: "Yard" }]);
  await control.records("orders", [{ id: ids.order }]);
  await control.records("delivery-tickets", [{ id: ids.ticket }]);
  await control.records("invoices", [{ id: ids.invoice, status: "OUTSTANDING" }]);
  await control.records("supplier-terminals", [{ id: ids.terminal, ...bodies.terminal() }]);
  await control.records("freight-rates", [{ id: ids.rate, connectionId: connection }]);
}

const tested = limitsOf(sandbox.call, () => known);
/** Whatever one test of an operation leaves, the next sends to it what is good at any time. */
const limits: typeof tested = (...operation) => {
  beforeAll(setUp);
  tested(...operation);
};

const requirements: readonly Limit[] = [
  [
    "requirements",
    "object, nullable",
    [{}, null, { truckType: "tanker", hazmat: true }],
    ["none", 1],
  ],
  ["requirements", "truckType is a string", [{ truckType: "T" }], [{ truckType: 1 }]],
  ...["hazmat", "twic", "tankerEndorsement", "pumpOff"].map((flag): Limit => [
    "requirements",
    `${flag} is a boolean`,
    [{ [flag]: true }, { [flag]: false }],
    [{ [flag]: "yes" }],
  ]),
];
const line = bodies.orderLine();
const orderLines: readonly Limit[] = [
  list("lines", line, 1, 20),
  text("lines.0.product", 100, required),
  number("lines.0.gallons", "integer min 1, required", [1, 1_000_000], [0, -1, 1.5, null, absent]),
  text("lines.0.terminal", 200, nullable),
  reference("lines.0.supplierId", "$customer"),
  number("lines.0.rate", "number min 0, default 0", [0, 2.3456, absent], [-0.01, null]),
  number("lines.0.buyPrice", "number, nullable", [-1, 2.5, null, absent], []),
  number("lines.0.sellPrice", "number, nullable", [-1, 2.5, null, absent], []),
  oneOf("lines.0.unit", ["gal", "liter", "bbl"], "mt"),
  text("lines.0.loadingNumber", 120, nullable),
  latitude("lines.0.lat", [null]),
  longitude("lines.0.lng", [null]),
];

describe("CreateOrder", () => {
  limits("POST", () => "/orders", bodies.order({ requirements: {} }), [
    ...orderLines,
    ["lines", "required", [[line]], [absent, null]],
    reference("locationId", "$location"),
    oneOf("orderType", ["direct", "bid"], "fixed"),
    oneOf("pricingType", ["fixed", "bid"], "direct"),
    oneOf("urgency", ["routine", "urgent", "emergency"]),
    text("notes", 2000, nullable),
    ...requirements,
    time("requestedDate"),
    time("deliveryDate"),
    time("bidDeadline"),
    text("deliveryStart", 10, nullable),
    text("deliveryEnd", 10, nullable),
    reference("carrierCompanyId", "$carrier"),
    number("maxRate", "number min 0, nullable", [0, 1.5, null, absent], [-0.01]),
    text("loadingNumber", 120, nullable),
  ]);
});

describe("UpdateOrder", () => {
  limits("PUT", () => `/orders/${ids.order}`, { lines: [line] }, [
    ...orderLines,
    reference("locationId", "$location"),
    oneOf("orderType", ["direct", "bid"], "fixed"),
    oneOf("urgency", ["routine", "urgent", "emergency"]),
    text("notes", 2000, nullable),
    time("requestedDate"),
    time("deliveryDate"),
    reference("carrierCompanyId", "$carrier"),
  ]);
});

describe("order notes", () => {
  limits("POST", () => `/orders/${ids.order}/notes`, { content: "n" }, [
    text("content", 2000, required),
  ]);
});

const productLine = { product_name: "ULSD", gross_gallons: 7500 };
/** Part 4 says of none that it may be null; that a change empties a field by it is a reading. */
const ticketFields = (isNew: boolean): readonly Limit[] => [
  text("ticketNumber", 64),
  reference("orderId", "$order", !isNew),
  reference("supplierCompanyId", "$customer", !isNew),
  reference("receiverCompanyId", "$customer", !isNew),
  oneOf("status", ["DRAFT", "ISSUED", "SIGNED", "VOID"]),
  text("bolNumber", 64, isNew ? {} : nullable),
  time("deliveryDate", !isNew),
  text("driverName", 120, isNew ? {} : nullable),
  text("carrierCompanyName", 200, isNew ? {} : nullable),
  text("loadingTerminalName", 200, isNew ? {} : nullable),
  text("destinationName", 200, isNew ? {} : nullable),
  list("productLines", productLine, 0, 50),
  text("productLines.0.product_name", 120),
  text("productLines.0.spec", 120),
  ...["gross_gallons", "net_gallons", "temperature", "api_gravity"].map((field) =>
    number(`productLines.0.${field}`, "number", [0, -4.5, 7512.25, absent], []),
  ),
  optional("deliveryNotes", 2000),
  ["bolNumbers", "array of strings", [["B1", "B2"], [], absent], ["B1", [1]]],
];

describe("CreateDeliveryTicket", () => {
  limits("POST", () => "/delivery-tickets", { productLines: [productLine] }, ticketFields(true));

  it("every field is optional", async () => {
    expect((await sandbox.post("/delivery-tickets", {})).status).toBe(201);
  });
});

describe("PUT /delivery-tickets/{id}", () => {
  limits(
    "PUT",
    () => `/delivery-tickets/${ids.ticket}`,
    { productLines: [productLine] },
    ticketFields(false),
  );
});

describe("POST /delivery-tickets/{id}/sign", () => {
  limits("POST", () => `/delivery-tickets/${ids.ticket}/sign`, { receiverName: "R" }, [
    text("receiverName", 120, required),
    optional("discrepancies", 2000),
  ]);
});

const item = { description: "Fuel", amount: 1 };
const taxLine = { taxType: "Excise", amount: 1 };

describe("CreateInvoice", () => {
  limits("POST", () => "/invoices", bodies.invoice({ lineItems: [item], taxLines: [taxLine] }), [
    text("invoiceNumber", 50, required),
    number("subtotal", "number min 0, required", [0, 0.01, 1e9], [-0.01, null, absent]),
    number("total", "number min 0, required", [0, 0.01, 1e9], [-0.01, null, absent]),
    number("tax", "number min 0, default 0", [0, 0.01, absent], [-0.01]),
    list("lineItems", item, 1, 50),
    ["lineItems", "required", [[item]], [absent, null]],
    list("taxLines", taxLine, 0, 50),
    reference("orderId", "$order"),
    reference("payerCompanyId", "$customer"),
    time("dueDate"),
    text("notes", 2000, nullable),
    text("contractNumber", 64, nullable),
    text("poNumber", 64, nullable),
    text("lineItems.0.description", 200, required),
    ...["gallons", "grossGallons", "netGallons"].map((field) =>
      number(`lineItems.0.${field}`, "integer, nullable", [0, 1, -1, null, absent], [1.5]),
    ),
    number("lineItems.0.rate", "number, nullable", [0, 2.34567, null, absent], []),
    number("lineItems.0.amount", "number min 0", [0, 0.01], [-0.01, null, absent]),
    ...["product", "location", "spec", "bolNumber", "deliveryTicket", "carrier"].map(
      (field): Limit => [
        `lineItems.0.${field}`,
        "string, nullable",
        ["x", "", null, absent],
        [1, {}],
      ],
    ),
    time("lineItems.0.deliveredDate"),
    text("taxLines.0.taxType", 100, required),
    number("taxLines.0.amount", "number min 0, required", [0, 0.01], [-0.01, null, absent]),
    ["taxLines.0.authority", "string", ["IRS", absent], [1, null]],
    number("taxLines.0.rate", "number", [0.244, absent], [null]),
    number("taxLines.0.gallons", "integer", [7500, absent], [1.5, null]),
  ]);
});

describe("PUT /invoices/{id}/mark-paid", () => {
  limits("PUT", () => `/invoices/${ids.invoice}/mark-paid`, {}, [
    time("paidAt", false),
    text("notes", 1000, nullable),
  ]);
});

const price = bodies.price();

describe("BulkRackPrice", () => {
  limits("POST", () => "/pricing/bulk/rack", bodies.prices(), [
    list("prices", price, 1, 200),
    ["prices", "required", [[price]], [absent, null]],
    text("prices.0.terminalId", 50, required),
    text("prices.0.product", 100, required),
    number(
      "prices.0.price",
      "greater than 0 and at most 999999",
      [0.0001, 999_999],
      [0, -1, 999_999.01, null, absent],
    ),
    oneOf("prices.0.unit", ["gal", "ltr", "bbl", "mt"], "kg"),
    ["source", "manual by default", ["manual", absent], ["", 1, null]],
  ]);
});

describe("FreightCalculate", () => {
  limits("POST", () => "/pricing/freight-calculate", bodies.freight(), [
    text("originTerminalId", 100, required),
    [
      "destinationZip",
      "string 3-20, required",
      ["770", chars(20)],
      ["77", chars(21), 77002, absent],
    ],
    text("product", 100, required),
    number("gallons", "integer min 1, required", [1, 7500], [0, 1.5, null, absent]),
    number("ratePerMile", "number min 0", [0, 3.25], [-0.01]),
    number("distanceMiles", "number min 0", [0, 12.5], [-0.01]),
    number("fuelSurchargePercent", "number 0-100, default 0", [0, 100, absent], [-0.01, 100.01]),
    number("additionalFees", "number min 0, default 0", [0, 25, absent], [-0.01]),
    ["connectionId", "uuid", ["$connection", absent], ["4711", 1]],
    optional("originCity", 120),
    optional("originState", 2),
  ]);
});

const money = (field: string): Limit =>
  number(field, "number min 0, nullable", [0, 3.25, null, absent], [-0.01]);
const lane: readonly Limit[] = [
  ["originTerminalId", "uuid, nullable", ["$terminal", null, absent], ["4711", 1]],
  text("originCity", 120, nullable),
  text("originState", 2, nullable),
  [
    "destinationZipPrefix",
    "exactly three digits",
    ["770", null, absent],
    ["77", "7700", "77a", "٣٣٣", 770],
  ],
  [
    "destinationZip",
    "exactly five digits",
    ["77002", null, absent],
    ["7700", "770022", "7700a", 77002],
  ],
  text("product", 100, nullable),
  money("ratePerMile"),
  money("flatFee"),
  money("minCharge"),
  number("fuelSurchargePercent", "0-100, nullable", [0, 100, null, absent], [-0.01, 100.01]),
  time("effectiveAt", false),
  text("notes", 1000, nullable),
];
const fee = { label: "Pump", amount: 10, unit: "flat" };

describe("CreateFreightRate", () => {
  const base = { connectionId: "$connection", flatFee: 1, ratePerMile: 1, customFees: [fee] };
  limits("POST", () => `/connections/${known["connection"] ?? ""}/freight-rates`, base, [
    ...lane,
    ["connectionId", "uuid, required", ["$connection"], [absent, null, "4711", nowhere]],
    text("destinationCity", 120, nullable),
    text("destinationState", 2, nullable),
    oneOf("distanceUnit", ["MILES", "KILOMETERS"]),
    list("customFees", fee, 0, 20),
    ["customFees", "nullable", [null, absent], []],
    text("customFees.0.label", 100, required),
    number("customFees.0.amount", "number min 0", [0, 1.5, null, absent], [-0.01]),
    text("customFees.0.unit", 20, nullable),
  ]);
});

describe("UpdateFreightRate", () => {
  limits("PUT", () => `/freight-rates/${ids.rate}`, {}, lane);
});

describe.each(["/customers", "/suppliers"])("CreateParty: POST %s", (path) => {
  limits("POST", () => path, bodies.party(), [
    text("name", 200, required),
    optional("contactName", 200),
    [
      "contactEmail",
      "email format, max 200",
      ["a.b+c@example.com", `${chars(188)}@example.com`, absent],
      ["a", "a@", "@b.example", `${chars(189)}@example.com`],
    ],
    optional("contactPhone", 50),
    optional("phone", 50),
    optional("street", 200),
    optional("city", 100),
    optional("state", 100),
    optional("zip", 20),
    optional("country", 120),
    latitude("lat"),
    longitude("lng"),
    optional("externalId", 120),
    optional("notes", 2000),
  ]);
});

const terminalFields: readonly Limit[] = [
  text("city", 100, nullable),
  text("state", 100, nullable),
  text("zip", 20, nullable),
  text("country", 120, nullable),
  text("countryCode", 2, nullable),
  text("region", 120, nullable),
  latitude("lat", [null]),
  longitude("lng", [null]),
  number("capacity", "integer min 0, nullable", [0, 1, null, absent], [-1, 1.5]),
  text("operatingHours", 500, nullable),
  text("taxingAuthority", 200, nullable),
  oneOf("unitSystem", ["gal", "liter", "bbl"], "mt"),
  ["isActive", "boolean", [true, false, absent], ["true", 1, null]],
];

describe("UpsertTerminal: POST /supplier-terminals", () => {
  limits("POST", () => "/supplier-terminals", bodies.terminal(), [
    text("terminalCode", 50, required),
    text("name", 200, required),
    ...terminalFields,
  ]);
});

describe("UpsertTerminal: PUT /supplier-terminals/{id}", () => {
  limits("PUT", () => `/supplier-terminals/${ids.terminal}`, {}, [
    ["terminalCode", "string max 50", [chars(50), absent], [chars(51), "", null]],
    ["name", "string max 200", [chars(200), absent], [chars(201), "", null]],
    ...terminalFields,
  ]);
});

describe("reading: PUT /locations/{id} takes the fields of the answer", () => {
  const base = { contacts: [{ name: "Ana" }], schedules: [{ isOpen: false }] };
  limits("PUT", () => `/locations/${ids.location}`, base, [
    ["name", "string", ["Yard", absent], ["", 1, null]],
    ...["locationType", "street", "city", "state", "zip", "gateCode"].map((field): Limit => [
      field,
      "string, nullable",
      ["x", "", null, absent],
      [1],
    ]),
    ["country", "string", ["CA", absent], [1, null]],
    latitude("lat", [null]),
    longitude("lng", [null]),
    ["isActive", "boolean", [true, false, absent], ["true", 1, null]],
    ["contacts", "at least one", [[{ name: "Ben" }], absent], [[], "Ben", [1]]],
    ["contacts.0.name", "string, required", ["Ben"], ["", 1, null, absent]],
    ...["title", "email", "phone"].map((field): Limit => [
      `contacts.0.${field}`,
      "string, nullable",
      ["x", null, absent],
      [1],
    ]),
    ["contacts.0.isPrimary", "boolean", [true, false, absent], ["yes", null]],
    ["schedules.0.openTime", "string, nullable", ["08:00", null, absent], [8]],
    ["schedules.0.closeTime", "string, nullable", ["17:00", null, absent], [17]],
    ["compartments", "at least one", [[{}], absent], [[], {}, [1]]],
  ]);
});
