import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Decimal } from "../../core/decimal.ts";
import { answersReader, dividedBy, numberIn } from "./read.ts";
import { aleaud, compact, emptyFolder, golden, readAll } from "../../../test/files/idoc.ts";

const folderWith = (files: Readonly<Record<string, string | Buffer>>): string => {
  const folder = emptyFolder(mkdtempSync(join(tmpdir(), "idoc-")), "in");
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return folder;
};

const customers = { message: "DEBMAS", sender: "S4PCLNT100", receiver: "FUELBRIDGE" };

test("customers are read with their zeros; what is blocked is inactive, other groups are left out, one without a name is refused", async () => {
  const folder = folderWith({ "debmas_1.xml": golden("DEBMAS") });
  const { changes, notices } = await readAll(folder, { ...customers, accountGroups: ["0001"] });
  expect(changes.map(({ id, fault }) => [id, fault?.code])).toEqual([
    ["0000012000", undefined],
    ["0000012001", undefined],
    ["0000012003", "bad-field"],
  ]);
  expect(JSON.parse(changes[0]?.text ?? "")).toEqual({
    code: "0000012000",
    name: "Hill & Sons Fuel Stop 7",
    isCustomer: true,
    isSupplier: false,
    companyId: null,
    email: null,
    phone: "512-555-0100",
    street: "1 Main St",
    city: "Austin",
    state: "US-TX",
    zip: "07102",
    country: "US",
    active: true,
  });
  expect(JSON.parse(changes[1]?.text ?? "")).toMatchObject({ active: false });
  expect(changes[1]?.origin).toBe("debmas_1.xml IDoc 2 (DOCNUM 0000000000004712)");
  expect(notices).toEqual(["debmas_1.xml: 1 left out: account group CPD."]);
  expect(readdirSync(join(folder, "archive"))).toHaveLength(1);
});

test("vendors are suppliers", async () => {
  const folder = folderWith({ "cremas.xml": golden("CREMAS") });
  const { changes } = await readAll(folder, { message: "CREMAS" });
  expect(changes.map(({ text }) => JSON.parse(text) as object)).toMatchObject([
    { code: "0000104711", name: "Gulf Coast Refining, LLC", isCustomer: false, isSupplier: true },
  ]);
});

test("a condition is the price of one unit today; one of later is for a person, one with a comma is refused", async () => {
  const folder = folderWith({ "cond_a.xml": golden("COND_A") });
  const { changes, notices } = await readAll(folder, {
    message: "COND_A",
    conditionTypes: ["ZRCK"],
  });
  expect(changes.map(({ id, fault }) => [id, fault?.code])).toEqual([
    ["HOU1|ULSD2", undefined],
    ["DAL1|REG87", "not-valid-yet"],
    ["DAL1|PRM93", "bad-field"],
  ]);
  expect(changes[0]?.text).toBe('{"list":"HOU1","product":"ULSD2","price":2.43517,"unit":"gal"}');
  expect(changes[1]?.fault?.message).toContain("2026-12-01");
  expect(changes[2]?.fault?.message).toBe('E1KONP-KBETR is "2,45", which is no number.');
  expect(notices).toEqual(["cond_a.xml: 1 left out: no longer valid (DATBI)."]);
});

test("a condition for one customer is no rack price, and is left out", async () => {
  const text = compact(golden("COND_A")).replace("<VAKEY>", "<KUNNR>0000012000</KUNNR><VAKEY>");
  const folder = folderWith({ "cond_a.xml": text });
  const source = { message: "COND_A", conditionTypes: ["ZRCK"] };
  const { changes, notices } = await readAll(folder, source);
  expect(changes.map(({ id }) => id)).toEqual(["DAL1|REG87", "DAL1|PRM93"]);
  expect(notices).toEqual(["cond_a.xml: 1 left out: for one customer (KUNNR)."]);
});

test("a condition with supplements is one record for a person, which says so", async () => {
  const more = "<E1KONP><KSCHL>ZSUR</KSCHL><KBETR>0.05</KBETR></E1KONP></E1KONH>";
  const text = compact(golden("COND_A")).replaceAll("</E1KONH>", more);
  const folder = folderWith({ "cond_a.xml": text });
  const { changes } = await readAll(folder, { message: "COND_A", conditionTypes: ["ZRCK"] });
  expect(changes.map(({ id, fault }) => [id, fault?.code])).toEqual([
    ["HOU1|ULSD2", "bad-field"],
    ["DAL1|REG87", "not-valid-yet"],
    ["DAL1|PRM93", "bad-field"],
  ]);
  expect(changes[0]?.fault?.message).toContain("has supplements");
});

test("a terminal may stand in a part of the concatenated key", async () => {
  const folder = folderWith({ "cond_a.xml": golden("COND_A") });
  const terminal = { from: 1, length: 4 };
  const { changes } = await readAll(folder, {
    message: "COND_A",
    conditionTypes: ["ZRCK"],
    terminal,
  });
  expect(changes[0]?.id).toBe("HOU1|ULSD2");
});

