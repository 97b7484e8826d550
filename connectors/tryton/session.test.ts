import { describe, expect, test } from "vitest";
import { trytonIsThere, useTryton } from "../../test/support/tryton.ts";
import { addCompany } from "../../test/support/tryton-setup.ts";
import { fileOf } from "../../test/support/tryton-file.ts";
import { openLookup } from "./books.ts";
import { faultOf, invoice, now, open, parties, stateOf } from "./wire.fixture.ts";

describe.skipIf(!trytonIsThere)("sessions", () => {
  const server = useTryton();

  test("calls that come together log in once, and close leaves no session behind", async () => {
    const copy = server.copy("together");
    const sessions = () => fileOf(copy).prepare("SELECT * FROM ir_session").all().length;
    const tryton = open(copy);
    const before = sessions();
    await Promise.all([parties(tryton), parties(tryton), parties(tryton)]);
    expect(sessions()).toBe(before + 1);
    await tryton.close();
    expect(sessions()).toBe(before);
  });

  test("a session that Tryton has ended is opened again, and the call made once more", async () => {
    const copy = server.copy("ended");
    const tryton = open(copy);
    const count = await parties(tryton);
    fileOf(copy).exec("DELETE FROM ir_session");
    await tryton.call("model.party.party.create", [[{ name: "Once" }]]);
    expect(await parties(tryton)).toBe(count + 1);
    expect(tryton.notes).toEqual(["Tryton ended our session"]);
  });

  test("posting after a rest, when reading still works, meets the same and is done", async () => {
    const copy = server.copy("rested");
    const tryton = open(copy);
    const id = await invoice(tryton, "2027-01-31");
    fileOf(copy).exec(
      "UPDATE ir_session SET create_date = '2026-01-01 00:00:00.000000', write_date = NULL",
    );
    await tryton.call("model.account.invoice.post", [[id]]);
    expect(await stateOf(tryton, id)).toBe("posted");
    expect(tryton.notes).toHaveLength(1);
  });

  test("a wrong password is unauthorised, and in no message", async () => {
    const tryton = open({ ...server.copy("wrong"), password: "not-the-one-71" });
    const fault = await faultOf(parties(tryton));
    expect(fault.kind).toBe("unauthorised");
    expect(JSON.stringify([fault, fault.message, fault.stack])).not.toContain("not-the-one-71");
  });

  test("a login that is refused is not tried again by each flow: too many would keep the user out", async () => {
    const copy = server.copy("refused");
    const file = fileOf(copy);
    const attempts = () => file.prepare("SELECT id FROM res_user_login_attempt").all().length;
    let nowMs = Date.now();
    const tryton = open({ ...copy, password: "not-the-one-72" }, () => new Date(nowMs));
    for (let flow = 0; flow < 6; flow++)
      expect((await faultOf(parties(tryton))).kind).toBe("unauthorised");
    expect(attempts()).toBe(1);
    nowMs += 31_000;
    expect((await faultOf(parties(tryton))).kind).toBe("unauthorised");
    expect(attempts()).toBe(2);
  });

  test("too many failed logins: no login is tried before the window is over", async () => {
    const copy = server.copy("throttled");
    const file = fileOf(copy);
    const attempts = () => file.prepare("SELECT id FROM res_user_login_attempt").all().length;
    const insert = file.prepare(
      "INSERT INTO res_user_login_attempt (login, ip_address, ip_network, create_date) VALUES (?, '', '', datetime('now'))",
    );
    for (let failed = 0; failed < 6; failed++) insert.run(copy.user);
    let nowMs = Date.now();
    const tryton = open(copy, () => new Date(nowMs));
    const first = await faultOf(parties(tryton));
    expect(first).toMatchObject({ kind: "throttled", waitMs: 330_000 });
    const counted = attempts();
    expect((await faultOf(parties(tryton))).kind).toBe("throttled");
    expect(attempts()).toBe(counted);
    // A clock that is set back does not make the window last longer.
    file.exec("DELETE FROM res_user_login_attempt");
    nowMs -= 24 * 3_600_000;
    expect(await parties(tryton)).toBeGreaterThan(0);
  });

  test("an unknown database and an unknown company are said by name; nothing was sent", async () => {
    const database = await faultOf(parties(open({ ...server.copy("known"), database: "nowhere" })));
    expect(database.kind).toBe("not-sent");
    expect(database.message).toContain("nowhere");
    const company = await faultOf(parties(open({ ...server.copy("firm"), company: "No Firm" })));
    expect(company.kind).toBe("no-company");
    expect(company.message).toContain('no company "No Firm"');
  });

  test("a company that the user is not in is none of the user's", async () => {
    const copy = server.copy("companies");
    const admin = open({ ...copy, ...copy.admin });
    const [party] = await admin.call<[number]>("model.party.party.create", [[{ name: "Other" }]]);
    const currency = await openLookup(admin, { now }).currency("USD");
    await admin.call("model.company.company.create", [[{ party, currency }]]);
    const fault = await faultOf(parties(open({ ...copy, company: "Other" })));
    expect(fault.message).toContain('no company "Other" for the user fuelbridge');
    const { company } = await open({ ...copy, company: copy.company }).session();
    expect(company).toBe((await admin.session()).company);
  });

  test("of a user's companies Tryton shows one, or all: another than the configured one is told", async () => {
    const copy = server.copy("shown");
    await addCompany({ ...copy, ...copy.admin }, "Other");
    const admin = open({ ...copy, ...copy.admin, company: "Other" });
    const [user] = await admin.call<[number]>("model.res.user.search", [
      [["login", "=", copy.user]],
    ]);
    const other = { ...copy, company: "Other" };
    expect(await parties(open(other))).toBeGreaterThan(0);
    await admin.call("model.res.user.write", [[user], { company_filter: "one" }]);
    const fault = await faultOf(parties(open(other)));
    expect(fault).toMatchObject({ kind: "no-company" });
    expect(fault.message).toContain('its current company only, and that is not "Other"');
    expect(await parties(open({ ...copy, company: copy.company }))).toBeGreaterThan(0);
  });
});

