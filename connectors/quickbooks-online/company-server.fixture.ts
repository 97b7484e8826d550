/** The company of company.fixture.ts behind HTTP. */
import { onTestFinished } from "vitest";
import { Decimal } from "../../src/core/decimal.ts";
import { serving } from "../../test/support/http.ts";
import { Company } from "./company.fixture.ts";

/** A company with nothing in it, until it is closed. */
export async function startCompany() {
  const { url, close } = await serving((request, response) => company.handle(request, response));
  const company = new Company(url);
  return { company, close };
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