test.each([
  ["26.75-", "-26.75"],
  ["-26.75", "-26.75"],
  ["000012.500", "12.500"],
  ["  7", "7"],
  ["1,5", null],
  ["1.000,00", null],
  ["-1-", null],
  ["1e5", null],
  ["", null],
])("the number %s is read as %s", (text, number) => {
  expect(numberIn(text)?.text ?? null).toBe(number);
});

test("a price is divided by its pricing unit with all digits, or refused", () => {
  const of = (number: string, by: string) =>
    dividedBy(Decimal.of(number), Decimal.of(by))?.plain() ?? null;
  expect(of("2435.17", "1000")).toBe("2.43517");
  expect(of("1", "8")).toBe("0.125");
  expect(of("1", "3")).toBeNull();
  expect(of("1", "0")).toBeNull();
});

const good = compact(golden("DEBMAS"));
const inField = (text: string): string => good.replace("Fuel Stop 7", text);
const BOMB = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">${Array.from(
  { length: 9 },
  (_, at) => `<!ENTITY a${at} "${`&a${at === 0 ? "" : at - 1};`.repeat(10)}">`,
).join("")}]><a>&a8;</a>`;

const BAD: readonly [string, string | Buffer, RegExp][] = [
  ["an entity bomb", BOMB, /declares a document type/],
  [
    "a document type",
    good.replace("<ZDEBMAS7>", "<!doctype ZDEBMAS7 SYSTEM 'file:///etc/passwd'><ZDEBMAS7>"),
    /declares a document type/,
  ],
  ["an unknown entity", inField("&secret;"), /&secret;.*no character/],
  ["a lone ampersand", inField("Tom & Jerry"), /which is no character|is not whole XML/],
  ["a reference to a control character", inField("&#7;"), /which is no character/],
  ["NUL", inField("a\u0000b"), /U\+0000/],
  ["a file that stops in the middle", good.slice(0, good.length / 2), /is not whole XML/],
  [
    "an element that is not closed",
    good.replace("</IDOC></ZDEBMAS7>", "</ZDEBMAS7>"),
    /is not whole XML/,
  ],
  ["UTF-16", Buffer.from(`\ufeff${good}`, "utf16le"), /is UTF-16/],
  ["Latin-1", Buffer.from(inField("Müller"), "latin1"), /is not valid UTF-8/],
  [
    "an encoding that nobody reads",
    good.replace("UTF-8", "EBCDIC-US"),
    /says that it is EBCDIC-US/,
  ],
  [
    "elements 400 deep",
    `${"<a>".repeat(400)}${"</a>".repeat(400)}`,
    /is not whole XML: Maximum nested/,
  ],
  ["a comment that does not end", "<!--".repeat(100_000), /is not whole XML/],
  ["no control record", good.replaceAll(/<EDI_DC40.*?<\/EDI_DC40>/g, ""), /has no control record/],
  ["no IDoc", "<ORDERS05/>", /has no IDOC/],
  ["nothing", " \n", /is empty/],
  ["no type around it", "<IDOC><EDI_DC40/></IDOC>", /begins with IDOC; SAP's port writes/],
  [
    "a field twice",
    good.replace("</E1KNA1M>", "<LOEVM>X</LOEVM><LOEVM/></E1KNA1M>"),
    /has E1KNA1M-LOEVM twice in one segment/,
  ],
  ["a web page", "<html><body>Login</body></html>", /has no IDOC/],
];

test("bad files are refused with a report beside each, and good ones go through", async () => {
  const files = Object.fromEntries(
    BAD.map(([, content], at) => [`bad_${String(at).padStart(2, "0")}.xml`, content]),
  );
  const folder = folderWith({
    ...files,
    "good.xml": good,
    "marks.xml": `\ufeff${inField("Öl 🛢").replaceAll("00000120", "00000130")}`,
  });
  const { changes, notices } = await readAll(folder, { message: "DEBMAS" });
  expect(changes.filter(({ fault }) => fault === undefined).map(({ id }) => id)).toEqual(
    expect.arrayContaining(["0000012000", "0000013000"]),
  );
  expect(changes.find(({ id }) => id === "0000013000")?.text).toContain("Hill & Sons Öl 🛢");
  const failed = readdirSync(join(folder, "failed"));
  for (const [at, [what, , reason]] of BAD.entries()) {
    const name = `bad_${String(at).padStart(2, "0")}`;
    const report = failed.find((one) => one.startsWith(name) && one.endsWith(".errors.csv"));
    expect([what, report === undefined]).toEqual([what, false]);
    expect([what, readFileSync(join(folder, "failed", report ?? ""), "utf8")]).toEqual([
      what,
      expect.stringMatching(reason),
    ]);
    expect(notices.join("\n")).toMatch(new RegExp(`${name}\\.xml`));
  }
  expect(failed).toHaveLength(2 * BAD.length);
  expect(existsSync(join(folder, "archive"))).toBe(true);
});

test.each([
  [
    "CDATA",
    inField("<![CDATA[<Stop & \u00dcberland> &amp; 7]]> end"),
    "<Stop & Überland> &amp; 7 end",
  ],
  ["a comment around CDATA", inField("A<!-- <![CDATA[ x -->B"), "AB"],
  [
    "ISO-8859-1, as it is declared",
    Buffer.from(inField("Müller §").replace("UTF-8", "ISO-8859-1"), "latin1"),
    "Müller §",
  ],
  [
    "Windows-1252, as it is declared",
    Buffer.from(inField("100 \u0080").replace("UTF-8", "windows-1252"), "latin1"),
    "100 €",
  ],
])("%s is read as what it says", async (_, content, expected) => {
  const { changes } = await readAll(folderWith({ "a.xml": content }), { message: "DEBMAS" });
  expect((JSON.parse(changes[0]?.text ?? "{}") as { name: string }).name).toBe(
    `Hill & Sons ${expected}`,
  );
});

test("an IDoc that is another message, for another, or a test is refused alone", async () => {
  const other = good
    .replace("<MESTYP>DEBMAS", "<MESTYP>MATMAS")
    .replace("<DOCNUM>0000000000004712", "<TEST>X</TEST><DOCNUM>0000000000004712");
  const { changes } = await readAll(folderWith({ "a.xml": other }), customers);
  expect(changes.map(({ fault }) => fault?.code)).toEqual(["not-for-us", "test-idoc"]);
  const { changes: elsewhere } = await readAll(folderWith({ "a.xml": good }), {
    ...customers,
    receiver: "OTHER",
  });
  expect(elsewhere.map(({ fault }) => fault?.field)).toEqual(["RCVPRN", "RCVPRN"]);
});

test("an IDoc of more segments than a call has arguments is read", async () => {
  const many = good.replace("</E1KNA1M>", `${"<Z1><Z/></Z1>".repeat(150_000)}</E1KNA1M>`);
  const { changes } = await readAll(folderWith({ "a.xml": many }), customers);
  expect(changes[0]).toMatchObject({ id: "0000012000" });
  expect(changes[0]?.fault).toBeUndefined();
});

const answersIn = (text: string) => answersReader.read(Buffer.from(text), "a.xml").acknowledgements;

test("an answer has SAP's text with its parameters in it", () => {
  expect(answersIn(aleaud("4711", "51"))).toEqual([
    {
      exchange: "idoc 0000000000004711",
      item: "",
      verdict: "refused",
      detail: "status 51 of 2026-08-14 16:00: Vendor 0000104711 is not defined (M8 321)",
      reason: "status 51: Vendor & is not defined (M8 321)",
      at: "20260814160000",
    },
  ]);
});

test("an answer has what SAP says in its older and its newer fields", () => {
  const said = (state: string) =>
    answersIn(
      compact(golden("ALEAUD")).replace(
        /<E1STATE.*<\/E1STATE>/,
        `<E1STATE SEGMENT="1"><DOCNUM>4711</DOCNUM><STATUS>51</STATUS>${state}</E1STATE>`,
      ),
    )?.map(({ detail, reason }) => [detail.replace("@DATE@@TIME@", ""), reason]);
  // 20 characters of a parameter, and all of it.
  const cut = "<STAPA1>Gulf Coast Refining </STAPA1>";
  const whole = "<STAPA1_LNG>Gulf Coast Refining, Port Arthur</STAPA1_LNG>";
  expect(said(`<STATXT>No vendor &amp;</STATXT>${cut}${whole}`)).toEqual([
    ["status 51: No vendor Gulf Coast Refining, Port Arthur", "status 51: No vendor &"],
  ]);
  expect(said(`<STACOD>SAPM8321</STACOD>${cut}`)).toEqual([
    ["status 51: Gulf Coast Refining (SAPM8321)", "status 51: (SAPM8321)"],
  ]);
  // Some fill in what the parameters say.
  expect(said("<STATXT>Vendor 104711 is blocked</STATXT><STAPA1>104711</STAPA1>")).toEqual([
    ["status 51: Vendor 104711 is blocked", "status 51: Vendor & is blocked"],
  ]);
});

test("a STATUS is an answer, too", () => {
  const text = compact(golden("ALEAUD"))
    .replace("<MESTYP>ALEAUD", "<MESTYP>STATUS")
    .replace(
      /<E1ADHDR.*<\/E1ADHDR>/,
      '<E1STATS SEGMENT="1"><DOCNUM>0000000000004711</DOCNUM><LOGDAT>20260814</LOGDAT><LOGTIM>170000</LOGTIM><STATUS>53</STATUS><STATXT>Document &amp;1 posted</STATXT><STAPA1>5105600123</STAPA1></E1STATS>',
    );
  expect(answersIn(text)).toEqual([
    {
      exchange: "idoc 0000000000004711",
      item: "",
      verdict: "accepted",
      detail: "status 53 of 2026-08-14 17:00: Document 5105600123 posted",
      reason: "status 53: Document &1 posted",
      at: "20260814170000",
    },
  ]);
});
