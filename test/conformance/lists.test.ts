/** Part 4 and its readings: what the filters of every list find, what no query may say, and what lists show of a record. */
import { describe, expect, it } from "vitest";
import { nowhere, orderLine, price, terminal } from "./samples.ts";
import { chars, idsOf, instant, invalid, type Row, useSandbox } from "./support.ts";

const sandbox = useSandbox();
const { control } = sandbox;

const pathOf = (resource: string): string =>
  resource === "rack-prices" ? "/pricing/rack" : `/${resource}`;
const listed = async (resource: string, query: string, as = "supplier"): Promise<unknown[]> =>
  idsOf((await sandbox.get(`${pathOf(resource)}?${query}`, { as })).rows);

const ids = {
  order: "10000000-0000-4000-8000-000000000002",
  invoice: "10000000-0000-4000-8000-000000000004",
};
const statuses = {
  orders:
    "DRAFT POSTED BIDDING ASSIGNED CONFIRMED IN_TRANSIT DELIVERED PENDING_VERIFICATION INVOICED CANCELLED",
  "delivery-tickets": "DRAFT ISSUED SIGNED VOID",
  invoices: "DRAFT OUTSTANDING PAID OVERDUE DISPUTED VOID",
  connections: "PENDING INFO_REQUESTED RESUBMITTED ACCEPTED DECLINED",
};

/** Among records that a query finds and others; what the scenario holds besides is left out. */
async function expectFound(resource: string, query: string, found: Row[], others: Row[]) {
  const given = { connections: { toCompanyId: sandbox.company("customer") } }[resource] ?? {};
  const made = idsOf(
    await control.records(
      resource,
      [...found, ...others].map((fields) => ({ ...given, ...fields })),
    ),
  );
  const rows = (await listed(resource, query)).filter((id) => made.includes(id));
  expect(new Set(rows)).toEqual(new Set(made.slice(0, found.length)));
  expect(rows).toHaveLength(found.length);
}

describe("filters", () => {
  it.each(
    Object.entries(statuses).flatMap(([resource, all]) =>
      all.split(" ").map((status) => [resource, status, all.split(" ")] as const),
    ),
  )("GET /%s?status=%s", async (resource, status, all) => {
    const others = all.filter((other) => other !== status).map((other) => ({ status: other }));
    await expectFound(resource, `status=${status}`, [{ status }], others);
  });

  const lines = (product: string): Row => ({ lines: [orderLine({ product })] });
  it.each<[string, string, Row[], Row[]]>([
    ["orders", "product=ulsd%20%232", [lines("ULSD #2")], [lines("ULSD")]],
    [
      "orders",
      "search=gate",
      [{ notes: "Leave at GATE four" }, { loadingNumber: "LN-gate-1" }, lines("Gate oil")],
      [{}],
    ],
    ...["%25", "_", "%27", "*"].map((sign): [string, string, Row[], Row[]] => [
      "orders",
      `search=${sign}`,
      [],
      [{ notes: "plain" }],
    ]),
    [
      "orders",
      "status=BIDDING&search=gate",
      [{ status: "BIDDING", notes: "gate" }],
      [
        { status: "BIDDING", notes: "none" },
        { status: "POSTED", notes: "gate" },
      ],
    ],
    ["delivery-tickets", `orderId=${ids.order}`, [{ orderId: ids.order }], [{}]],
    ["delivery-tickets", `orderId=${nowhere}`, [], [{ orderId: ids.order }, {}]],
    ["invoices", `orderId=${ids.order}`, [{ orderId: ids.order }], [{}]],
    [
      "invoices",
      "search=gate",
      [{ invoiceNumber: "A-gate-1" }, { notes: "At the GATE" }],
      [{ poNumber: "gate", lineItems: [{ description: "gate", amount: 1 }] }, {}],
    ],
    ["payments", `invoiceId=${ids.invoice}`, [{ invoiceId: ids.invoice }], []],
    ["payments", `invoiceId=${nowhere}`, [], [{ invoiceId: ids.invoice }]],
    ["locations", "search=gate", [{ name: "North Gate" }, { city: "Gateway" }], [{ name: "Yard" }]],
    ["locations", "isActive=true", [{ isActive: true }], [{ isActive: false }]],
    ["locations", "isActive=false", [{ isActive: false }], [{ isActive: true }]],
    ["locations", "", [{ isActive: true }, { isActive: false }], []],
    [
      "supplier-terminals",
      "search=gate",
      [terminal({ name: "Gate" }), terminal({ terminalCode: "T-GATE" })],
      [terminal()],
    ],
    ["supplier-terminals", "state=LA", [terminal({ state: "LA" })], [terminal({ state: "TX" })]],
    ["rack-prices", "terminalId=DAL-1", [price({ terminalId: "DAL-1" })], [price()]],
    ["rack-prices", "product=ulsd", [price()], [price({ product: "REG" })]],
    ["rack-prices", "product=ULS", [], [price()]],
    [
      "rack-prices",
      "product=REG&terminalId=HOU-1",
      [price({ product: "REG" })],
      [price(), price({ product: "REG", terminalId: "DAL-1" })],
    ],
  ])("GET /%s?%s; reading: parts of a text, case ignored; a product as a whole", async (...row) => {
    await control.records("orders", [{ id: ids.order, status: "CONFIRMED" }]);
    await control.records("invoices", [{ id: ids.invoice, invoiceNumber: "PAID" }]);
    await expectFound(...row);
  });

  const refused = `/orders?status=posted /orders?sortBy=total /orders?sortOrder=up
    /delivery-tickets?orderId=4711 /delivery-tickets?status=OPEN /delivery-tickets?status=draft
    /invoices?status=OPEN /invoices?role=owner /invoices?orderId=1
    /payments?invoiceId=1 /payments?role=owner /connections?direction=both /connections?status=OPEN
    /locations?isActive=1 /locations?isActive=TRUE /supplier-terminals?state=TEX`;
  it.each(refused.split(/\s+/))("GET %s is 400", async (url) => {
    expect(await sandbox.get(url)).toMatchObject(invalid);
  });

  it.each([
    ["/orders", "product", 50],
    ["/pricing/rack", "product", 50],
    ["/pricing/rack", "terminalId", 50],
    ...["/orders", "/invoices", "/connections", "/locations", "/supplier-terminals"].map(
      (path) => [path, "search", 100] as const,
    ),
  ] as const)("GET %s: %s: string max %i", async (path, name, max) => {
    expect((await sandbox.get(`${path}?${name}=${chars(max)}`)).status).toBe(200);
    expect(await sandbox.get(`${path}?${name}=${chars(max + 1)}`)).toMatchObject(invalid);
  });
});

