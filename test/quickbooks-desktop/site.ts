/** A site whose ERP is QuickBooks Desktop: a little company file, and a Web Connector that calls while fuelbridge works. */
import { CompanyFile } from "../../connectors/quickbooks-desktop/company-file.fixture.ts";
import { PASSWORD, USER } from "../../connectors/quickbooks-desktop/desktop.fixture.ts";
import { WebConnector } from "../../connectors/quickbooks-desktop/web-connector.fixture.ts";
import { type BooksSite, cells, openBooksSite } from "../support/books-site.ts";
import { freePort } from "../support/port.ts";

export type DesktopSite = BooksSite & { readonly books: CompanyFile };

/** @param backup of the company file of a site that was copied; left out: it is new, with what the shipped tables name */
export async function openDesktopSite(folder: string, backup?: string): Promise<DesktopSite> {
  const port = await freePort();
  const books = new CompanyFile();
  const url = `http://127.0.0.1:${port}/qbwc`;
  const site = await openBooksSite(folder, {
    name: "quickbooks-desktop",
    isCopy: backup !== undefined,
    change,
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

const change = (yaml: string): string =>
  yaml.replace(
    "url: http://localhost:8447/qbwc",
    "url: ${QUICKBOOKS_URL}\n    patienceMs: 60000\n    lingerMs: 60000\n    settleMs: 0",
  );

/** What somebody set up in QuickBooks before the first document. */
function stock(books: CompanyFile, folder: string): void {
  books.items = new Set([
    "Freight",
    ...cells(folder, "items", "item"),
    ...["tryton-taxes", "tryton-accounts"].flatMap((table) => [
      ...cells(folder, table, "sales"),
      ...cells(folder, table, "purchases"),
    ]),
  ]);
}
