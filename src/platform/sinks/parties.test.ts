import { describe, expect, test } from "vitest";
import { z } from "zod";
import { times } from "../../../test/conformance/support.ts";
import { delivery } from "../../../test/platform/deliver.ts";
import { faultFor, items, never, outgoing, usePlatform } from "../../../test/platform/support.ts";
import { engineOn } from "../../../test/support/engine.ts";
import { officeOn } from "../../../test/support/office.ts";
import { tempFolder } from "../../../test/support/folder.ts";
import { defineMapping, type Linked, type Memory, type Sink } from "../../core/contract.ts";
import { defined } from "../../core/defined.ts";
import { done } from "../../core/outcome.ts";
import type { Flow } from "../../engine/engine.ts";
import { Daemon, push, runFlow } from "../../engine/daemon.ts";
import { resolve, retry, select } from "../../office/decisions.ts";

const platform = usePlatform();
const { control } = platform;

const party = (externalId = "000417", name = "Bayou Trucking", more = ""): string =>
  JSON.stringify({ name, externalId }).replace("}", `${more}}`);
const sink = (name = "customers") => platform.sink(name);
const connections = async (erpId: string | null) =>
  (await control.stored("connections")).filter((one) => one["erpId"] === erpId);
const send = async (document = party(), key = "fb1_test_0123456789abcdef", name = "customers") => {
  const to = sink(name);
  return to.send(outgoing(to, [document], { key }), never);
};
const find = async (document = party(), firstSentAt: string | null = null) => {
  const to = sink();
  return to.find(outgoing(to, [document], { firstSentAt }), never);
};
const byText = (one: string, other: string): number => one.localeCompare(other);
const at = async (seconds = 0) => new Date((await control.now()) + seconds * 1000).toISOString();

test("what is frozen has the digits of the document", () => {
  const document = party("000417", "Bayou", ',"lat":29.760,"lng":-95.3700');
  expect(sink().freeze(items(document))).toEqual({ target: "POST /customers", body: document });
  expect(sink("suppliers").freeze(items(document)).target).toBe("POST /suppliers");
});

test.each([
  ["name", '{"externalId":"1"}'],
  ["contactEmail", party("1", "A", ',"contactEmail":"nobody"')],
])(
  "what the contract does not take is refused before it costs a request: %s",
  (field, document) => {
    expect(faultFor(sink(), document)).toMatchObject({ code: "over-the-contract", field });
  },
);

test.each([
  ["customers", "CUSTOMER"],
  ["suppliers", "SUPPLIER"],
])(
  "%s that were sent are companies with an accepted connection; the company's id is known",
  async (name) => {
    const answer = await send(party(), undefined, name);
    const [connection] = await connections("000417");
    expect(answer).toMatchObject({ outcome: "done", ids: [connection?.["toCompanyId"]] });
    expect(connection?.["status"]).toBe("ACCEPTED");
  },
);

