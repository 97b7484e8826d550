/** A party that is not found by its name is found by the platform's id in its notes; a list is walked once in a session. */
import { describe, expect, test } from "vitest";
import { deliver } from "../../test/support/connector.ts";
import { invoiceDocument, itemOf } from "../example/example.fixture.ts";
import { desk } from "./desk.fixture.ts";

const MANY = 1_234;
const MINUTE_MS = 60_000;

/** A company of many customers, whose new parties are all missing. */
function company() {
  const one = desk();
  const { file, hooks } = one;
  file.now = "2026-11-20T08:00:00";
  for (let at = 1; at < MANY; at++) file.enter("Customer", { Name: `Customer ${at}` });
  file.now = "2026-11-21T12:00:00";
  const sink = one.sinkOf("invoice");
  let documents = 0;
  /** An invoice of this company, which the table calls so. Its customer in QuickBooks afterwards. */
  const booked = async (code: string, companyId = `company-of-${code.replaceAll(" ", "-")}`) => {
    const number = `FL-${++documents}`;
    const party = { code, name: code, companyId };
    const answer = await deliver(sink, [itemOf(invoiceDocument(number, { party }))]);
    const memo = ({ fields }: { fields: Record<string, string> }) => fields["Memo"]?.split(" ")[0];
    const row = file.rows("Invoice").find((invoice) => memo(invoice) === number);
    return answer.outcome === "done" ? row?.fields["CustomerRef"] : answer;
  };
  /** Rows of customers that QuickBooks told of by their notes. */
  const read = { rows: 0, walks: 0 };
  hooks.after = (answer) => {
    if (answer.includes("<CustomerQueryRs") && answer.includes("iteratorID"))
      read.rows += answer.split("<CustomerRet>").length - 1;
    return answer;
  };
  hooks.before = (xml) => {
    if (xml.includes('iterator="Start"') && !xml.includes("FromModifiedDate")) read.walks++;
  };
  return { ...one, booked, read };
}

test("twenty new parties cost one walk through all customers, and each is made once", async () => {
  const { file, clock, booked, read } = company();
  for (let at = 0; at < 20; at++) {
    expect(await booked(`New ${at}`)).toBe(`New ${at}`);
    clock.ms += MINUTE_MS;
    file.now = `2026-11-21T12:${String(at + 1).padStart(2, "0")}:00`;
  }
  expect(file.rows("Customer")).toHaveLength(MANY + 20);
  expect(read.walks).toBe(1);
  // Besides the walk: those of the last ten minutes, for each look of each document.
  expect(read.rows).toBeLessThan(MANY + 20 * 4 * 12);
});

describe("an id in the notes", () => {
  const NOTES = { Notes: "platform:company-9" };

  test("is found though somebody wrote it after the walk, and no second customer is made", async () => {
    const { file, booked } = company();
    await booked("New");
    file.now = "2026-11-21T12:05:00";
    const [, other] = file.rows("Customer");
    file.edit("Customer", other?.id ?? "", NOTES);
    expect(await booked("Nine", "company-9")).toBe(other?.fields["Name"]);
  });

  test("that was taken out of the notes, or is gone with its customer, is not found any more", async () => {
    const { file, booked } = company();
    const [, one, other] = file.rows("Customer");
    for (const row of [one, other])
      file.edit("Customer", row?.id ?? "", { Notes: `platform:${row?.id}` });
    expect(await booked("One", one?.id)).toBe(one?.fields["Name"]);
    expect(await booked("Other", other?.id)).toBe(other?.fields["Name"]);
    file.edit("Customer", one?.id ?? "", { Notes: "" });
    file.remove("Customer", other?.id ?? "");
    expect(await booked("One", one?.id)).toBe("One");
    expect(await booked("Other", other?.id)).toBe("Other");
  });

  test("that two customers have is work for a person", async () => {
    const { file, booked } = company();
    const [, one, other] = file.rows("Customer");
    for (const row of [one, other]) file.edit("Customer", row?.id ?? "", NOTES);
    expect(await booked("Nine", "company-9")).toMatchObject({ fault: { code: "twice-in-books" } });
  });

  test("in a company file that was restored is found: the next session walks through all again", async () => {
    const { file, booked, visit } = company();
    const [, other] = file.rows("Customer");
    const backup = file
      .rows("Customer")
      .map((row) => ({ ...row, fields: { ...row.fields, ...(row === other ? NOTES : {}) } }));
    await booked("New");
    file.rows("Customer").splice(0, Infinity, ...backup);
    visit.session++;
    expect(await booked("Nine", "company-9")).toBe(other?.fields["Name"]);
  });

  test("is found after an hour, though the clock of that machine went back", async () => {
    const { file, clock, booked } = company();
    await booked("New");
    file.now = "2026-11-21T11:30:00";
    const [, other] = file.rows("Customer");
    file.edit("Customer", other?.id ?? "", NOTES);
    clock.ms += 60 * MINUTE_MS;
    expect(await booked("Nine", "company-9")).toBe(other?.fields["Name"]);
  });

  test("is found though a record was stamped by a clock that was days ahead", async () => {
    const { file, booked } = company();
    file.now = "2026-12-24T12:00:00";
    const [, ahead, other] = file.rows("Customer");
    file.edit("Customer", ahead?.id ?? "", {});
    await booked("New");
    file.now = "2026-11-21T12:00:00";
    file.edit("Customer", other?.id ?? "", NOTES);
    expect(await booked("Nine", "company-9")).toBe(other?.fields["Name"]);
  });
});
