import { describe, expect, test } from "vitest";
import { trytonIsThere, useTryton } from "../../../test/support/tryton.ts";
import { PartyRecord } from "../../../src/ledger/documents.ts";
import { byId, deskIn, exactly, reader, parties } from "./source.fixture.ts";

const COMPANY_ID = "5d0f2c7e-9b1a-4c3d-8e5f-6a7b8c9d0e1f";

describe.skipIf(!trytonIsThere)("parties of Tryton", () => {
  const server = useTryton();

  test("a customer with its first address, its mail and the platform's id of its company", async () => {
    const desk = deskIn(server);
    const term = await desk.one("account.invoice.payment_term", "name", "Net 30");
    await desk.create("party.party", {
      code: "00042",
      name: "Acme Fuel",
      customer_payment_term: term,
      addresses: [
        [
          "create",
          [
            { name: "Yard 3", street: "Farm Rd\nGate 2", city: "Lubbock", postal_code: "79401" },
            { street: "Elsewhere", city: "Dallas" },
          ],
        ],
      ],
      contact_mechanisms: [
        [
          "create",
          [
            { type: "email", value: "ap@acme.example" },
            { type: "phone", value: "+1 806 555 0100" },
          ],
        ],
      ],
      identifiers: [["create", [{ code: "75-1234567" }, { code: COMPANY_ID.toUpperCase() }]]],
    });
    const { changes } = await reader(parties(desk.books)).read();
    const change = changes.find(({ id }) => id === "00042");
    expect(PartyRecord.parse(exactly(change))).toEqual({
      code: "00042",
      name: "Acme Fuel",
      isCustomer: true,
      isSupplier: false,
      companyId: COMPANY_ID,
      email: "ap@acme.example",
      phone: "+1 806 555 0100",
      street: "Yard 3\nFarm Rd\nGate 2",
      city: "Lubbock",
      state: null,
      zip: "79401",
      country: null,
      active: true,
    });
  });

  test("a category says what a party is to us, as well as terms do", async () => {
    const desk = deskIn(server);
    const vendors = await desk.create("party.category", { name: "Vendors" });
    await desk.create("party.party", {
      code: "V1",
      name: "Refinery",
      categories: [["add", [vendors]]],
    });
    const records = byId((await reader(parties(desk.books)).read()).changes);
    expect(records["V1"]).toMatchObject({ isCustomer: false, isSupplier: true });
  });

  test("a new address, a mail and an end of business are changes of the party", async () => {
    const desk = deskIn(server);
    const id = await desk.create("party.party", { code: "P1", name: "Party" });
    const it = reader(parties(desk.books));
    await it.read();
    const now = async () => byId((await it.read()).changes)["P1"];
    await desk.create("party.address", { party: id, city: "Waco" });
    expect(await now()).toMatchObject({ city: "Waco" });
    await desk.create("party.contact_mechanism", {
      party: id,
      type: "email",
      value: "a@b.example",
    });
    expect(await now()).toMatchObject({ email: "a@b.example" });
    await desk.write("party.party", id, { active: false });
    expect(await now()).toMatchObject({ active: false });
  });

  test("a party without a name is its own fault, and the others go on", async () => {
    const desk = deskIn(server);
    await desk.create("party.party", { code: "NONAME" });
    await desk.create("party.party", { code: "NAMED", name: "Named" });
    const { changes } = await reader(parties(desk.books)).read();
    expect(changes.find(({ id }) => id === "NONAME")?.fault).toMatchObject({ code: "no-name" });
    expect(changes.find(({ id }) => id === "NAMED")?.fault).toBeUndefined();
  });
});
