import { describe, expect, onTestFinished, test } from "vitest";
import { Decimal } from "../../../src/core/decimal.ts";
import { isLongRun, numbers } from "../../../test/support/runs.ts";
import { trytonIsThere, useTryton } from "../../../test/support/tryton.ts";
import { markOf, paymentMark } from "../../../src/ledger/entries.ts";
import { InvoiceRecord } from "../../../src/ledger/documents.ts";
import { day } from "../rows.ts";
import { openTryton } from "../wire.ts";
import { type Desk, deskIn, exactly, reader, invoices } from "./source.fixture.ts";

const d = (text: string) => Decimal.of(text);
const PLATFORM_ID = "0b6f7a52-4c1e-4d8a-9f5e-1c2d3e4f5a6b";

describe.skipIf(!trytonIsThere)("customer invoices of Tryton", () => {
  const server = useTryton();

  async function invoice(desk: Desk, more: object = {}): Promise<number> {
    const { company } = await desk.clerk.session();
    const account = (code: string) => desk.one("account.account", "code", code);
    const search = [[["code", "=", "C1"]], 0, 1, null];
    const [known] = await desk.clerk.call<number[]>("model.party.party.search", search);
    const values = { code: "C1", name: "Acme", addresses: [["create", [{}]]] };
    const party = known ?? (await desk.create("party.party", values));
    return desk.create("account.invoice", {
      type: "out",
      company,
      party,
      invoice_address: await desk.one("party.address", "party", party),
      currency: await desk.one("currency.currency", "code", "USD"),
      journal: await desk.one("account.journal", "code", "REV"),
      account: await account("1200"),
      invoice_date: day("2026-11-20"),
      payment_term_date: day("2026-12-20"),
      reference: "PO-7",
      lines: [
        [
          "create",
          [
            {
              type: "line",
              quantity: d("7500.5"),
              unit_price: d("2.413755"),
              account: await account("4000"),
              description: "ULSD",
            },
            { type: "comment", description: "thank you" },
          ],
        ],
      ],
      taxes: [
        [
          "create",
          [
            {
              manual: true,
              description: "Federal excise",
              account: await account("2300"),
              base: d("18104.37"),
              amount: d("1830.12"),
            },
          ],
        ],
      ],
      ...more,
    });
  }
  const post = (desk: Desk, id: number) => desk.clerk.call("model.account.invoice.post", [[id]]);

  async function pay(desk: Desk, id: number, amount: string, description: string): Promise<void> {
    const { company } = await desk.clerk.session();
    const wizard = "wizard.account.invoice.pay";
    const context = { active_model: "account.invoice", active_id: id, active_ids: [id] };
    const [session] = await desk.clerk.call<[number]>(`${wizard}.create`, [], { context });
    const read = ["model.account.invoice.read", [[id], ["party"]]] as const;
    const [{ party }] = await desk.clerk.call<[{ party: number }]>(...read);
    const start = {
      ...(await desk.clerk.release()).payForm(party),
      company,
      currency: await desk.one("currency.currency", "code", "USD"),
      invoice_account: await desk.one("account.account", "code", "1200"),
      amount: d(amount),
      payment_method: await desk.one("account.invoice.payment.method", "name", "Bank transfer"),
      date: day("2026-11-21"),
      description,
    };
    const execute = (states: object, state: string): Promise<{ view?: unknown }> =>
      desk.clerk.call(`${wizard}.execute`, [session, states, state], { context });
    const { view } = await execute({ start }, "choice");
    if (view !== undefined) await execute({ ask: { type: "partial" } }, "pay");
  }

  test("a draft is not told; posted, it is told with its lines, taxes, due date and digits", async () => {
    const desk = deskIn(server);
    const id = await invoice(desk);
    const it = reader(invoices(desk.books));
    expect((await it.read()).changes).toEqual([]);
    await post(desk, id);
    const [change, ...others] = (await it.read()).changes;
    expect(others).toEqual([]);
    expect(change).toMatchObject({ id: "INV-2026-00001", version: null });
    expect(InvoiceRecord.parse(exactly(change))).toEqual({
      number: "INV-2026-00001",
      // What links call it, and never changes: Tryton refuses another number for a posted invoice.
      id: "INV-2026-00001",
      type: "out",
      state: "posted",
      reference: "PO-7",
      description: null,
      partyCode: "C1",
      partyCompanyId: null,
      currency: "USD",
      invoiceDate: "2026-11-20",
      dueDate: "2026-12-20",
      untaxed: d("18104.37"),
      tax: d("1830.12"),
      total: d("19934.49"),
      amountToPay: d("19934.49"),
      paidDate: null,
      paidByPlatform: false,
      paidByOthers: null,
      clearedBy: "money",
      platformId: null,
      lines: [
        {
          product: null,
          productName: null,
          description: "ULSD",
          quantity: d("7500.5"),
          unit: null,
          unitPrice: d("2.413755"),
          amount: d("18104.37"),
          account: "4000",
        },
      ],
      taxes: [
        {
          description: "Federal excise",
          account: "2300",
          base: d("18104.37"),
          amount: d("1830.12"),
        },
      ],
    });
  });

  test("what is posted cannot change in a line, so no line has to be watched", async () => {
    const desk = deskIn(server);
    const id = await invoice(desk);
    await post(desk, id);
    const line = await desk.one("account.invoice.line", "description", "ULSD");
    for (const values of [{ quantity: 1 }, { unit_price: d("1") }, { description: "other" }])
      await expect(desk.write("account.invoice.line", line, values)).rejects.toMatchObject({
        code: "refused",
      });
  });

  test("one that we booked for the platform says so", async () => {
    const desk = deskIn(server);
    await post(desk, await invoice(desk, { comment: markOf(PLATFORM_ID) }));
    const [change] = (await reader(invoices(desk.books)).read()).changes;
    expect(exactly(change)).toMatchObject({ platformId: PLATFORM_ID });
  });

  test("a settlement is told by both sources, with its day and with whose money it was", async () => {
    const desk = deskIn(server);
    const id = await invoice(desk);
    await post(desk, id);
    const all = reader(invoices(desk.books));
    const paid = reader(invoices(desk.books));
    await all.read();
    expect((await paid.read()).changes.map(exactly)).toMatchObject([{ paidByOthers: null }]);
    await pay(desk, id, "19934.49", "check 4711");
    for (const source of [all, paid]) {
      const [change] = (await source.read()).changes;
      expect(exactly(change)).toMatchObject({
        state: "paid",
        paidDate: "2026-11-21",
        amountToPay: d("0"),
        paidByPlatform: false,
      });
    }
  });

  test("paid by nothing but what the platform told us of: it knows already", async () => {
    const desk = deskIn(server);
    const id = await invoice(desk);
    await post(desk, id);
    await pay(desk, id, "19934.49", paymentMark("pay-1"));
    const [change] = (await reader(invoices(desk.books)).read()).changes;
    expect(exactly(change)).toMatchObject({ paidByPlatform: true });
  });

  test("one that is due in parts tells every day of them", async () => {
    const desk = deskIn(server);
    const admin = openTryton(
      { ...desk.books.config, ...desk.database.admin },
      desk.books.surroundings,
    );
    onTestFinished(() => admin.close());
    const part = (days: number, more: object) => ({
      ...more,
      relativedeltas: [["create", [{ days }]]],
    });
    const half = { type: "percent_on_total", ratio: d("0.5"), divisor: d("2"), sequence: 1 };
    // Tryton warns of days that are past by its own clock.
    const lines = [part(3_650, half), part(7_300, { type: "remainder", sequence: 2 })];
    const values = { name: "In two parts", lines: [["create", lines]] };
    const create = "model.account.invoice.payment_term.create";
    const [payment_term] = await admin.call<[number]>(create, [[values]]);
    await post(desk, await invoice(desk, { payment_term, payment_term_date: null }));
    const [change] = (await reader(invoices(desk.books)).read()).changes;
    expect(exactly(change)).toMatchObject({
      dueDate: "2046-11-15",
      dueDates: [{ due: "2036-11-17" }, { due: "2046-11-15" }],
    });
  });

  /** A credit note of the whole, posted. */
  async function credit(desk: Desk, id: number): Promise<void> {
    const context = { active_model: "account.invoice", active_id: id, active_ids: [id] };
    const wizard = "wizard.account.invoice.credit";
    const [session] = await desk.clerk.call<[number]>(`${wizard}.create`, [], { context });
    const start = { with_refund: false, invoice_date: null };
    await desk.clerk.call(`${wizard}.execute`, [session, { start }, "credit"], { context });
    await post(desk, await desk.one("account.invoice", "state", "draft"));
  }

  /** The line that the customer owes. */
  async function owed(desk: Desk, id: number): Promise<number> {
    const read = ["model.account.invoice.read", [[id], ["lines_to_pay"]]] as const;
    const [{ lines_to_pay: lines }] = await desk.clerk.call<[{ lines_to_pay: [number] }]>(...read);
    return lines[0];
  }

  async function reconcile(desk: Desk, ids: readonly number[], writeoff?: number): Promise<void> {
    const context = { active_model: "account.move.line", active_id: ids[0], active_ids: ids };
    const wizard = "wizard.account.move.reconcile_lines";
    const [session] = await desk.clerk.call<[number]>(`${wizard}.create`, [], { context });
    const [values, state] =
      writeoff === undefined
        ? [{}, "start"]
        : [{ writeoff: { writeoff, date: day("2026-11-21"), description: null } }, "reconcile"];
    await desk.clerk.call(`${wizard}.execute`, [session, values, state], { context });
  }

  /** An entry of an accountant that lowers what the customer owes; the line that does. */
  async function enter(desk: Desk, amount: Decimal): Promise<number> {
    const account = (code: string) => desk.one("account.account", "code", code);
    const party = await desk.one("party.party", "code", "C1");
    const { company } = await desk.clerk.session();
    const journal = await desk.one("account.journal", "code", "REV");
    const move = await desk.create("account.move", {
      company,
      journal,
      date: day("2026-11-21"),
      period: await period(desk),
      lines: [
        [
          "create",
          [
            { account: await account("1200"), party, credit: amount, debit: d("0") },
            { account: await account("4000"), debit: amount, credit: d("0") },
          ],
        ],
      ],
    });
    await desk.clerk.call("model.account.move.post", [[move]]);
    return desk.one("account.move.line", "credit", amount);
  }

  const period = (desk: Desk): Promise<number> =>
    desk.clerk
      .call<number[]>("model.account.period.search", [
        [
          ["start_date", "<=", day("2026-11-21")],
          ["end_date", ">=", day("2026-11-21")],
        ],
        0,
        1,
        null,
      ])
      .then(([id]) => id ?? 0);

  /** An administrator sets up what may be written off. */
  async function writeOff(desk: Desk): Promise<number> {
    const { books, clerk, database } = desk;
    const admin = openTryton({ ...books.config, ...database.admin }, books.surroundings);
    onTestFinished(() => admin.close());
    const create = (model: string, values: object) =>
      admin.call<[number]>(`model.${model}.create`, [[values]]).then(([id]) => id);
    const account = await desk.one("account.account", "code", "4000");
    const accounts = { credit_account: account, debit_account: account };
    const other = await desk.one("account.journal", "code", "REV");
    const read = ["model.account.journal.read", [[other], ["sequence"]]] as const;
    const [{ sequence }] = await admin.call<[{ sequence: number }]>(...read);
    const lost = { name: "Lost", type: "write-off", sequence };
    const journal = await create("account.journal", lost);
    const { company } = await clerk.session();
    const values = { company, name: "Lost", journal, ...accounts };
    return create("account.move.reconcile.write_off", values);
  }

  test("a supplier's invoice is none of ours", async () => {
    const desk = deskIn(server);
    const account = await desk.one("account.account", "code", "2100");
    const journal = await desk.one("account.journal", "code", "EXP");
    const expense = await desk.one("account.account", "code", "5000");
    const line = { type: "line", quantity: 1, unit_price: d("5"), account: expense };
    const lines = [["create", [line]]];
    await post(desk, await invoice(desk, { type: "in", account, journal, lines, taxes: [] }));
    expect((await reader(invoices(desk.books)).read()).changes).toEqual([]);
  });

  describe.runIf(isLongRun)("in the long run", numbers, () => {
    test("what settles an invoice and is no money is told by its name: a credit note, an entry, a write-off", async () => {
      const desk = deskIn(server);
      const source = reader(invoices(desk.books));
      const told = async (invoiceId: number) => {
        const numbers = ["model.account.invoice.read", [[invoiceId], ["number"]]] as const;
        const [{ number }] = await desk.clerk.call<[{ number: string }]>(...numbers);
        const { changes } = await source.read();
        return exactly(changes.find(({ id }) => id === number));
      };

      const credited = await invoice(desk);
      await post(desk, credited);
      await credit(desk, credited);
      const note = await desk.one("account.move.line", "credit", d("19934.49"));
      await reconcile(desk, [await owed(desk, credited), note]);
      expect(await told(credited)).toMatchObject({
        state: "paid",
        paidByPlatform: false,
        clearedBy: expect.stringMatching(/^credit note or other invoice #\d+ of 19934\.49$/),
      });

      const entered = await invoice(desk);
      await post(desk, entered);
      await pay(desk, entered, "19900.00", paymentMark("pay-1"));
      const paid = await desk.one("account.move.line", "credit", d("19900.00"));
      const entry = await enter(desk, d("34.49"));
      await reconcile(desk, [await owed(desk, entered), paid, entry]);
      expect(await told(entered)).toMatchObject({
        state: "paid",
        paidByPlatform: false,
        clearedBy: expect.stringMatching(/^journal entry #\d+ of 34\.49$/),
      });

      const short = await invoice(desk);
      await post(desk, short);
      await pay(desk, short, "19934.00", "check 7");
      const most = await desk.one("account.move.line", "credit", d("19934.00"));
      await reconcile(desk, [await owed(desk, short), most], await writeOff(desk));
      expect(await told(short)).toMatchObject({
        state: "paid",
        clearedBy: expect.stringMatching(/^write-off #\d+ of 0\.49$/),
      });
    });

    test("a part that a clerk entered is told with its amount, without what the platform told; taken back, it is told again", async () => {
      const desk = deskIn(server);
      const id = await invoice(desk);
      await post(desk, id);
      await pay(desk, id, "34.49", paymentMark("pay-1"));
      const source = reader(invoices(desk.books));
      const told = async () => exactly((await source.read()).changes.at(-1));
      expect(await told()).toMatchObject({ amountToPay: d("19900.00"), paidByOthers: null });
      await pay(desk, id, "900.00", "check 12");
      expect(await told()).toMatchObject({ amountToPay: d("19000.00"), paidByOthers: d("900.00") });
      const move = await desk.one("account.move", "description", "check 12");
      const context = { active_model: "account.move", active_id: move, active_ids: [move] };
      const wizard = "wizard.account.move.cancel";
      const [session] = await desk.clerk.call<[number]>(`${wizard}.create`, [], { context });
      const cancel = [session, { default: { description: "bounced" } }, "cancel"];
      await desk.clerk.call(`${wizard}.execute`, cancel, { context });
      expect(await told()).toMatchObject({ amountToPay: d("19900.00"), paidByOthers: null });
    });

    test("a number that two invoices have is no invoice's, whichever was read before", async () => {
      const desk = deskIn(server);
      await post(desk, await invoice(desk, { number: "FL-1" }));
      const it = reader(invoices(desk.books));
      expect((await it.read()).changes[0]?.fault).toBeUndefined();
      await post(desk, await invoice(desk, { number: "FL-1" }));
      const { changes } = await it.read();
      expect(changes.length).toBeGreaterThan(0);
      for (const { id, fault } of changes)
        expect({ id, fault }).toMatchObject({ id: "FL-1", fault: { code: "number-twice" } });
    });
  });
});