describe("looking for a party", () => {
  test("none, although there are others", async () => {
    await send(party("000418", "Bayou Trucking"));
    expect(await find()).toEqual({ found: "none", detail: "no company with external id 000417" });
  });

  test("exact: two companies with one name are told apart by our id", async () => {
    const first = await send(party("000417"), "fb1_test_0000000000000001");
    const second = await send(party("000418"), "fb1_test_0000000000000002");
    expect(await find(party("000417"))).toMatchObject({ found: "exact", ids: first.ids });
    expect(await find(party("000418"))).toMatchObject({ found: "exact", ids: second.ids });
    expect(first.ids).not.toEqual(second.ids);
  });

  test("exact: our id is text, its zeros count", async () => {
    await send(party("417"));
    expect(await find(party("000417"))).toMatchObject({ found: "none" });
  });

  test.each([
    ["of 200 characters", "x".repeat(200)],
    ["whose hundredth character is half of one", `${"x".repeat(99)}😀 Trucking`],
    ["with signs that a query would take for its own", 'A&B=C + "D" 100% #1?'],
    ["in other letters", "Ölhandel Größe, S.à r.l."],
  ])("exact: a name %s", async (_, name) => {
    await send(party("000417", name));
    expect(await find(party("000417", name))).toMatchObject({ found: "exact" });
  });

  test("several: our id on two companies", async () => {
    await send(party(), "fb1_test_0000000000000001");
    await send(party(), "fb1_test_0000000000000002");
    const finding = await find();
    expect(finding.found).toBe("several");
    for (const { toCompanyId } of await connections("000417"))
      expect(finding.detail).toContain(String(toCompanyId));
  });

  test("several connections with one company are one", async () => {
    const answer = await send();
    const toCompanyId = answer.ids?.[0];
    await control.records("connections", [{ toCompanyId, erpId: "000417", status: "DECLINED" }]);
    expect(await find()).toMatchObject({ found: "exact", ids: [toCompanyId] });
  });

  test("on any page: 600 companies of one name", async () => {
    const answer = await send();
    const toCompanyId = answer.ids?.[0];
    await platform.unlimited();
    await control.records(
      "connections",
      times(600, (n) => ({ toCompanyId, erpId: `M-${n}` })),
    );
    expect(await find()).toMatchObject({ found: "exact", ids: [toCompanyId] });
  });

  test("unreadable where one connection is: which one, and what is wrong with it", async () => {
    await send();
    const [broken] = await connections("000417");
    const id = String(broken?.["id"]);
    await control.patch("connections", id, { updatedAt: "yesterday" });
    const detail = `/connections answered with a record ${id} that is not in its contract: updatedAt: Invalid ISO datetime.`;
    expect(await find()).toEqual({ found: "unreadable", detail });
  });

  test.each([
    [{ kind: "status", status: 500 }, undefined],
    [{ kind: "status", status: 429, code: "MONTHLY_CAP_EXCEEDED", retryAfter: 90 }, 90_000],
    [{ kind: "truncate" }, undefined],
  ])("unreadable, which proves nothing: %j", async (fault, waitMs) => {
    await control.fault({ method: "GET", path: "/connections", ...fault, times: 5 });
    const finding = await find();
    expect(finding).toMatchObject({
      found: "unreadable",
      ...(waitMs === undefined ? {} : { waitMs }),
    });
  });
});

describe("where our id does not become the connection's erpId", () => {
  const sendNameless = async (document = party()) => {
    await control.readings({ externalIdBecomesErpId: false });
    return send(document);
  };

  const customer = (number: string): Linked => ({
    kind: "customer",
    number,
    isOwnKind: true,
    isOwnRecord: false,
    body: null,
  });
  const linked = (companies: Record<string, string>, dismissed: unknown[] = []): Memory => ({
    linked: (id) => (companies[id] === undefined ? [] : [customer(companies[id])]),
    numbered: () => [],
    isDismissed: (id) => dismissed.includes(id),
    isTold: (id) => id === "000418",
  });
  const findKnowing = (memory: Memory, document = party()) => {
    const to = sink();
    return to.find(outgoing(to, [document], {}), never, memory);
  };

  test.each([
    ["just made", 0],
    ["older than the first send", 3_600],
  ])("a company of that name, %s, is for a person", async (_, age) => {
    const [id] = (await sendNameless()).ids ?? [];
    await control.advance(age);
    for (const firstSentAt of [null, await at()])
      expect(await find(party(), firstSentAt)).toMatchObject({
        found: "different",
        fault: {
          code: "same-name",
          next: expect.stringContaining("close this with its id there") as string,
        },
        detail: expect.stringContaining(String(id)) as string,
      });
  });

  test("one that is linked with another code is another party", async () => {
    const [id = ""] = (await sendNameless()).ids ?? [];
    expect(await findKnowing(linked({ [`${id}`]: "another" }))).toMatchObject({ found: "none" });
  });

  test("one that is linked with this code is this party", async () => {
    const [id = ""] = (await sendNameless()).ids ?? [];
    expect(await findKnowing(linked({ [`${id}`]: "1" }))).toMatchObject({
      found: "exact",
      ids: [id],
    });
  });

  test("once a person was told of it and had the party go, it hinders nothing; a further one does", async () => {
    const [id] = (await sendNameless()).ids ?? [];
    expect((await findKnowing(linked({}))) as { fault?: unknown }).toMatchObject({
      fault: { candidates: [id] },
    });
    const told = linked({}, [id]);
    expect(await findKnowing(told)).toMatchObject({ found: "none" });
    const [further] = (await send(party(), "fb1_test_0000000000000002")).ids ?? [];
    const finding = await findKnowing(told);
    expect(finding).toMatchObject({ found: "different" });
    expect(finding.detail).toContain(further);
    expect(finding.detail).not.toContain(id);
  });

  test("one that the site's table names is this party, though a person let it go; of several a person chooses", async () => {
    const id = (await sendNameless()).ids?.[0] ?? "";
    const named = (companies: readonly string[]) => ({
      named: (name: string) => (name === "Bayou Trucking" ? companies : []),
    });
    for (const dismissed of [[], [id]])
      expect(await findKnowing({ ...linked({}, dismissed), ...named([id]) })).toMatchObject({
        found: "exact",
        ids: [id],
      });
    // An id in capitals is the same id.
    expect(await findKnowing({ ...linked({}), ...named([id.toUpperCase()]) })).toMatchObject({
      ids: [id],
    });
    const several = { ...linked({}), ...named([id, "another"]) };
    expect(await findKnowing(several)).toMatchObject({
      fault: { code: "same-code", candidates: [id, "another"] },
    });
    const letGo = { ...linked({}, [id, "another"]), ...named([id, "another"]) };
    expect(await findKnowing(letGo)).toMatchObject({ found: "none" });
  });

  test("one with another external id is another company, unless nothing here has that id: it may be this firm's old code", async () => {
    await send(party("000418"));
    expect(await find(party("000417"), await at())).toMatchObject({ found: "none" });
    expect(await findKnowing(linked({}), party("000417"))).toMatchObject({ found: "none" });
    const [id = ""] = (await send(party("OLD-7"), "fb1_test_0000000000000003")).ids ?? [];
    const finding = await findKnowing(linked({}), party("000417"));
    expect(finding).toMatchObject({ fault: { code: "same-name", candidates: [id] } });
    expect(finding.detail).toContain("OLD-7");
    const told = linked({}, [id]);
    expect(await findKnowing(told, party("000417"))).toMatchObject({ found: "none" });
  });
});

