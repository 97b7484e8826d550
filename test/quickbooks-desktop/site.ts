/** A site whose ERP is QuickBooks Desktop: a little company file, and a Web Connector that calls while fuelbridge works. */
import { CompanyFile } from "../../connectors/quickbooks-desktop/company-file.fixture.ts";
import { PASSWORD, USER } from "../../connectors/quickbooks-desktop/desktop.fixture.ts";
import { WebConnector } from "../../connectors/quickbooks-desktop/web-connector.fixture.ts";
import {
  cells,
  chargesOf,
  type Laying,
  openBooksSite,
  type SiteOf,
} from "../support/books-site.ts";
import { dayOf } from "../tryton/ledger.ts";
import { freePort } from "../support/port.ts";

/** An item of the company's, whose lines repeat the amounts above them. */
export const SUBTOTAL = "Subtotal";

export type DesktopSite = SiteOf<CompanyFile>;

/** @param backup of the company file of a site that was copied; left out: it is new, with what the shipped tables name */
export async function openDesktopSite(
  folder: string,
  backup?: string,
  more: Pick<Laying, "scenario"> & { readonly yaml?: Laying["change"] } = {},
): Promise<DesktopSite> {
  const port = await freePort();
  const books = new CompanyFile();
  const url = `http://127.0.0.1:${port}/qbwc`;
  const site = await openBooksSite(folder, {
    name: "quickbooks-desktop",
    isCopy: backup !== undefined,
    change: (yaml) => (more.yaml ?? String)(change(yaml)),
    ...(more.scenario === undefined ? {} : { scenario: more.scenario }),
    secrets: { password: PASSWORD },
    env: { QUICKBOOKS_URL: url },
    close: () => Promise.resolve(),
  });
  stock(books, folder);
  if (backup !== undefined) books.restore(backup);
  return {
    ...site,
    books,
    async here(...args) {
      const connector = new WebConnector(url, books, { user: USER, password: PASSWORD }).start();
      try {
        return await site.here(...args);
      } finally {
        await connector.stop();
      }
    },
  };
}

/** Prices, and the tests' address and times. */
function change(yaml: string): string {
  const more = `url: \${QUICKBOOKS_URL}
    patienceMs: 60000
    lingerMs: 60000
    settleMs: 0
    prices: { list: T-76-TX-2799, levels: true }`;
  const flow = `flows:
  rack-prices:
    mapping: books/rack-prices
    from: books.prices
    to: platform.rackPrices
    every: 10m`;
  return yaml.replace("url: http://localhost:8447/qbwc", more).replace("flows:", flow);
}

/** What somebody set up in QuickBooks before the first document. */
function stock(books: CompanyFile, folder: string): void {
  books.now = `${dayOf(new Date().toISOString())}T12:00:00`;
  books.kinds.set(SUBTOTAL, "Subtotal");
  books.items = new Set([
    "Freight",
    SUBTOTAL,
    ...cells(folder, "items", "item"),
    ...chargesOf(folder, "sales"),
    ...chargesOf(folder, "purchases"),
  ]);
}
