import { describe, expect, test } from "vitest";
import { nowhere } from "../../../test/conformance/samples.ts";
import { instant, type Row, times } from "../../../test/conformance/support.ts";
import { engineOn, pagesOf } from "../../../test/support/engine.ts";
import { tempFolder } from "../../../test/support/folder.ts";
import { defineMapping, type Memory } from "../../core/contract.ts";
import { runFlow } from "../../engine/daemon.ts";
import { UpdateDeliveryTicket } from "../contract/delivery-ticket.ts";
import { deliverThrough, unknownOutcomes } from "../../../test/platform/outcomes-unknown.ts";
import { testClock } from "../../../test/support/clock.ts";
import { faultFor, items, never, outgoing, usePlatform } from "../../../test/platform/support.ts";

const platform = usePlatform();
const { control } = platform;

const sink = () => platform.sink("tickets");
const stored = () => control.stored("delivery-tickets", "supplier");
const made = async (...records: readonly Row[]): Promise<string[]> =>
  (await control.records("delivery-tickets", records)).map(({ id }) => String(id));
const send = async (document: string, to = sink()) => to.send(outgoing(to, [document]), never);
const find = async (document: string, firstSentAt: string | null = instant(1_000), to = sink()) =>
  to.find(outgoing(to, [document], { firstSentAt }), never);

const mapping = defineMapping({
  name: "test/tickets",
  kind: "delivery-ticket",
  input: UpdateDeliveryTicket,
  output: UpdateDeliveryTicket,
  number: ({ ticketNumber }) => ticketNumber ?? "",
  map: (record) => record,
  figures: () => ({ amount: null, gallons: null }),
});

const line = '{"product_name":"ULSD","gross_gallons":7512.40,"net_gallons":7498.1}';
const ticket = (more = ""): string =>
  `{"ticketNumber":"DT-000417","bolNumber":"0051361","productLines":[${line}]${more}}`;