describe("where the search of connections does not find a partner by name", () => {
  const blind = (more: object = {}) => control.readings({ connectionSearch: "nothing", ...more });

  test("a party that was sent is found by our id among all connections", async () => {
    await blind();
    const { ids } = await send();
    expect(await find(party(), await at())).toMatchObject({ found: "exact", ids });
  });

  test("where it shows no id, a company that was made since is for a person, an older one is not", async () => {
    await blind({ externalIdBecomesErpId: false });
    const [id] = (await send()).ids ?? [];
    expect(await find(party(), await at())).toMatchObject({
      found: "different",
      fault: { code: "same-name", candidates: [id] },
    });
    expect(await find(party(), await at(2 * 86_400))).toMatchObject({ found: "none" });
  });
});

describe("a connection may run either way", () => {
  const toUs = async () => void (await control.readings({ supplierConnectionRuns: "toUs" }));
  const sendSupplier = (document = party(), key?: string) => send(document, key, "suppliers");
  const findAs = async (key: string) => {
    const to = platform.sink("suppliers", {}, key);
    const customer = (await control.stored("companies")).find(
      ({ id }) => id === platform.company("customer"),
    );
    return to.find(outgoing(to, [party("000417", String(customer?.["name"]))]), never);
  };
  const requests = async (path: string) => (await control.requests(`?path=${path}`)).length;

  test("exact: its id is the end that is not us", async () => {
    await toUs();
    const { ids } = await sendSupplier();
    expect(await find()).toMatchObject({ found: "exact", ids });
  });

  test("one without an id is a suspect, and no stranger", async () => {
    await toUs();
    await control.readings({ externalIdBecomesErpId: false });
    const { ids } = await sendSupplier();
    expect((await find(party(), await at())).detail).toContain(ids?.[0]);
  });

  test("who we are is told by all our connections, and asked for once, as all of them are", async () => {
    await toUs();
    await sendSupplier();
    const to = sink();
    for (const _ of [1, 2]) await to.find(outgoing(to, [party()]), never);
    expect(await requests("/connections")).toBe(4);
    expect(await requests("/invoices")).toBe(0);
  });

  test("with one connection an invoice of ours tells it, else the profile that we may read", async () => {
    const outsider = { fromCompanyId: platform.company("customer"), erpId: "000417" };
    await control.records(
      "connections",
      [{ ...outsider, toCompanyId: platform.company("outsider") }],
      "outsider",
    );
    const found = { found: "exact", ids: [platform.company("customer")] };
    expect(await findAs("outsider")).toMatchObject(found);
    expect(await requests(`/companies/${platform.company("customer")}/profile`)).toBe(1);
    await control.records("invoices", [{ invoiceNumber: "X" }], "outsider");
    expect(await findAs("outsider")).toMatchObject(found);
    expect(await requests(`/companies/${platform.company("customer")}/profile`)).toBe(1);
  });
});

