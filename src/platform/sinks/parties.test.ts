import { describe, expect, test } from "vitest";
import { times } from "../../../test/conformance/support.ts";
import { faultFor, items, never, outgoing, usePlatform } from "../../../test/platform/support.ts";

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
const at = async (seconds = 0) => new Date((await control.now()) + seconds * 1000).toISOString();

test("what is frozen has the digits of the document", () => {
  const document = party("000417", "Bayou", ',"lat":29.760,"lng":-95.3700');
  expect(sink().freeze(items(document))).toEqual({ target: "POST /customers", body: document });
  expect(sink("suppliers").freeze(items(document)).target).toBe("POST /suppliers");
});

describe("what the contract does not take is refused before it costs a request", () => {
  test.each([
    ["name", party("1", "")],
    ["name", party("1", "x".repeat(201))],
    ["name", '{"externalId":"1"}'],
    ["externalId", party("x".repeat(121))],
    ["contactEmail", party("1", "A", ',"contactEmail":"nobody"')],
    ["zip", party("1", "A", `,"zip":"${"7".repeat(21)}"`)],
    ["lat", party("1", "A", ',"lat":90.0001')],
  ])("%s", (field, document) => {
    expect(faultFor(sink(), document)).toMatchObject({ code: "over-the-contract", field });
  });
});

test.each([
  ["customers", "CUSTOMER"],
  ["suppliers", "SUPPLIER"],
])(
  "%s that were sent are companies with an accepted connection; the company's id is known",
  async (name) => {
    const answer = await send(party(), undefined, name);
    const [connection] = await connections("000417");
    expect(answer).toMatchObject({ name: "done", ids: [connection?.["toCompanyId"]] });
    expect(connection?.["status"]).toBe("ACCEPTED");
  },
);

test("the same key and bytes again are replayed: one company", async () => {
  const first = await send();
  expect(await send()).toMatchObject({ name: "replayed", ids: first.ids });
  expect(await connections("000417")).toHaveLength(1);
});

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

  test("a connection of that name that appeared since the first send is for a person", async () => {
    const answer = await sendNameless();
    expect(await find(party(), await at())).toEqual({
      found: "different",
      detail: `company ${answer.ids?.[0]} has this name and no external id`,
    });
  });

  test("clocks may differ by two minutes", async () => {
    await sendNameless();
    expect(await find(party(), await at(100))).toMatchObject({ found: "different" });
    expect(await find(party(), await at(140))).toMatchObject({ found: "none" });
  });

  test("an older connection of that name is another company: it hinders nothing", async () => {
    await sendNameless();
    await control.advance(3_600);
    expect(await find(party("000418"), await at())).toMatchObject({ found: "none" });
    expect(await find(party("000418"))).toMatchObject({ found: "none" });
  });

  test("one with another external id is another company", async () => {
    await send(party("000418"));
    expect(await find(party("000417"), await at())).toMatchObject({ found: "none" });
  });
});
