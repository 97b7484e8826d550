/** A site whose ERP is a real Tryton: the shipped configuration, a platform, and books of its own. */
import type { Quarantined, QuarantineGroup } from "../../src/office/answers.ts";
import { type BooksSite, type Laying, openBooksSite } from "../support/books-site.ts";
import type { Said } from "../support/site-program.ts";
import type { Books } from "../support/tryton.ts";
import { logIn, type Rpc } from "./rpc.ts";

export type { Members } from "../support/books-site.ts";

/** Why a document is not in step: its group, and the document. */
export type Parked = Pick<QuarantineGroup, "flow" | "code" | "cause"> &
  Pick<Quarantined, "number" | "recordId">;

export interface Site extends BooksSite {
  readonly books: Books;
  /** The books, asked beside fuelbridge by the first user. */
  readonly tryton: Rpc;
  /** As a program of its own. */
  command(...args: string[]): Promise<Said>;
  parked(): Promise<Parked[]>;
}

/** Before anything has run, unless it is a copy. */
export async function openSite(
  folder: string,
  books: Books,
  { isCopy = false, change = String, ...scenario }: Partial<Laying> = {},
): Promise<Site> {
  const site = await openBooksSite(folder, {
    ...scenario,
    name: "tryton",
    isCopy,
    change,
    secrets: { password: books.password },
    env: { FUELBRIDGE_TRYTON_URL: books.url, FUELBRIDGE_TRYTON_DATABASE: books.database },
    close: async () => {},
  });
  return {
    ...site,
    books,
    tryton: await logIn(books, books.admin),
    command: (...args) => site.start(...args).ended,
    async parked() {
      const { groups } = await site.ask<{ groups: QuarantineGroup[] }>("quarantine", "list");
      const parked: Parked[] = [];
      // One after the other: each opens the store.
      for (const { id, flow, code, cause } of groups) {
        const { deliveries } = await site.ask<{ deliveries: Quarantined[] }>(
          "quarantine",
          "show",
          id,
        );
        for (const { number, recordId } of deliveries)
          parked.push({ flow, code, cause, number, recordId });
      }
      return parked;
    },
  };
}