test.each([
  ["customers that no search finds", "customers", { connectionSearch: "nothing" }],
  ["suppliers whose connections run to us", "suppliers", { supplierConnectionRuns: "toUs" }],
] as const)(
  "six %s, and whose answers were lost after the commit, are there once each",
  async (_what, kind, readings) => {
    await control.readings(readings);
    const clock = await platform.clock();
    const lost = { kind: "status", status: 503, when: "after", times: 6 } as const;
    await control.fault({ method: "POST", path: `/${kind}`, ...lost });
    const documents = times(6, (n) => party(`S-${n}`, `Bayou Supply ${n}`));
    const work = delivery(platform.sink(kind, { clock }), clock, documents);
    expect(await work.settled()).toEqual({ delivered: 6 });
    const erpIds = (await control.stored("connections")).map(({ erpId }) => String(erpId));
    expect(erpIds.filter((erpId) => erpId.startsWith("S-")).sort(byText)).toEqual(
      times(6, (n) => `S-${n}`),
    );
  },
);

describe("customer and supplier of one code", () => {
  const Named = z.looseObject({ externalId: z.string(), name: z.string() });
  const mappingOf = (kind: "customer" | "supplier") =>
    defineMapping({
      name: `test/${kind}s`,
      kind,
      input: Named,
      output: Named,
      number: ({ externalId }) => externalId,
      map: (record) => record,
      figures: ({ name }) => ({ amount: null, gallons: null, party: name }),
    });
  /** Invoices of customers, which name them by their codes. */
  const Billed = z.object({ id: z.string(), code: z.string() });
  const billing = defineMapping({
    name: "test/invoices",
    kind: "invoice",
    input: Billed,
    output: z.object({ payer: z.string() }),
    number: ({ id }) => id,
    map: ({ code }, references) => ({ payer: references.counterpart("customer", code) }),
    figures: () => ({ amount: null, gallons: null }),
  });

  /** Flows of both kinds over one store; each reads a list of its own, or both read one. */
  async function site(from?: string, keepsIds = false) {
    const clock = await platform.clock();
    const bench = engineOn(tempFolder(), clock);
    const reads = { customer: [] as string[], supplier: [] as string[] };
    const flowOf = (kind: "customer" | "supplier") =>
      bench.flow({
        name: `${kind}s`,
        from: from ?? `erp.${kind}s`,
        to: `platform.${kind}s`,
        mapping: mappingOf(kind),
        sink: platform.sink(`${kind}s`, { clock }),
        source: {
          keepsIds,
          async *read() {
            const changes = reads[kind].splice(0).map((text) => ({
              id: (JSON.parse(text) as { externalId: string }).externalId,
              version: null,
              text,
            }));
            yield { changes, position: 1 };
          },
        },
      });
    const flows = { customer: flowOf("customer"), supplier: flowOf("supplier") };
    const payers: string[] = [];
    const invoices: string[] = [];
    let bills = 0;
    const { policy } = platform.sink("customers", { clock });
    const invoiceSink: Sink = {
      operation: "invoice.create",
      writes: "create",
      itemsMax: 1,
      policy,
      freeze: ([one]) => ({ target: "bill", body: JSON.stringify(one?.document) }),
      find: async () => ({ found: "none", detail: "none" }),
      async send({ body }) {
        payers.push((JSON.parse(body) as { payer: string }).payer);
        return done("billed", [`invoice ${payers.length}`]);
      },
    };
    const invoiceFlow = bench.flow({
      name: "invoices",
      to: "platform.invoices",
      mapping: billing,
      sink: invoiceSink,
      source: {
        async *read() {
          const changes = invoices.splice(0).map((code) => {
            const id = `bill ${++bills}`;
            return { id, version: null, text: JSON.stringify({ id, code }) };
          });
          yield { changes, position: 1 };
        },
      },
    });
    const told = (flow: Flow) =>
      select(bench.engine, [flow], "all").map(({ row }) => row)[0] ?? null;
    return {
      ...bench,
      /** Reads an invoice for this code before this customer, in one run of all flows: who was billed. */
      async once(code: string, text: string): Promise<string[]> {
        invoices.push(code);
        reads.customer.push(text);
        await new Daemon(bench.engine, [invoiceFlow, flows.customer]).once(never);
        return payers;
      },
      /** Reads this party and works on it until nothing more happens by itself: the code of its cause, if a person is needed. */
      async deliver(kind: "customer" | "supplier", text?: string): Promise<string | null> {
        const flow = flows[kind];
        if (text !== undefined) reads[kind].push(text);
        let ran: { progress: number; wakeAt: { monoMs: number } | null } = await runFlow(
          bench.engine,
          flow,
          never,
        );
        for (let turns = 0; ran.progress > 0 || ran.wakeAt !== null; turns++) {
          expect(turns).toBeLessThan(100);
          if (ran.wakeAt !== null)
            await clock.pause(Math.max(ran.wakeAt.monoMs - clock.now().monoMs, 1));
          ran = await push(bench.engine, flow, never);
        }
        return told(flow)?.code ?? null;
      },
      /** One look at this list, and what can be done at once. */
      read: (kind: "customer" | "supplier", ...texts: readonly string[]) => {
        reads[kind].push(...texts);
        return runFlow(bench.engine, flows[kind], never);
      },
      cause: (kind: "customer" | "supplier") => told(flows[kind])?.cause,
      async notices(): Promise<(string | null)[]> {
        const asked = { from: null, to: null, after: 0, people: false };
        const { entries } = await officeOn(bench.engine, Object.values(flows)).audit(asked);
        return entries.filter(({ event }) => event === "notice").map(({ detail }) => detail);
      },
      /** Bills this customer: the companies that were billed by now. */
      async bill(...codes: readonly string[]): Promise<readonly string[]> {
        invoices.push(...codes);
        await runFlow(bench.engine, invoiceFlow, never);
        return payers;
      },
      /** A person says: they are two. */
      retry: () =>
        bench.store.transaction(() => {
          for (const one of select(bench.engine, Object.values(flows), "all"))
            retry(bench.engine, one);
        }),
      /** A person says: it is this company. */
      resolve: (receiverId?: string) =>
        bench.store.transaction(() =>
          resolve(bench.engine, select(bench.engine, Object.values(flows), "all"), {
            ...defined({ receiverId }),
            by: "pat",
            note: "looked",
          }),
        ),
      linked: (kind: "customer" | "supplier", code = "000101") =>
        bench.store.links.find(kind, "erp", code)?.platformId ?? null,
    };
  }
  const failing = (kind: "customer" | "supplier", when: "before" | "after") =>
    control.fault({
      method: "POST",
      path: `/${kind}s`,
      kind: "status",
      status: 500,
      when,
      times: 1,
    });
  const other = { customer: "supplier", supplier: "customer" } as const;
  const acme = party("000101", "Acme Fuel Supply");
  const bayou = party("000101", "Bayou Trucking");

  test.each(["customer", "supplier"] as const)(
    "another firm of the other kind is never taken for a %s whose creation failed uncommitted",
    async (kind) => {
      const here = await site();
      expect(await here.deliver(other[kind], acme)).toBeNull();
      await failing(kind, "before");
      expect(await here.deliver(kind, bayou)).toBe("same-code");
      expect(here.linked(kind)).toBeNull();
      expect(here.cause(kind)).toMatch(/"Bayou Trucking".*Acme Fuel Supply/);
    },
  );

  test("a person who retries it has it created as a company of its own", async () => {
    const here = await site();
    await here.deliver("supplier", acme);
    await failing("customer", "before");
    await here.deliver("customer", bayou);
    here.retry();
    expect(await here.deliver("customer")).toBeNull();
    expect(here.linked("customer")).not.toBe(here.linked("supplier"));
    expect(await connections("000101")).toHaveLength(2);
  });

  test.each(["customer", "supplier"] as const)(
    "the same firm in both roles is one company, also when its creation as %s failed",
    async (kind) => {
      const here = await site();
      await here.deliver(other[kind], bayou);
      await failing(kind, "before");
      expect(await here.deliver(kind, bayou)).toBeNull();
      expect(here.linked(kind)).toBe(here.linked(other[kind]));
      expect(await connections("000101")).toHaveLength(1);
      expect(await here.notices()).toEqual([
        expect.stringContaining(`${kind} 000101 and ${other[kind]} 000101 are one party there`),
      ]);
    },
  );

  test.each([
    ["says another street", party("000101", "Bayou Trucking", ',"street":"2 Dock Rd"')],
    ["is named with more words", party("000101", "Bayou Trucking Terminals")],
  ])("one that is found by the name and %s is for a person", async (_, supplier) => {
    const here = await site();
    await here.deliver("supplier", supplier);
    const customer = party("000101", "Bayou Trucking", ',"street":"1 Main St"');
    expect(await here.deliver("customer", customer)).toBe("same-code");
    here.retry();
    expect(await here.deliver("customer")).toBeNull();
    expect(here.linked("customer")).not.toBe(here.linked("supplier"));
  });

  test("blanks, case and the way an accent is written make no other firm", async () => {
    const here = await site();
    await here.deliver("supplier", party("000101", "Caf\u00e9  Fuel", ',"city":"Reno"'));
    const written = party("000101", "CAFE\u0301 FUEL", ',"city":"RENO","zip":"89501"');
    expect(await here.deliver("customer", written)).toBeNull();
    expect(here.linked("customer")).toBe(here.linked("supplier"));
  });

  test.each([
    ["the search finds no name", { connectionSearch: "nothing" }],
    ["connections show no id of ours", { externalIdBecomesErpId: false }],
    ["neither", { connectionSearch: "nothing", externalIdBecomesErpId: false }],
  ])("the same firm in both roles is one company, too, where %s", async (_, readings) => {
    await control.readings(readings);
    const here = await site();
    await here.deliver("supplier", bayou);
    expect(await here.deliver("customer", bayou)).toBeNull();
    expect(here.linked("customer")).toBe(here.linked("supplier"));
  });

  const street = ',"street":"1 Main St"';

  test("a firm that comes again under another code is told with both, and goes on under the new one when a person says so", async () => {
    const here = await site();
    await here.deliver("customer", party("000101", "Bayou Trucking", street));
    const company = here.linked("customer");
    expect(await here.deliver("customer", party("000202", "Bayou Trucking", street))).toBe(
      "code-changed",
    );
    expect(here.cause("customer")).toMatch(/customer 000101 .*now it comes as 000202/);
    here.resolve(`${company}`);
    expect(here.linked("customer", "000202")).toBe(company);
    expect(here.linked("customer")).toBeNull();
  });

  test.each([
    ["both come in one page", null],
    ["the first is in doubt", "after"],
    ["the first never came there", "before"],
  ] as const)("a firm under two codes is told, where %s", async (_, when) => {
    const here = await site();
    if (when !== null) await failing("customer", when);
    await here.read(
      "customer",
      bayou,
      ...(when === null ? [party("000202", "Bayou Trucking")] : []),
    );
    if (when !== null) await here.read("customer", party("000202", "Bayou Trucking"));
    expect(await here.deliver("customer")).toBe("code-changed");
    const made = [...(await connections("000101")), ...(await connections("000202"))];
    expect(made).toHaveLength(1);
  });

  test("a firm that was renamed since a person, or a store that is lost, made it is told, and no second company", async () => {
    const [company] = (await send(acme)).ids ?? [];
    const here = await site();
    expect(await here.deliver("customer", bayou)).toBe("same-code");
    expect(await connections("000101")).toHaveLength(1);
    here.resolve(`${company}`);
    expect(here.linked("customer")).toBe(company);
  });

  test.each([
    ["is renamed: a person links it with its company", "its own"],
    ["is renamed: a person closes what is told", "closed"],
    ["has its old name again", "back"],
    ["has left its code to another firm", "another"],
    ["has exchanged its code with another firm", "exchanged"],
  ] as const)(
    "no invoice bills anybody while nobody knows whose a code is: a firm that %s",
    async (_, is) => {
      const here = await site();
      await here.deliver("customer", party("000101", "Bayou Trucking", street));
      await here.deliver("customer", party("000303", "Gulf Barge"));
      const name = is === "another" ? "Sabine Lights" : "Gulf Barge";
      const [bayou, gulf] = [here.linked("customer"), here.linked("customer", "000303")];
      expect(await here.deliver("customer", party("000101", name))).toBe("code-changed");
      expect(here.cause("customer")).toMatch(
        /^customer 000101 has another name .*\nname: Bayou Trucking, now (Gulf Barge|Sabine)/,
      );
      expect(await here.bill("000101")).toEqual([]);
      if (is === "its own") here.resolve(`${bayou}`);
      if (is === "closed") here.resolve();
      if (is === "back") await here.deliver("customer", party("000101", "Bayou Trucking", street));
      if (is === "exchanged") here.resolve(`${gulf}`);
      if (is === "another") here.retry();
      await here.deliver("customer");
      const now = here.linked("customer");
      const company = {
        "its own": bayou,
        closed: bayou,
        back: bayou,
        another: now,
        exchanged: gulf,
      };
      expect(await here.bill()).toEqual([company[is]]);
      if (is !== "another") {
        expect(now).toBe(company[is]);
        // What else changes of it afterwards holds up nothing.
        const moved = party(
          "000101",
          is === "back" ? "Bayou Trucking" : name,
          ',"street":"2 Dock Rd"',
        );
        expect(await here.deliver("customer", moved)).toBe("changed-after-delivery");
        return expect(await here.bill("000101")).toEqual([now, now]);
      }
      expect([bayou, gulf]).not.toContain(now);
      // The firm that had the code comes under another one: no second company is made of it.
      const later = await here.deliver("customer", party("000404", "Bayou Trucking", street));
      expect(later).toBe("code-changed");
      here.resolve(`${bayou}`);
      expect(await here.bill("000404")).toEqual([now, bayou]);
    },
  );

  test("no invoice goes before the list of parties was read that came with it: whose its code is now is known first", async () => {
    const here = await site();
    await here.deliver("customer", party("000101", "Bayou Trucking", street));
    expect(await here.once("000101", party("000101", "Sabine Lights"))).toEqual([]);
    expect(await here.deliver("customer")).toBe("code-changed");
    here.resolve();
    expect(await here.bill()).toEqual([here.linked("customer")]);
  });

  test("a firm that is renamed where nobody can give its id to another one is billed as before", async () => {
    const here = await site("erp.parties", true);
    await here.deliver("customer", party("000101", "Bayou Trucking", street));
    const renamed = party("000101", "Bayou Lubricants", street);
    expect(await here.deliver("customer", renamed)).toBe("changed-after-delivery");
    expect(await here.bill("000101")).toEqual([here.linked("customer")]);
  });

  test("a name and a street that changed after delivery are told with both values", async () => {
    const here = await site();
    await here.deliver("customer", party("000101", "Bayou Trucking", street));
    const moved = party("000101", "Bayou  Trucking", ',"street":"2 Dock Rd"');
    expect(await here.deliver("customer", moved)).toBe("changed-after-delivery");
    expect(here.cause("customer")).toMatch(
      /takes no changes:\nname: .*Bayou Trucking.*, now .*\nstreet: 1 Main St, now 2 Dock Rd$/,
    );
  });

  test("two parties of one name and address in the ERP are two companies when a person says so", async () => {
    const here = await site();
    await here.deliver("customer", party("000101", "Bayou Trucking", street));
    await here.deliver("customer", party("000202", "Bayou Trucking", street));
    here.retry();
    expect(await here.deliver("customer")).toBeNull();
    expect(here.linked("customer", "000202")).not.toBe(here.linked("customer"));
  });

  test("two customers of one name and different addresses are two, and nobody is asked", async () => {
    const here = await site();
    await here.deliver("customer", party("000101", "Bayou Trucking", street));
    const other = party("000202", "Bayou Trucking", ',"street":"2 Dock Rd"');
    expect(await here.deliver("customer", other)).toBeNull();
    expect(here.linked("customer", "000202")).not.toBe(here.linked("customer"));
  });

  test("one record of one list is one firm, whatever changed in it between the two", async () => {
    const here = await site("erp.parties");
    await here.deliver("supplier", party("000101", "Bayou Trucking", ',"street":"2 Dock Rd"'));
    const moved = party("000101", "Bayou Trucking", ',"street":"1 Main St"');
    expect(await here.deliver("customer", moved)).toBeNull();
    expect(here.linked("customer")).toBe(here.linked("supplier"));
  });

  test.each([
    ["found by the name", "Bayou Trucking", "exact"],
    ["not found by the name", "Gulf Barge", "different"],
  ])("a company with this code that nobody linked, %s", async (_, name, found) => {
    await send(party("000101", name));
    await control.advance(3_600);
    expect(await find(bayou, await at())).toMatchObject({ found });
  });
});