describe.skipIf(!trytonIsThere)("a Tryton that hangs", () => {
  const server = useTryton();

  test("a call may have been carried out; the next one works when it answers again", async () => {
    const tryton = open(server.copy("hangs"));
    await parties(tryton);
    server.pause();
    const hung = tryton.call("model.party.party.create", [[{ name: "Perhaps" }]], {
      signal: AbortSignal.timeout(300),
    });
    const fault = await faultOf(hung).finally(() => server.resume());
    expect(fault.kind).toBe("torn");
    expect(await parties(tryton)).toBeGreaterThan(0);
  });

  test("a login that hangs leaves the call unsent", async () => {
    const copy = server.copy("login");
    server.pause();
    const fault = await faultOf(parties(open({ ...copy, deadlineMs: 300 }))).finally(() =>
      server.resume(),
    );
    expect(fault.kind).toBe("not-sent");
  });

  test("a call that is stopped before its turn has not been sent", async () => {
    const tryton = open(server.copy("stopped"));
    const stopped = tryton.call("model.party.party.search_count", [[]], {
      signal: AbortSignal.abort(),
    });
    expect((await faultOf(stopped)).kind).toBe("not-sent");
  });

  test("books restored from a backup are served at once, as they were then", async () => {
    const copy = server.copy("restored");
    const tryton = open(copy);
    const count = await parties(tryton);
    const backup = copy.keep();
    await tryton.call("model.party.party.create", [[{ name: "Lost" }]]);
    copy.restore(backup);
    expect(await parties(tryton)).toBe(count);
  });

  test("killed and started again it goes on with the same session", async () => {
    const tryton = open(server.copy("killed"));
    await parties(tryton);
    await server.kill();
    expect((await faultOf(parties(tryton))).kind).toBe("not-sent");
    await server.restart();
    expect(await parties(tryton)).toBeGreaterThan(0);
    expect(tryton.notes).toEqual([]);
  });
});
