/** The `sql-staging` section of a configuration. */
import { z } from "zod";
import { deadlineMs, secret, settleAfter, settleMs } from "../../src/ledger/settings.ts";
import { dialects, isHere } from "../../src/ledger/sql.ts";

const word = (what: string) => z.string().min(1).max(128).describe(what);
const hours = (least: number, what: string) =>
  z.int().min(least).max(720).default(26).describe(what);

export const SqlStagingConfig = z
  .strictObject({
    dialect: z.enum(dialects).describe("postgresql (12 or later) or mariadb (10.6 or later)."),
    host: word("The server's name or address; of PostgreSQL also the folder of its socket."),
    port: z.int().min(1).max(65_535).optional().describe("Left out: 5432, of MariaDB 3306."),
    database: word("The database with the tables that fuelbridge sql schema prints."),
    user: word("A user of its own, who may read and write these tables and no others."),
    password: secret("The user's password"),
    tls: z
      .boolean()
      .optional()
      .describe(
        "Encrypted, with the server's certificate checked. Left out: where it is another machine.",
      ),
    views: z
      .array(z.enum(["parties", "invoices", "prices"]))
      .default([])
      .describe(
        "The views that the ERP offers: fuelbridge_parties and so on; invoices takes those of lines and taxes besides.",
      ),
    answerWithin: hours(
      1,
      "Hours that the ERP's job may take to answer a row before a person is told.",
    ),
    viewWithin: hours(
      0,
      "Hours after which the view of invoices must have what the job accepted, before a person is told. 0: nobody is told, for the view leaves some out.",
    ),
    settleAfter,
    deadlineMs: deadlineMs(30_000, "; a lock is waited for no longer"),
    settleMs: settleMs(60_000, "How long a commit whose answer was lost may still be running."),
  })
  .refine(({ host, tls }) => tls !== false || isHere(host), {
    path: ["tls"],
    error: "is false, which is for a server on this machine only",
  });

export type SqlStagingConfig = z.infer<typeof SqlStagingConfig>;