describe("GET /invoices and /payments: role defaults to issuer, payer lists what the caller has to pay", () => {
  it("reading: without drafts", async () => {
    const [payer, other] = [sandbox.company("customer"), sandbox.company("carrier")];
    const invoices = idsOf(
      await control.records("invoices", [
        { status: "OUTSTANDING", payerCompanyId: payer },
        { status: "OUTSTANDING", payerCompanyId: other },
        { status: "DRAFT", payerCompanyId: payer },
      ]),
    );
    const payments = idsOf(
      await control.records(
        "payments",
        invoices.slice(0, 2).map((invoiceId) => ({ invoiceId, amount: 1, paidAt: instant(1) })),
      ),
    );
    for (const [resource, all] of [
      ["invoices", invoices],
      ["payments", payments],
    ] as const) {
      for (const query of ["", "role=issuer"])
        expect(new Set(await listed(resource, query))).toEqual(new Set(all));
      expect(await listed(resource, "role=payer")).toEqual([]);
      expect(await listed(resource, "role=payer", "customer")).toEqual([all[0]]);
      for (const query of ["", "role=issuer"])
        expect(await listed(resource, query, "customer")).toEqual([]);
    }
  });
});

describe("reading: lists show lines", () => {
  it.each([
    ["orders", "lines", { lines: [orderLine()] }],
    ["invoices", "lineItems", { lineItems: [{ description: "d", amount: 1 }] }],
  ])("GET /%s: %s; switched, listsCarryLines false leaves them to the detail", async (...row) => {
    const [resource, field, fields] = row;
    const [record] = await control.records(resource, [fields]);
    const first = async () => (await sandbox.get(`/${resource}`)).rows[0]?.[field];
    expect(await first()).toHaveLength(1);
    await control.readings({ listsCarryLines: false });
    expect((await first()) ?? []).toEqual([]);
    const { data } = await sandbox.get(`/${resource}/${String(record?.["id"])}`);
    expect(data[field]).toHaveLength(1);
  });
});