describe("a new ticket", () => {
  test("is frozen with its digits", () => {
    expect(sink().freeze(items(ticket()))).toEqual({
      target: "POST /delivery-tickets",
      body: ticket(),
    });
  });

  test("leaves out what is empty: the contract names no field of a new ticket that may be null", async () => {
    const empty = ticket(',"orderId":null,"driverName":null,"deliveryNotes":""');
    const { body } = sink().freeze(items(empty));
    expect(body).toBe(ticket(',"deliveryNotes":""'));
    expect(await send(empty)).toMatchObject({ outcome: "done" });
  });

  test.each([
    ["ticketNumber", '{"bolNumber":"1"}'],
    ["ticketNumber", ticket().replace("DT-000417", "")],
    ["productLines.0.net_gallons", ticket().replace("7498.1", '"7498.1"')],
  ])(
    "that the contract does not take is refused before it costs a request: %s",
    (field, document) => {
      expect(faultFor(sink(), document)).toMatchObject({ code: "over-the-contract", field });
    },
  );

  test("is there once, with its digits; the same again is replayed", async () => {
    const answer = await send(ticket());
    const { text } = await control.ask("GET", "/records/delivery-tickets");
    expect(text).toContain('"gross_gallons":7512.40');
    expect(answer).toMatchObject({ outcome: "done", ids: [(await stored())[0]?.["id"]] });
    expect(await send(ticket())).toMatchObject({
      outcome: "done",
      repeated: true,
      ids: answer.ids,
    });
    expect(await stored()).toHaveLength(1);
  });

  test("is found by its number, to the letter, since the first send", async () => {
    const [id] = await made(
      { ticketNumber: "DT-000417", updatedAt: instant(400) },
      { ticketNumber: "DT-417", updatedAt: instant(1_000) },
      { ticketNumber: "DT-000417", updatedAt: instant(399) },
    );
    expect(await find(ticket())).toMatchObject({ found: "exact", ids: [id] });
    expect(await find(ticket(), instant(1_001))).toMatchObject({ found: "none" });
  });

  test("made by a clock that is 20 minutes behind is found, by what the look itself hears of it", async () => {
    const nowMs = await control.now();
    const updatedAt = new Date(nowMs).toISOString();
    const [id] = await made({ ticketNumber: "DT-000417", updatedAt });
    const ourMs = nowMs + 20 * 60_000;
    const to = platform.sink("tickets", { clock: testClock(ourMs) });
    const firstSentAt = new Date(ourMs).toISOString();
    expect(await find(ticket(), firstSentAt, to)).toMatchObject({ found: "exact", ids: [id] });
    expect(await find(ticket(), firstSentAt)).toMatchObject({ found: "none" });
  });

  test("under our number as people read it is for a person", async () => {
    const [id] = await made({ ticketNumber: "dt-000417 ", updatedAt: instant(1_000) });
    expect(await find(ticket())).toEqual({
      found: "different",
      detail: `ticket DT-000417 is ${id}, under the number dt-000417 `,
    });
  });

  test("is found among many, cursor after cursor", async () => {
    const many = times(250, (n) => ({ ticketNumber: `M-${n}`, updatedAt: instant(1_000 + n) }));
    const [, id] = await made(...many.slice(0, 1), {
      ticketNumber: "DT-000417",
      updatedAt: instant(1_130),
    });
    await made(...many.slice(1));
    for (const walkOrder of ["updatedAt", "createdAtDesc"]) {
      await control.readings({ walkOrder });
      expect(await find(ticket())).toMatchObject({ found: "exact", ids: [id] });
    }
  });

  test("of an order is looked for there; the same number without it is for a person", async () => {
    const [orderId] = (await control.records("orders", [{}])).map(({ id }) => String(id));
    const [plain] = await made({ ticketNumber: "DT-000417", updatedAt: instant(1_000) });
    expect(await find(ticket(`,"orderId":"${orderId}"`))).toMatchObject({ found: "none" });
    const [ours] = await made({ ticketNumber: "DT-000417", orderId, updatedAt: instant(1_000) });
    expect(await find(ticket(`,"orderId":"${orderId}"`))).toMatchObject({ ids: [ours] });
    expect(await find(ticket())).toMatchObject({ found: "exact", ids: [plain] });
    await control.patch("delivery-tickets", plain, { orderId, updatedAt: instant(1_000) });
    expect(await find(ticket())).toMatchObject({ found: "different" });
  });

  test("that is there twice is one too many", async () => {
    const twice = { ticketNumber: "DT-000417", updatedAt: instant(1_000) };
    const ids = await made(twice, twice);
    const finding = await find(ticket());
    expect(finding.found).toBe("several");
    for (const id of ids) expect(finding.detail).toContain(id);
  });

  test.each([{ kind: "truncate" }, { kind: "status", status: 503 }])(
    "cannot be looked for just now: %j",
    async (fault) => {
      await control.fault({ method: "GET", path: "/delivery-tickets", ...fault, times: 5 });
      expect(await find(ticket())).toMatchObject({ found: "unreadable" });
    },
  );

  test.each(unknownOutcomes)("is there once, whatever happens: %j", async (fault) => {
    const write = { method: "POST", path: "/delivery-tickets" };
    const document = { ticketNumber: "DT-000417", bolNumber: "0051361" };
    expect(await deliverThrough(platform, sink(), document, fault, write)).toEqual({
      delivered: 1,
    });
    expect(await stored()).toMatchObject([document]);
  });
});

