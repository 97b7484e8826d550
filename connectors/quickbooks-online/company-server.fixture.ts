/** The company of company.fixture.ts behind HTTP. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { Decimal } from "../../src/core/decimal.ts";
import { Company } from "./company.fixture.ts";

export interface Running {
  readonly company: Company;
  readonly close: () => void;
}

/** A company with nothing in it, until it is closed. */
export async function startCompany(): Promise<Running> {
  const server = createServer((request, response) => void company.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const company = new Company(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return {
    company,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A company of this test's own, until the test ends, with what every document needs. */
export async function openCompany(): Promise<Company> {
  const { company, close } = await startCompany();
  onTestFinished(close);
  for (const Name of ["ULSD-CLR", "Charge", "2300"])
    company.enter("Item", {
      Name,
      Type: "NonInventory",
      UnitPrice: Decimal.of("2.5"),
      Active: true,
    });
  for (const [AcctNum, Name] of [
    ["5000", "Cost of fuel"],
    ["1010", "Checking"],
    ["2300", "Fuel taxes"],
  ])
    company.enter("Account", { AcctNum, Name, AccountType: "Expense", Active: true });
  return company;
}
