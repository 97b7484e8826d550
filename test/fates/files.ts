/**
 * An ERP that exchanges files, in the table of fates: lists of its own, which it exports whole whenever something in them
 * has changed, and a folder that it imports from. What it does with an imported document nobody sees.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { openBooksSite } from "../support/books-site.ts";
import { NO_NUMBER, PRODUCTS } from "./platform.ts";
import { type Counterpart, NOT_CARRIED } from "./round.ts";
import type { Actor, Held, Side } from "./table.ts";

interface Party {
  readonly id: string;
  code: string;
  readonly name: string;
}
interface Invoice {
  readonly id: string;
  number: string;
  readonly party: string;
  readonly reference: string;
  readonly amount: string;
  isVoid: boolean;
  isPaid: boolean;
}
interface Price {
  readonly id: string;
  product: string;
  readonly price: string;
}
interface Lists {
  counter: number;
  exports: number;
  customers: Party[];
  suppliers: Party[];
  invoices: Invoice[];
  prices: Price[];
}
type Name = "customers" | "suppliers" | "invoices" | "prices" | "paid";

const TERMINAL = "T-76-TX-2799";
const LIST = "T-76-TX-2799 San Antonio (Hwy 181)";
const UNSEEN = "what the ERP does with an imported file nobody sees here";
const NOT_THERE = { renumber: UNSEEN, void: UNSEEN, remove: UNSEEN, copy: UNSEEN } as const;

export const files: Counterpart = {
  connector: "files",
  async open(folder, backup) {
    const erp = join(folder, "var", "demo", "erp");
    for (const name of ["export", ...FOLDERS.map((one) => `import/${one}`)])
      mkdirSync(join(erp, name), { recursive: true });
    const site = await openBooksSite(folder, {
      name: "demo",
      isCopy: backup !== undefined,
      scenario: "empty",
      change: (yaml) =>
        yaml.replace("  environment: live\n", "  environment: live\n  settle: 1s\n"),
      secrets: {},
      env: {},
      close: () => Promise.resolve(),
    });
    const lists: Lists =
      backup === undefined
        ? { counter: 0, exports: 0, customers: [], suppliers: [], invoices: [], prices: [] }
        : (JSON.parse(backup) as Lists);
    const cut = new Set<Name>();
    const changed = new Set<Name>();
    const repair: (() => void)[] = [];
    return {
      ...site,
      side: sideOf(lists, erp, changed, cut, repair),
      backup: () => JSON.stringify(lists),
      async here(...args) {
        if (args[0] !== "once") return site.here(...args);
        for (const name of changed) exportOf(name, lists, join(erp, "export"), cut.has(name));
        changed.clear();
        cut.clear();
        const said = await site.here(...args);
        for (const mend of repair.splice(0)) mend();
        return said;
      },
    };
  },
  lacks: {
    ...NOT_CARRIED,
    "payment to books": "the demo's configuration has no flow of payments to files",
  },
};

const FOLDERS = ["invoices", "bills", "orders", "tickets"] as const;

function sideOf(
  lists: Lists,
  erp: string,
  changed: Set<Name>,
  cut: Set<Name>,
  repair: (() => void)[],
): Side {
  const next = (): number => 1_000 + ++lists.counter;
  const cutList = (name: Name) => async () => {
    changed.add(name);
    cut.add(name);
  };

  const received = (name: (typeof FOLDERS)[number]): Actor => ({
    list: async () => {
      const folder = join(erp, "import", name);
      const rows = readdirSync(folder).flatMap((file) =>
        parse<Record<string, string>>(readFileSync(join(folder, file), "utf8"), {
          columns: true,
          bom: true,
          relax_column_count: true,
        })
          .filter(({ record }) => record === "H")
          .map((row) => ({ file, row })),
      );
      // A newer file of a document takes the place of an older one.
      const newest = new Map(
        rows
          .toSorted((one, other) =>
            (one.row["version"] ?? "").localeCompare(other.row["version"] ?? "", "en"),
          )
          .map((one) => [one.row["id"], one.row]),
      );
      return [...newest.values()].map((row) => ({
        id: `imported ${row["id"]}`,
        number: row["number"] ?? null,
        partner: row["id"] ?? "",
        party: row["account"] ?? row["customer"] ?? row["vendor"] ?? null,
        stands: !/VOID|CANCELLED/.test(row["status"] ?? ""),
      }));
    },
    cutWrite: async () => {
      const folder = join(erp, "import", name);
      // Two kinds of documents may go into it.
      if (existsSync(`${folder}.away`)) return;
      renameSync(folder, `${folder}.away`);
      writeFileSync(folder, "");
      repair.push(() => {
        rmSync(folder);
        renameSync(`${folder}.away`, folder);
      });
    },
    lacks: {
      ...NOT_THERE,
      recode:
        "the platform's parties are brought into codes by a table of ours, and the ERP tells no other",
    },
  });

  const partyOf = ({ id, code, name }: Party): Held => ({
    id,
    number: code,
    stands: true,
    names: [name],
  });
  const parties = (name: "customers" | "suppliers", letter: string): Actor => {
    const add = (called: string): Held => {
      const number = next();
      const party = { id: String(number), code: `${letter}-${number}`, name: called };
      lists[name].push(party);
      changed.add(name);
      return partyOf(party);
    };
    return {
      list: async () => lists[name].map(partyOf),
      make: async () => add(`${name === "customers" ? "Farm" : "Supply"} ${lists.counter}`),
      recode: async ({ id }) => {
        for (const one of lists[name]) if (one.id === id) one.code = `${one.code}-NEW`;
        changed.add(name);
      },
      remove: async ({ id }) => {
        lists[name] = lists[name].filter((one) => one.id !== id);
        changed.add(name);
      },
      copy: async ({ id }) => add(lists[name].find((one) => one.id === id)?.name ?? ""),
      touch: async () => void changed.add(name),
      cutList: cutList(name),
      lacks: {
        renumber: "the number of a party is its code",
        void: "the list has no column that says so: a party that is inactive is not in it",
      },
    };
  };

  const invoiceOf = ({ id, number, isVoid, party, reference }: Invoice): Held => ({
    id,
    number,
    party,
    stands: !isVoid,
    names: [reference],
  });
  const invoice = (): Invoice => {
    const number = next();
    const made = {
      id: String(number),
      number: `FL-${number}`,
      party: lists.customers.at(-1)?.id ?? "",
      reference: `REF-${number}`,
      amount: `${number}.00`,
      isVoid: false,
      isPaid: false,
    };
    lists.invoices.push(made);
    changed.add("invoices");
    return made;
  };
  const find = (id: string): Invoice => {
    const found = lists.invoices.find((one) => one.id === id);
    if (found === undefined) throw new Error(`the ERP has no invoice ${id}`);
    return found;
  };
  const edit = (id: string, values: Partial<Invoice>): void => {
    Object.assign(find(id), values);
    changed.add("invoices");
  };
  const own: Actor = {
    list: async () => lists.invoices.filter(({ isPaid }) => !isPaid).map(invoiceOf),
    make: async () => invoiceOf(invoice()),
    renumber: async ({ id }) => {
      edit(id, { number: `${find(id).number}-NEW` });
      return find(id).number;
    },
    recode: async ({ id }) => {
      for (const one of lists.customers)
        if (one.id === find(id).party) one.code = `${one.code}-NEW`;
      changed.add("customers");
      changed.add("invoices");
    },
    void: async ({ id }) => edit(id, { isVoid: true }),
    remove: async ({ id }) => {
      lists.invoices = lists.invoices.filter((one) => one.id !== id);
      changed.add("invoices");
    },
    copy: async ({ id }) => {
      const { amount, party, reference } = find(id);
      const copied = invoice();
      Object.assign(copied, { amount, party, reference });
      return invoiceOf(copied);
    },
    touch: async () => void changed.add("invoices"),
    cutList: cutList("invoices"),
  };
  const settlements: Actor = {
    list: async () => lists.invoices.filter(({ isPaid }) => isPaid).map(invoiceOf),
    make: async () => {
      const made = invoice();
      made.isPaid = true;
      changed.add("paid");
      return invoiceOf(made);
    },
    remove: async ({ id }) => {
      edit(id, { isPaid: false });
      changed.add("paid");
    },
    touch: async () => void changed.add("paid"),
    cutList: cutList("paid"),
    recode: async (held) => own.recode?.(held),
    lacks: {
      renumber: "no number of a payment goes to the platform: it is told that the invoice is paid",
      void: "the export says of an invoice whether it is paid, and nothing of payments",
      copy: "the export says of an invoice whether it is paid, and nothing of payments",
    },
  };

  const priceOf = ({ id, product }: Price): Held => ({
    id,
    number: `${TERMINAL} ${PRODUCTS[product] ?? product}`,
    stands: true,
    names: [`${LIST}|${product}`, `${TERMINAL}|${product}`],
  });
  const addPrice = (product: string, price: string): Held => {
    const made = { id: String(next()), product, price };
    lists.prices.push(made);
    changed.add("prices");
    return priceOf(made);
  };
  const prices: Actor = {
    list: async () => lists.prices.map(priceOf),
    make: async () => {
      const there = lists.prices.map(({ product }) => product);
      return addPrice(Object.keys(PRODUCTS).find((one) => !there.includes(one)) ?? "", "2.5");
    },
    recode: async ({ id }) => {
      for (const one of lists.prices) if (one.id === id) one.product = "ULSD-NEW";
      changed.add("prices");
    },
    remove: async ({ id }) => {
      lists.prices = lists.prices.filter((one) => one.id !== id);
      changed.add("prices");
    },
    copy: async ({ id }) =>
      addPrice(lists.prices.find((one) => one.id === id)?.product ?? "", "2.6"),
    touch: async () => void changed.add("prices"),
    cutList: cutList("prices"),
    lacks: {
      renumber: NO_NUMBER,
      void: "the list has no column that says so: a price that ends is not in it",
    },
  };
  return {
    "invoice to books": received("invoices"),
    "bill to books": received("bills"),
    "order to books": received("orders"),
    "purchase to books": received("orders"),
    "ticket to books": received("tickets"),
    "delivery to books": received("tickets"),
    "customer to platform": parties("customers", "C"),
    "supplier to platform": parties("suppliers", "V"),
    "invoice to platform": own,
    "payment to platform": settlements,
    "price to platform": prices,
  };
}

/** As Tryton's lists have them. @param isCut behind its first row: nothing in the file says that more was meant to come */
function exportOf(name: Name, lists: Lists, folder: string, isCut: boolean): void {
  const at = String(++lists.exports).padStart(4, "0");
  const put = (file: string, rows: readonly object[], mayBeCut = isCut): void => {
    const all = rows as readonly Record<string, string>[];
    const columns = all.length === 0 ? TAX_COLUMNS : Object.keys(all[0] ?? {});
    const kept = mayBeCut ? all.slice(0, 1) : all;
    const lines = kept.map((row) =>
      columns.map((column) => `"${(row[column] ?? "").replaceAll('"', '""')}"`).join(","),
    );
    const path = join(folder, `${file}-${at}.csv`);
    writeFileSync(`${path}.tmp`, [columns.join(","), ...lines, ""].join("\r\n"));
    renameSync(`${path}.tmp`, path);
  };
  if (name === "customers" || name === "suppliers") {
    const term = name === "customers" ? "Customer Payment Term" : "Supplier Payment Term";
    put(
      name,
      lists[name].map((one) => ({
        ID: one.id,
        Code: one.code,
        Name: one.name,
        Phone: "",
        Mobile: "",
        "E-Mail": "",
        "Addresses/Building Name": "",
        "Addresses/Street": "1 Gin Road",
        "Addresses/Postal Code": "77001",
        "Addresses/City": "Houston",
        "Addresses/Subdivision/Code": "US-TX",
        "Addresses/Country/Code": "US",
        [term]: "Net 30",
      })),
    );
  } else if (name === "prices")
    put(
      "price-lists",
      lists.prices.map((one, line) => ({
        ID: line === 0 ? "1" : "",
        Name: line === 0 ? LIST : "",
        Unit: "",
        "Tax Included": line === 0 ? "0" : "",
        "Lines/Sequence": String(line + 1),
        "Lines/Product/Code": one.product,
        "Lines/Product": "",
        "Lines/Category": "",
        "Lines/Quantity": "",
        "Lines/Formula": one.price,
        "Edited at": "",
        "Created at": "",
      })),
    );
  else if (name === "paid") {
    const paid = lists.invoices.filter(({ isPaid }) => isPaid);
    put(
      "paid-invoices",
      paid.map((one) => headOf(lists, one, true)),
    );
  } else {
    put("customer-invoice-taxes", [], false);
    put("customer-invoice-lines", lists.invoices.map(lineOf), false);
    put(
      "customer-invoices",
      lists.invoices.map((one) => headOf(lists, one, false)),
    );
  }
}