describe("a change", () => {
  const old = {
    ticketNumber: "DT-000417",
    status: "ISSUED",
    driverName: "A",
    updatedAt: instant(1),
  };
  const change = (id: unknown, more: Row = {}): string =>
    JSON.stringify({ ticketId: id, bolNumber: "0051361", ...more });

  test("goes to the ticket that it names, and to the one that we made", () => {
    const target = `PUT /delivery-tickets/${nowhere}`;
    expect(sink().freeze(items(change(nowhere)))).toEqual({
      target,
      body: '{"bolNumber":"0051361"}',
    });
    const [item] = items(ticket());
    if (item === undefined) throw new Error("no item");
    expect(sink().freeze([{ ...item, counterpart: nowhere }])).toEqual({ target, body: ticket() });
  });

  test.each([
    ["ticketId", change("DT-000417")],
    ["bolNumber", change(nowhere, { bolNumber: "x".repeat(65) })],
  ])(
    "that the contract does not take is refused before it costs a request: %s",
    (field, document) => {
      expect(faultFor(sink(), document)).toMatchObject({ code: "over-the-contract", field });
    },
  );

  test("of a ticket that we made reaches that ticket", async () => {
    const clock = await platform.clock();
    const bench = engineOn(tempFolder(), clock);
    const version = (text: string) => [
      { changes: [{ id: "7", version: null, text }], position: 1 },
    ];
    const versions = ["", ',"driverName":"B"'].map((more) => version(ticket(more)));
    const flow = bench.flow({ sink: sink(), source: pagesOf(...versions), mapping });
    for (const method of ["POST", "PUT"]) {
      await runFlow(bench.engine, flow, never);
      expect((await control.requests()).at(-1)).toMatchObject({ method });
      await clock.pause(60_000);
    }
    expect(await stored()).toMatchObject([{ ticketNumber: "DT-000417", driverName: "B" }]);
  });

  test("of a ticket that we made empties what it was delivered with, and names nothing else that is empty", async () => {
    const clock = await platform.clock();
    const bench = engineOn(tempFolder(), clock);
    const bodies: string[] = [];
    const empty = ',"orderId":null,"carrierCompanyName":null';
    const versions = [
      ',"driverName":"B"',
      ',"driverName":null',
      ',"driverName":null,"status":"ISSUED"',
    ].map((more) => [
      { changes: [{ id: "7", version: null, text: ticket(empty + more) }], position: 1 },
    ]);
    const to = sink();
    const freeze: typeof to.freeze = (some, number) => {
      const frozen = to.freeze(some, number);
      bodies.push(frozen.body);
      return frozen;
    };
    const flow = bench.flow({ sink: { ...to, freeze }, source: pagesOf(...versions), mapping });
    for (const _ of versions) {
      await runFlow(bench.engine, flow, never);
      await clock.pause(60_000);
    }
    const said = [...new Set(bodies)].map((body) => {
      const {
        ticketNumber: _,
        bolNumber: __,
        productLines: ___,
        ...rest
      } = JSON.parse(body) as Row;
      return rest;
    });
    expect(said).toEqual([{ driverName: "B" }, { driverName: null }, { status: "ISSUED" }]);
    expect(await stored()).toMatchObject([{ driverName: null, status: "ISSUED" }]);
  });

  test.each([{}, { driverName: null }])("leaves what it does not name: %j", async (more) => {
    const [id] = await made(old);
    const done = { outcome: "done", ids: [id] };
    expect(await send(change(id, more))).toMatchObject(done);
    expect(await send(change(id, more))).toMatchObject({ ...done, repeated: true });
    expect(await stored()).toMatchObject([{ driverName: "A", bolNumber: "0051361" }]);
  });

  test.each([
    ["exact", {}, {}],
    ["exact", {}, { deliveryNotes: "stored, not shown" }],
    ["exact", { deliveryDate: instant(5) }, { deliveryDate: "2025-12-31T18:00:05.4-06:00" }],
    ["exact", { productLines: null }, { productLines: [] }],
    ["none", { bolNumber: "51361" }, {}],
    ["different", { bolNumber: "51361", updatedAt: instant(1_000) }, {}],
    ["different", { deliveryDate: null, updatedAt: instant(900) }, { deliveryDate: instant(5) }],
  ])("is looked for by what it says: %s %j %j", async (found, fields, more) => {
    const [id] = await made({ ...old, bolNumber: "0051361", ...fields });
    expect(await find(change(id, more))).toMatchObject({ found });
  });

  test.each([
    ["none", "0051361"],
    ["different", "777"],
  ])(
    "that came right after the one before is %s where the ticket shows bill of lading %s",
    async (found, bolNumber) => {
      const [id] = await made({ ...old, bolNumber, updatedAt: instant(1_000) });
      const body = `{"ticketNumber":"${old.ticketNumber}","bolNumber":"0051361"}`;
      const before = {
        kind: "delivery-ticket",
        number: "1",
        isOwnKind: true,
        isOwnRecord: true,
        body,
      };
      const memory = { linked: () => [before] } as unknown as Memory;
      const request = outgoing(sink(), [change(id, { bolNumber: "51361" })], {
        firstSentAt: instant(1_000),
      });
      expect(await sink().find(request, never, memory)).toMatchObject({ found });
    },
  );

  test("is looked for by lines and numbers, not by digits", async () => {
    const productLines = [{ product_name: "ULSD", net_gallons: 7498.1, spec: "#2" }];
    const [id] = await made({ ...old, productLines });
    const lines = (text: string) => `{"ticketId":"${id}","productLines":[${text}]}`;
    const ours = '{"product_name":"ULSD","net_gallons":7498.10}';
    expect(await find(lines(ours))).toMatchObject({ found: "exact", ids: [id] });
    for (const other of [ours.replace("7498.10", "7498.11"), `${ours},${ours}`, '"ULSD"'])
      expect(faultFor(sink(), lines(other)) ?? (await find(lines(other)))).not.toMatchObject({
        found: "exact",
      });
  });

  test("of a ticket that is gone is none", async () => {
    expect(await find(change(nowhere))).toMatchObject({ found: "none" });
    expect(await send(change(nowhere))).toMatchObject({ outcome: "refused" });
  });

  test.each(unknownOutcomes)("is made, whatever happens: %j", async (fault) => {
    const [ticketId] = await made(old);
    const write = { method: "PUT", path: "/delivery-tickets/{id}" };
    const document = { ticketId, bolNumber: "0051361" };
    expect(await deliverThrough(platform, sink(), document, fault, write)).toEqual({
      delivered: 1,
    });
    expect(await stored()).toMatchObject([{ bolNumber: "0051361", driverName: "A" }]);
  });
});

