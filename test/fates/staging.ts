/** SQL staging in the table of fates: a real server, a job that books each row, and views of what it has booked. */
import { type Dialect, openSql, type Query, type SqlRow } from "../../src/ledger/sql.ts";
import { SqlStagingConfig } from "../../connectors/sql-staging/config.ts";
import { createViews, startServer } from "../sql-staging/server.ts";
import {
  type CuttingLine,
  cuttingLine,
  enter,
  filled,
  insert,
  stagingYaml,
  work,
} from "../sql-staging/site.ts";
import { openBooksSite } from "../support/books-site.ts";
import { today } from "../tryton/ledger.ts";
import { d, NO_NUMBER, PRODUCTS } from "./platform.ts";
import { type Counterpart, NO_COPY, NOT_CARRIED } from "./round.ts";
import type { Actor, Held, Side } from "./table.ts";

const NO_GOODS = "the tables take no orders and no tickets";
const NOT_THERE = "people work in the ERP, not in these tables, and it has no view of this kind";
const BY_ITSELF = "the ERP numbers what it books by itself";

/** The customer of what comes from the platform, whom the shipped tables name. */
const KNOWN = {
  code: "A-1001",
  name: "Lone Prairie Travel Centers, LLC",
  active: "1",
  is_customer: "1",
  is_supplier: "0",
};

/** One server and one database: a copy of a site gets the rows of its backup. */
export async function staging(dialect: Dialect): Promise<Counterpart & { end(): Promise<void> }> {
  const server = await startServer(dialect);
  const { settings, run } = await server.database();
  await createViews(run);
  const line = await cuttingLine(settings.port, /\bcommit\b/);
  return {
    connector: `sql-staging on ${dialect}`,
    async open(folder, backup) {
      line.heal();
      await restore(dialect, settings, backup ?? "{}");
      const site = await openBooksSite(folder, {
        name: "sql-staging",
        isCopy: backup !== undefined,
        scenario: "empty",
        change: (yaml) => stagingYaml(yaml, { ...settings, port: line.port }),
        secrets: { password: String(settings["password"]) },
        env: {},
        close: () => Promise.resolve(),
      });
      if (backup === undefined) await insert(run, "fuelbridge_parties", KNOWN);
      return {
        ...site,
        side: sideOf(run, line),
        backup: () => backupOf(run),
        // The ERP's job works between two looks.
        async here(...words) {
          const said = await site.here(...words);
          if (words[0] !== "once") return said;
          await work(run);
          return site.here(...words);
        },
      };
    },
    lacks: {
      ...NOT_CARRIED,
      "order to books": NO_GOODS,
      "purchase to books": NO_GOODS,
      "ticket to books": NO_GOODS,
      "delivery to books": NO_GOODS,
    },
    async end() {
      line.close();
      await server.stop();
    },
  };
}

/** In the order in which they name each other. */
const TABLES = [
  "document",
  "line",
  "tax",
  "parties",
  "invoices",
  "invoice_lines",
  "invoice_taxes",
  "prices",
].map((name) => `fuelbridge_${name}`);

async function backupOf(run: Query): Promise<string> {
  const kept: Record<string, readonly SqlRow[]> = {};
  for (const table of TABLES) kept[table] = await run(`select * from ${table}`);
  return JSON.stringify(kept);
}

async function restore(dialect: Dialect, settings: object, backup: string): Promise<void> {
  const kept = JSON.parse(backup) as Readonly<Record<string, readonly SqlRow[]>>;
  const wire = openSql(SqlStagingConfig.parse(settings));
  await wire.transaction(new AbortController().signal, async (query) => {
    for (const table of TABLES.toReversed()) await query(`delete from ${table}`);
    for (const table of TABLES)
      for (const row of kept[table] ?? []) {
        const { untold, ...cells } = row;
        void untold;
        const names = Object.keys(cells);
        const own = dialect === "postgresql" && "seq" in cells ? "overriding system value" : "";
        await query(
          `insert into ${table} (${names.join(", ")}) ${own} values (${names.map(() => "?").join(", ")})`,
          Object.values(cells),
        );
      }
  });
}

/** The same once more under another id and number. */
async function again(
  run: Query,
  row: SqlRow,
  values: Readonly<Record<"id" | "number", string> & { platform_id?: null }>,
): Promise<Held> {
  const part = (name: string) =>
    run(`select * from fuelbridge_invoice_${name} where invoice_id = ?`, [row["id"] ?? ""]);
  const head = filled({ ...row, ...values });
  await enter(run, head, await part("lines"), await part("taxes"));
  return { id: values.id, number: values.number, stands: true };
}

let counter = 0;

