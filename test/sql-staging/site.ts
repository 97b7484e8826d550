/** What a site with staging tables is in the tests: its settings, lines that are cut, and a job that books each row. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { Decimal } from "../../src/core/decimal.ts";
import type { Query, SqlRow } from "../../src/ledger/sql.ts";
import type { Booked } from "../support/booked.ts";

/** The shipped settings with all views and flows, for a database of the tests. */
export const stagingYaml = (yaml: string, settings: Readonly<Record<string, unknown>>): string =>
  yaml
    .replace("dialect: postgresql", `dialect: ${String(settings["dialect"])}`)
    .replace("# port: 5432", `port: ${String(settings["port"])}\n    settleMs: 0`)
    .replace("database: staging", `database: ${String(settings["database"])}`)
    .replace("user: fuelbridge", `user: ${String(settings["user"])}`)
    .replace("views: []", "views: [parties, invoices, prices]")
    .replace("  environment: live\n", "  environment: live\n  settle: 1s\n")
    .replaceAll(/^ {2}# (?! )(\w[\w-]*:\n)((?: {2}# {3}.*\n)+)/gm, (flow: string) =>
      flow.replaceAll(/^ {2}# /gm, "  "),
    );

/** `before`: nothing of it arrives. `after`: it is carried out, and nobody hears of it. */
export type Cut = "before" | "after";

/** Between the program and a server: what matches is cut off, with its line. */
export interface CuttingLine {
  readonly port: number;
  /** The server behind it: the next line goes there. */
  to(port: number): void;
  /** The next message that matches. */
  cut(message: RegExp, when: Cut): void;
  /** Of every message, beside {@link cut}: null lets it through. */
  meets: (message: string) => Cut | null;
  /** Told when a line has been cut. */
  isCut: () => void;
  heal(): void;
  close(): void;
}

/** @param ends the message whose answer is the last that counts */
export async function cuttingLine(port: number, ends: RegExp): Promise<CuttingLine> {
  const armed = new Set<{ message: RegExp; when: Cut }>();
  let behind = port;
  const sockets = new Set<Socket>();
  const whenOf = (text: string): Cut | null => {
    for (const one of armed)
      if (one.message.test(text)) {
        armed.delete(one);
        return one.when;
      }
    return line.meets(text);
  };
  const relay = createServer((near) => {
    const far = connect(behind, "127.0.0.1");
    let isDeaf = false;
    let isCommitting = false;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on("data", (bytes) => {
      const text = bytes.toString("latin1");
      const meets = isDeaf ? null : whenOf(text);
      if (meets === "before") {
        near.destroy();
        return line.isCut();
      }
      isDeaf ||= meets === "after";
      isCommitting ||= isDeaf && ends.test(text);
      far.write(bytes);
    });
    far.on("data", (bytes) => {
      if (!isCommitting) return void near.write(bytes);
      near.destroy();
      line.isCut();
    });
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");
  const address = relay.address();
  const line: CuttingLine = {
    port: typeof address === "object" && address !== null ? address.port : 0,
    to: (next) => void (behind = next),
    cut: (message, when) => void armed.add({ message, when }),
    meets: () => null,
    isCut: () => {},
    heal: () => armed.clear(),
    close() {
      for (const socket of sockets) socket.destroy();
      relay.close();
    },
  };
  return line;
}

/** What the ERP's job does: it takes each row, books it, and answers. */
export async function work(run: Query): Promise<void> {
  await run("update fuelbridge_document set status = 'taken' where status = 'new'");
  const taken = await run("select * from fuelbridge_document where status = 'taken' order by seq");
  for (const { seq = "", kind, id = "", state, invoice_id = "", total = "", ...row } of taken) {
    if (kind === "payment")
      for (const change of [
        "open = open - cast(? as decimal(20, 4)) where platform_id = ?",
        "state = 'paid', paid_date = document_date where open = 0 and ? <> '' and platform_id = ?",
      ])
        await run(`update fuelbridge_invoices set ${change}`, [total, invoice_id]);
    else if (state === "void")
      await run(
        "update fuelbridge_invoices set state = 'cancelled', open = 0 where platform_id = ?",
        [id],
      );
    else if (kind === "invoice") {
      const booked = {
        id: `E-${seq}`,
        // An ERP may number by itself, or keep what the customer has seen.
        number: Number(seq) % 2 === 0 ? `E-${seq}` : (row["number"] ?? ""),
        party_code: row["party_code"] ?? "",
        document_date: row["document_date"]?.slice(0, 10) ?? "",
        untaxed: row["subtotal"] ?? "",
        tax: row["tax"] ?? "",
        total: total ?? "",
        platform_id: id ?? "",
      };
      await enter(
        run,
        booked,
        await run("select * from fuelbridge_line where document_seq = ?", [seq]),
        await run("select * from fuelbridge_tax where document_seq = ?", [seq]),
      );
    }
    await run(
      "update fuelbridge_document set status = 'accepted', erp_number = concat('E-', seq), answered_at = current_timestamp where seq = ?",
      [seq],
    );
  }
}

const LINE = ["product", "description", "quantity", "unit", "unit_price", "amount"];
const TAX = ["description", "base", "amount"];

/** An invoice in the ERP, posted and open unless it says otherwise. */
export async function enter(
  run: Query,
  invoice: Readonly<Record<string, string>>,
  lines: readonly SqlRow[],
  taxes: readonly SqlRow[],
): Promise<void> {
  await insert(run, "fuelbridge_invoices", {
    state: "posted",
    currency: "USD",
    open: invoice["total"] ?? "",
    due_date: invoice["document_date"] ?? "",
    ...invoice,
  });
  for (const [part, columns, rows] of [
    ["lines", LINE, lines],
    ["taxes", TAX, taxes],
  ] as const)
    for (const row of rows) {
      const cells = filled(
        Object.fromEntries(columns.map((column) => [column, row[column] ?? null])),
      );
      await insert(run, `fuelbridge_invoice_${part}`, {
        invoice_id: invoice["id"] ?? "",
        ...cells,
      });
    }
}

export const insert = (run: Query, table: string, cells: Readonly<Record<string, string>>) =>
  run(
    `insert into ${table} (${Object.keys(cells).join(", ")}) values (${Object.keys(cells)
      .map(() => "?")
      .join(", ")})`,
    Object.values(cells),
  );

/** Cells that say something. */
export const filled = (row: SqlRow): Record<string, string> =>
  Object.fromEntries(Object.entries(row).flatMap(([name, text]) => (text ? [[name, text]] : [])));

/** What a row says is booked; a payment and what is void say nothing. */
export function bookedIn(row: SqlRow): Booked[] {
  const { kind, state, side, party_code, document_date, total } = row;
  if (kind === "payment" || state === "void") return [];
  return [
    {
      type: side === "sale" ? "out" : "in",
      party: party_code ?? "",
      date: document_date?.slice(0, 10) ?? "",
      total: Decimal.of(total ?? "0").shortest(),
      lines: [],
    },
  ];
}