describe("a signature", () => {
  const signatures = () => platform.sink("ticketSignatures");
  const signed = (ticketId: unknown, more: Row = {}): string =>
    JSON.stringify({ ticketId, receiverName: "R. Díaz", ...more });

  test.each([
    ["ticketId", signed("DT-1")],
    ["receiverName", signed(nowhere, { receiverName: "" })],
    ["discrepancies", signed(nowhere, { discrepancies: "x".repeat(2001) })],
  ])(
    "that the contract does not take is refused before it costs a request: %s",
    (field, document) => {
      expect(faultFor(signatures(), document)).toMatchObject({ code: "over-the-contract", field });
    },
  );

  test("signs the ticket; the same again is replayed", async () => {
    const [id] = await made({ status: "ISSUED" });
    expect(outgoing(signatures(), [signed(id)])).toMatchObject({
      target: `POST /delivery-tickets/${id}/sign`,
      body: '{"receiverName":"R. Díaz"}',
    });
    expect(await send(signed(id), signatures())).toMatchObject({ outcome: "done", ids: [id] });
    expect(await send(signed(id), signatures())).toMatchObject({
      outcome: "done",
      repeated: true,
      ids: [id],
    });
    expect(await stored()).toMatchObject([{ status: "SIGNED", receiverName: "R. Díaz" }]);
  });

  test.each([
    ["exact", "SIGNED"],
    ["none", "DRAFT"],
    ["none", "ISSUED"],
    ["different", "VOID"],
  ])("is looked for by the ticket's status: %s %s", async (found, status) => {
    const [id] = await made({ status });
    expect(await find(signed(id), null, signatures())).toMatchObject({ found });
  });

  test("on no ticket is none", async () => {
    expect(await find(signed(nowhere), null, signatures())).toMatchObject({ found: "none" });
  });

  test.each(unknownOutcomes)("is there, whatever happens: %j", async (fault) => {
    const [ticketId] = await made({ status: "ISSUED" });
    const document = { ticketId, receiverName: "R. Díaz" };
    const write = { method: "POST", path: "/delivery-tickets/{id}/sign" };
    expect(await deliverThrough(platform, signatures(), document, fault, write)).toEqual({
      delivered: 1,
    });
    expect(await stored()).toMatchObject([{ status: "SIGNED", receiverName: "R. Díaz" }]);
  });
});