function sideOf(run: Query, line: CuttingLine): Side {
  const cutList = (view: string) => async () =>
    line.cut(new RegExp(`from fuelbridge_${view}`), "before");
  const rowOf = async (table: string, key: string, value: string): Promise<SqlRow> => {
    const [row] = await run(`select * from ${table} where ${key} = ?`, [value]);
    if (row === undefined) throw new Error(`${table} has no ${key} ${value}`);
    return row;
  };
  const staged = (kind: string): Actor => ({
    list: async () =>
      (
        await run(
          "select d.* from fuelbridge_document d where d.kind = ? and not exists (select 1 from fuelbridge_document n where n.kind = d.kind and n.id = d.id and n.version > d.version) order by d.seq",
          [kind],
        )
      ).map((row) => ({
        id: row["seq"] ?? "",
        number: row["number"] ?? null,
        partner: row["id"] ?? null,
        party: row["party_company_id"] ?? null,
        stands: row["state"] === "open" && !/rejected|withdrawn/.test(row["status"] ?? ""),
        names: [row["erp_number"] ?? `E-${row["seq"]}`],
      })),
    remove: async ({ partner }) => {
      const rows = "(select seq from fuelbridge_document where kind = ? and id = ?)";
      for (const part of ["line", "tax"])
        await run(`delete from fuelbridge_${part} where document_seq in ${rows}`, [
          kind,
          partner ?? "",
        ]);
      await run("delete from fuelbridge_document where kind = ? and id = ?", [kind, partner ?? ""]);
    },
    // The kind is the first value: quoted, or behind its length.
    cutWrite: async (when) =>
      line.cut(
        new RegExp(
          `insert into fuelbridge_document[^]*(?:\\('${kind}'|\\0${String.fromCodePoint(kind.length)}${kind}\\0)`,
        ),
        when,
      ),
    lacks: { renumber: BY_ITSELF, recode: NOT_THERE, void: NOT_THERE, copy: NOT_THERE },
  });
  /** The ERP's own invoice of one that was staged. */
  const booked = ({ partner }: Held) =>
    rowOf("fuelbridge_invoices", "platform_id", String(partner));
  const issued: Actor = {
    ...staged("invoice"),
    void: async (held) => {
      const { id = "" } = await booked(held);
      await run("update fuelbridge_invoices set state = 'cancelled', open = 0 where id = ?", [id]);
    },
    copy: async (held, byHand) => {
      const number = `H-${++counter}`;
      const mark = byHand === true ? { platform_id: null } : {};
      return again(run, await booked(held), { id: number, number, ...mark });
    },
    lacks: { renumber: BY_ITSELF, recode: NOT_THERE },
  };

  const customer = async (): Promise<SqlRow> => {
    const [row] = await run(
      "select * from fuelbridge_parties where is_customer = ? order by code desc limit 1",
      ["1"],
    );
    return row ?? {};
  };
  const make = async (prefix: string, more: Readonly<Record<string, string>>): Promise<Held> => {
    const number = `${prefix}-${1_000 + ++counter}`;
    const amount = String(1_000 + counter);
    const { code } = await customer();
    const invoice = {
      id: `own-${number}`,
      number,
      party_code: code ?? "",
      document_date: today(),
      untaxed: amount,
      tax: "0",
      total: amount,
      ...more,
    };
    const line = { description: "Diesel", quantity: amount, unit: "gal", unit_price: "1", amount };
    await enter(run, invoice, [{ product: "ULSD-CLR", ...line }], []);
    return { id: `own-${number}`, number, stands: true };
  };
  const invoices = (prefix: string, stands: (row: SqlRow) => boolean): Actor => ({
    list: async () =>
      (await run("select * from fuelbridge_invoices where platform_id is null order by id"))
        .filter(({ number }) => number?.startsWith(prefix))
        .map((row) => ({
          id: row["id"] ?? "",
          number: row["number"] ?? null,
          party: row["party_code"] ?? null,
          stands: stands(row),
        })),
    remove: async ({ id }) =>
      void (await run("delete from fuelbridge_invoices where id = ?", [id])),
    recode: async ({ id }) => {
      const { party_code } = await rowOf("fuelbridge_invoices", "id", id);
      await recode(run, party_code ?? "");
    },
    touch: async ({ id }) =>
      void (await run("update fuelbridge_invoices set id = id where id = ?", [id])),
    cutList: cutList("invoices"),
  });
  const own: Actor = {
    ...invoices("SI", ({ state }) => state === "posted"),
    make: () => make("SI", {}),
    renumber: async ({ id, number }) => {
      await run("update fuelbridge_invoices set number = ? where id = ?", [`${number}-NEW`, id]);
      return `${number}-NEW`;
    },
    void: async ({ id }) =>
      void (await run("update fuelbridge_invoices set state = 'cancelled' where id = ?", [id])),
    copy: async ({ id }) => {
      const number = `SI-${1_000 + ++counter}`;
      const row = await rowOf("fuelbridge_invoices", "id", id);
      return again(run, row, { id: `own-${number}`, number });
    },
  };
  const settlements: Actor = {
    ...invoices("PI", ({ state }) => state === "paid"),
    make: () => make("PI", { state: "paid", open: "0", paid_date: today(), cleared_by: "money" }),
    void: async ({ id }) =>
      void (await run(
        "update fuelbridge_invoices set state = 'posted', open = untaxed + tax, paid_date = null where id = ?",
        [id],
      )),
    lacks: {
      renumber: "no number of a payment goes to the platform: it is told that the invoice is paid",
      copy: "what is paid cannot be paid again: a second payment stays on the customer's account",
    },
  };

  const parties = (role: "is_customer" | "is_supplier"): Actor => {
    const [prefix, word] = role === "is_customer" ? ["F", "Farm"] : ["S", "Supply"];
    const add = async (name: string): Promise<Held> => {
      const code = `${prefix}-${1_000 + counter}`;
      const other = role === "is_customer" ? "is_supplier" : "is_customer";
      await insert(run, "fuelbridge_parties", {
        code,
        name,
        active: "1",
        [role]: "1",
        [other]: "0",
      });
      return { id: code, number: code, stands: true, names: [name] };
    };
    return {
      list: async () =>
        (
          await run(`select * from fuelbridge_parties where ${role} = ? order by code desc`, ["1"])
        ).map(({ code = "", name = "", active = "" }) => ({
          id: code ?? "",
          number: code,
          stands: /[t1]/.test(active ?? ""),
          names: [name ?? ""],
        })),
      make: () => add(`${word} ${1_000 + ++counter}`),
      recode: ({ id }) => recode(run, id),
      void: async ({ id }) =>
        void (await run("update fuelbridge_parties set active = ? where code = ?", ["0", id])),
      remove: async ({ id }) =>
        void (await run("delete from fuelbridge_parties where code = ?", [id])),
      copy: async ({ names }) => {
        counter++;
        return add(names?.[0] ?? "");
      },
      touch: async ({ id }) =>
        void (await run("update fuelbridge_parties set code = code where code = ?", [id])),
      cutList: cutList("parties"),
      lacks: { renumber: "the number of a party is its code" },
    };
  };

  const TERMINAL = "T-76-TX-2799";
  const priceOf = ({ product }: SqlRow): Held => ({
    id: product ?? "",
    number: `${TERMINAL} ${PRODUCTS[product ?? ""] ?? product}`,
    stands: true,
    names: [`${TERMINAL}|${product}`],
  });
  const priced = () => run("select * from fuelbridge_prices order by product");
  const prices: Actor = {
    list: async () => (await priced()).map(priceOf),
    make: async () => {
      const there = (await priced()).map(({ product }) => product);
      const product = Object.keys(PRODUCTS).find((one) => !there.includes(one)) ?? "";
      const price = { list: TERMINAL, product, price: d("2.5").plain(), unit: "gal" };
      await insert(run, "fuelbridge_prices", price);
      return priceOf(price);
    },
    recode: async ({ id }) =>
      void (await run("update fuelbridge_prices set product = ? where product = ?", [
        "ULSD-NEW",
        id,
      ])),
    remove: async ({ id }) =>
      void (await run("delete from fuelbridge_prices where product = ?", [id])),
    copy: async ({ id }) => {
      const price = { list: TERMINAL, product: id, price: "2.6", unit: "gal" };
      await insert(run, "fuelbridge_prices", price);
      return priceOf(price);
    },
    touch: async ({ id }) =>
      void (await run("update fuelbridge_prices set product = product where product = ?", [id])),
    cutList: cutList("prices"),
    lacks: { renumber: NO_NUMBER, void: "a price that holds no more is not in the view" },
  };
  return {
    "invoice to books": issued,
    "bill to books": staged("bill"),
    "payment to books": {
      ...staged("payment"),
      lacks: { ...staged("payment").lacks, copy: NO_COPY },
    },
    "customer to platform": parties("is_customer"),
    "supplier to platform": parties("is_supplier"),
    "invoice to platform": own,
    "payment to platform": settlements,
    "price to platform": prices,
  };
}

/** A party's code changes in the ERP, and in all that names it. */
async function recode(run: Query, code: string): Promise<void> {
  for (const [table, column] of [
    ["fuelbridge_parties", "code"],
    ["fuelbridge_invoices", "party_code"],
  ] as const)
    await run(`update ${table} set ${column} = ? where ${column} = ?`, [`${code}-NEW`, code]);
}