const TAX_COLUMNS = [
  "ID",
  "Invoice/ID",
  "Invoice/Number",
  "Sequence",
  "Description",
  "Tax",
  "Base",
  "Amount",
  "Manual",
];

const headOf = (lists: Lists, one: Invoice, isPaid: boolean): object => ({
  ID: one.id,
  Number: one.number,
  Reference: one.reference,
  Description: "",
  State: one.isVoid ? "cancelled" : isPaid ? "paid" : "posted",
  "Invoice Date": TODAY,
  "Party/Code": lists.customers.find(({ id }) => id === one.party)?.code ?? "",
  Party: "",
  "Currency/Code": "USD",
  "Payment Term": "",
  "Lines to Pay/Maturity Date": "",
  Untaxed: one.amount,
  Tax: "0.00",
  Total: one.amount,
  "Amount to Pay": isPaid || one.isVoid ? "0.00" : one.amount,
  Reconciled: isPaid ? TODAY : "",
  Comment: "",
  "Edited at": "",
});

const lineOf = (one: Invoice): object => ({
  ID: `${one.id}1`,
  "Invoice/ID": one.id,
  "Invoice/Number": one.number,
  Sequence: "1",
  Type: "line",
  "Product/Code": "ULSD-CLR",
  "Product/Product Template/Name": "",
  Description: "Diesel",
  Quantity: one.amount,
  "Unit/Symbol": "gal",
  "Unit Price": "1",
  Amount: one.amount,
});

/** As people of the company write it. */
const TODAY = new Intl.DateTimeFormat("en-US", {
  timeZone: "America/Chicago",
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
}).format(new Date());
