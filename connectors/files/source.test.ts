import { appendFile, readFile, symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SourceUnavailable } from "../../src/core/errors.ts";
import { parties } from "../../src/formats/table/layouts.ts";
import { dropFolder, type DropFolder, picks, recordsOf } from "../../test/files/source.ts";

let folder: DropFolder;
beforeEach(async () => {
  folder = await dropFolder();
});
afterEach(() => folder.remove());

const HEADER =
  "ID,Code,Name,Phone,Mobile,E-Mail,Addresses/Building Name,Addresses/Street,Addresses/Postal Code,Addresses/City," +
  "Addresses/Subdivision/Code,Addresses/Country/Code,Customer Payment Term";
const party = (code: string, name = "Acme") =>
  `1,${code},${name},,,,,Dock St,77520,Baytown,US-TX,US,`;
const ADDRESS = ",,,,,,Yard,Farm Rd,79401,Lubbock,US-TX,US,";
const file = (...rows: string[]) => [HEADER, ...rows, ""].join("\r\n");
const codes = async () => (await folder.read(picks.customers)).changes.map(({ id }) => id);

/** A list with columns that are all there is. */
const NOTES = { layout: "plain/order-notes", pick: "customers*.csv" };
const PRICES =
  "ID,Name,Unit,Tax Included,Lines/Sequence,Lines/Product/Code,Lines/Product,Lines/Category,Lines/Quantity," +
  "Lines/Formula,Edited at,Created at";
const prices = (price: string) =>
  `${PRICES}\r\n1,T-75-TX-2650,product_default,0,1,087,,,,${price},,\r\n`;
const formulas = async () =>
  (await folder.read(picks.priceLists)).changes.map(
    ({ text }) => /"price":([\d.]+)/.exec(text)?.[1],
  );

describe("pick-up", () => {
  test("a file that is still growing is left alone until it is at rest", async () => {
    await folder.put("customers.csv", file(party("1")));
    folder.duringPause = () => appendFile(join(folder.path, "customers.csv"), `${party("2")}\r\n`);
    const growing = await folder.read(picks.customers);
    expect(growing.changes).toEqual([]);
    const soon = { fault: { code: "changing" }, awaited: true, againMs: 2_000 };
    expect(growing.obstacles).toMatchObject([soon]);
    folder.duringPause = async () => {};
    expect(await codes()).toEqual(["1", "2"]);
  });

  test("only names that match are read, and nothing unfinished", async () => {
    for (const name of ["vendors.csv", "customers.csv.tmp", "customers.csv.part", "customers.txt"])
      await folder.put(name, file(party("1")));
    expect((await folder.read(picks.customers)).pages).toEqual([]);
    expect((await folder.names()).length).toBe(4);
  });

  test("links and odd names stay and are told at each look; they hold back nothing", async () => {
    await folder.put("elsewhere.txt", file(party("1")));
    await symlink(join(folder.path, "elsewhere.txt"), join(folder.path, "customers-link.csv"));
    await folder.put("customers-\u202egnp.csv", file(party("2")));
    await folder.put("customers-new.csv", file(party("3")));
    const { changes, obstacles } = await folder.read(picks.customers);
    expect(changes.map(({ id }) => id)).toEqual(["3"]);
    expect(obstacles).toMatchObject([
      { what: "customers-?gnp.csv", fault: { code: "odd-name" }, behind: { count: 0 } },
      { what: "customers-link.csv", fault: { code: "not-a-file" }, behind: { count: 0 } },
    ]);
    expect((await folder.read(picks.customers)).obstacles).toEqual(obstacles);
  });

  test("a file is archived only after its page was consumed", async () => {
    await folder.put("customers.csv", file(party("1")));
    const reading = {
      signal: new AbortController().signal,
      known: () => null,
      stored: () => false,
    };
    const pages = folder.open(picks.customers).sources["it"]?.read(null, reading);
    const iterator = pages?.[Symbol.asyncIterator]();
    const first = await iterator?.next();
    expect(first?.value).toMatchObject({ arrival: { name: "customers.csv" } });
    expect(await folder.names()).toEqual(["customers.csv"]);
    await iterator?.next();
    expect(await folder.names()).toEqual(["archive"]);
    expect(await folder.names("archive")).toEqual([
      expect.stringMatching(/^customers\.\w{8}\.csv$/),
    ]);
  });

  test("a crash between the page and the archive reads nothing twice", async () => {
    await folder.copy("payments.csv");
    const content = await readFile(join(folder.path, "payments.csv"));
    await folder.read(picks.payments);
    await folder.put("payments.csv", content);
    expect((await folder.read(picks.payments)).changes).toEqual([]);
    expect(await folder.names()).toEqual(["archive"]);
    expect((await folder.names("archive")).length).toBe(2);
  });

  test("bytes that came before are recognised under any name, and said so", async () => {
    await folder.copy("payments.csv");
    expect((await folder.read(picks.payments)).changes.length).toBe(91);
    await folder.copy("payments.csv", "payments (1).csv");
    const { changes, notices } = await folder.read(picks.payments);
    expect(changes).toEqual([]);
    expect(notices).toEqual([
      "payments (1).csv came before, as payments.csv at 2026-11-21T12:00:00Z; it is not read again.",
    ]);
  });

  test("a file of which rows were refused is read once more after its profile was corrected", async () => {
    const notes = (state: string) =>
      folder.put(
        "notes.yaml",
        `layout: plain/order-notes\ncolumns: { id: No, orderId: Order, note: { label: Note, values: { ${state}: Late } } }\n`,
      );
    const pick = { layout: "plain/order-notes", profile: "notes.yaml", pick: "notes*.csv" };
    const bytes = "No,Order,Note\r\n1,7,L\r\n2,7,X\r\n";
    const read = async (name: string) => {
      await folder.put(name, bytes);
      return (await folder.read(pick)).changes.map(({ id, fault }) => [id, fault?.code]);
    };
    await notes("L");
    expect(await read("notes.csv")).toEqual([
      ["1", undefined],
      ["2", "bad-cell"],
    ]);
    expect(await read("notes (1).csv")).toEqual([]);
    await notes("L: Late, X");
    const whole = [
      ["1", undefined],
      ["2", undefined],
    ];
    expect(await read("notes (2).csv")).toEqual(whole);
    expect(await read("notes (3).csv")).toEqual([]);
  });

  test("two files with one name are two files, and both are kept", async () => {
    await folder.put("customers.csv", file(party("1")));
    expect(await codes()).toEqual(["1"]);
    await folder.put("customers.csv", file(party("2")));
    expect(await codes()).toEqual(["2"]);
    expect((await folder.names("archive")).length).toBe(2);
  });

  test("prices A, B, A reach A again; A twice in a row is one", async () => {
    await folder.put("price-lists.csv", prices("2.10"));
    expect(await formulas()).toEqual(["2.10"]);
    await folder.put("price-lists.csv", prices("2.10"));
    expect(await formulas()).toEqual([]);
    await folder.put("price-lists.csv", prices("2.20"));
    expect(await formulas()).toEqual(["2.20"]);
    await folder.put("price-lists.csv", prices("2.10"));
    expect(await formulas()).toEqual(["2.10"]);
  });

  test("notes A, B, A reach A again where A was written anew; a copy of the old file changes nothing", async () => {
    const pick = { layout: "plain/order-notes", pick: "notes*.csv" };
    const notes = async (name: string, note: string) => {
      await folder.put(name, `ID,Order ID,Note\r\n1,7,${note}\r\n`);
      return { read: async () => (await folder.read(pick)).changes.map(({ text }) => text) };
    };
    expect(await (await notes("notes.csv", "early")).read()).toEqual([
      '{"id":"1","orderId":"7","note":"early"}',
    ]);
    expect((await (await notes("notes.csv", "late")).read()).length).toBe(1);
    // As old as the first one, which came on the 21st.
    expect(await (await notes("notes (1).csv", "early")).read()).toEqual([]);
    const anew = await notes("notes.csv", "early");
    await utimes(join(folder.path, "notes.csv"), 0, Date.parse("2026-11-21T13:00:00Z") / 1000);
    expect(await anew.read()).toEqual(['{"id":"1","orderId":"7","note":"early"}']);
  });

  test("what was exported later is read later, whatever its name", async () => {
    await folder.put("price-lists-b.csv", prices("2.10"));
    await folder.put("price-lists-a.csv", prices("2.20"));
    expect(await formulas()).toEqual(["2.10", "2.20"]);
  });

  test("a folder that is not there stops the reading and the check, with the next action", async () => {
    const missing = { ...picks.customers, folder: "gone" };
    await expect(folder.read(missing)).rejects.toThrow(SourceUnavailable);
    await expect(folder.open(missing).check(new AbortController().signal)).rejects.toThrow("gone");
    await folder.open(picks.customers).check(new AbortController().signal);
    await folder.open(picks.customers).close();
  });
});

describe("sets of files", () => {
  const HEADS = "customer-invoices.csv";
  const LINES = "customer-invoice-lines.csv";
  const TAXES = "customer-invoice-taxes.csv";

  test("a set waits for its last part, is told until then, and is one arrival", async () => {
    await folder.copy(HEADS);
    await folder.copy(LINES);
    const first = await folder.read(picks.invoices);
    expect(first.pages).toEqual([]);
    expect(first.obstacles).toMatchObject([
      {
        what: `${HEADS} + ${LINES}`,
        fault: { code: "incomplete", message: "It waits for customer-invoice-taxes*.csv." },
        awaited: true,
      },
    ]);
    await folder.copy(TAXES);
    const { pages, changes, obstacles } = await folder.read(picks.invoices);
    expect(obstacles).toEqual([]);
    expect(changes.length).toBe(122);
    expect(pages.at(-1)?.arrival?.name).toBe(`${HEADS} + ${LINES} + ${TAXES}`);
    expect((await folder.names("archive")).length).toBe(3);
  });

  test("lines without their invoice are left out and said so", async () => {
    await folder.copy("customer-invoices-truncated-quoted.csv", HEADS);
    await folder.copy(LINES);
    const { changes, notices } = await folder.read(picks.invoicesAndLines);
    expect(changes.length).toBe(30);
    expect(notices[0]).toMatch(
      /^customer-invoice-lines.csv: \d+ rows \(the first in line 2\) belong/,
    );
  });

  test("when the lines are cut short, no invoice of the set is read", async () => {
    await folder.copy(HEADS);
    await folder.copy(LINES);
    await folder.copy(TAXES);
    const lines = await readFile(join(folder.path, LINES), "utf8");
    await folder.put(LINES, lines.slice(0, 20_000));
    const { changes, notices } = await folder.read(picks.invoices);
    expect(changes).toEqual([]);
    expect(notices).toEqual([
      expect.stringMatching(
        /^customer-invoice-lines.csv line \d+: the file ends without a line end; \d+ rows/,
      ),
    ]);
    expect((await folder.names("failed")).length).toBe(4);
  });

  test("a bad cell in a line is the fault of its invoice alone", async () => {
    await folder.copy(HEADS);
    await folder.copy(LINES);
    const lines = await readFile(join(folder.path, LINES), "utf8");
    await folder.put(LINES, lines.replace(",6944,gal,", ",6'944,gal,"));
    const { changes } = await folder.read(picks.invoicesAndLines);
    const faulty = changes.filter(({ fault }) => fault !== undefined);
    expect(faulty).toMatchObject([
      {
        id: "1",
        origin: `${LINES} line 2, column Quantity`,
        fault: { code: "bad-cell", field: "Quantity" },
      },
    ]);
    expect(changes.length).toBe(122);
  });
});

describe("tables", () => {
  test("a bad row is set aside with file, line, column and reason; the good rows go through", async () => {
    const content = await readFile(
      new URL("../../test/data/tryton-export/payments.csv", import.meta.url),
      "utf8",
    );
    const rows = content.split("\r\n");
    rows[1] = rows[1]?.replace("42442.58", "42,442.58".replace(",", " ")) ?? "";
    rows[2] = rows[2]?.replace("11/19/2026", "19/11/2026") ?? "";
    rows[3] = `${rows[3]},surplus`;
    rows[4] = rows[4]?.replace("BILL-2026-00028", "") ?? "";
    await folder.put("payments.csv", rows.join("\r\n"));
    const { changes } = await folder.read(picks.payments);
    expect(changes.filter(({ fault }) => fault === undefined).length).toBe(87);
    expect(changes.slice(0, 4)).toMatchObject([
      {
        id: "1358",
        origin: "payments.csv line 2, column Debit",
        fault: {
          code: "bad-cell",
          message: 'Debit "42 442.58" is not a plain number with a decimal point.',
          field: "Debit",
        },
      },
      {
        id: "1356",
        origin: "payments.csv line 3, column Effective Date",
        fault: { message: 'Effective Date "19/11/2026" is not a day of the calendar.' },
      },
      {
        id: "1354",
        origin: "payments.csv line 4",
        fault: { code: "bad-row", message: "The row has 14 cells, the header 13." },
      },
      {
        id: "1352",
        origin: "payments.csv line 5, column Invoice Payments/Number",
        fault: { message: "Invoice Payments/Number is empty." },
      },
    ]);
    expect(changes[0]?.text).toContain("42 442.58");
  });

  test("a bad record that only moved is the same record", async () => {
    const bad = party("2", "a\u0001b");
    await folder.put("customers.csv", file(bad));
    const first = await folder.read(picks.customers);
    await folder.put("customers-2.csv", file(party("1"), bad));
    const second = await folder.read(picks.customers);
    expect(first.changes[0]?.fault?.code).toBe("bad-cell");
    expect(second.changes[1]?.text).toBe(first.changes[0]?.text);
  });

  test("a record without a key is known by its place", async () => {
    await folder.put("customers.csv", file(party(""), party("2")));
    expect(await codes()).toEqual(["customers.csv line 2", "2"]);
  });

  test("lines are counted as an editor counts them, line breaks in quotes too", async () => {
    await folder.put("customers.csv", file(party("1", '"A\nB\r\nC"'), "", party("2")));
    const { changes } = await folder.read(picks.customers);
    expect(changes.map(({ origin }) => origin)).toEqual([
      "customers.csv line 2",
      "customers.csv line 6",
    ]);
  });

  test("two records with one key are a fault; the same record twice is one", async () => {
    await folder.put(
      "customers.csv",
      file(party("1"), party("2"), party("1", "Other"), party("2")),
    );
    const { changes } = await folder.read(picks.customers);
    expect(changes).toMatchObject([
      { id: "1", fault: { code: "key-twice" } },
      { id: "2", origin: "customers.csv line 3" },
    ]);
    expect(changes[0]?.fault?.message).toContain("customers.csv line 2 and customers.csv line 4");
    expect(changes[1]?.fault).toBeUndefined();
    await folder.put("customers.csv", file(party("1"), party("2")));
    const corrected = await folder.read(picks.customers);
    expect(corrected.changes[0]?.text).not.toBe(changes[0]?.text);
  });

  test.each([
    ["lacks the columns", HEADER.replace("Code,Name", "Name"), 'lacks the columns "Code"'],
    ["has unknown ones", "ID,Order ID,Note,Fax", 'has the unknown columns "Fax"', NOTES],
    ["has one twice", `${HEADER},Code`, 'has the column "Code" twice'],
    ["is empty", "", "is empty"],
    ["has a header that is cut", "ID,Co", "has no whole header line"],
    [
      "is UTF-16 without a mark",
      Buffer.from("ID,Code\r\n", "utf16le").toString("latin1"),
      "is UTF-16 without a byte order mark",
    ],
  ])(
    "a file that %s is refused as a whole, with the reason beside it",
    async (_name, head, reason, pick: Record<string, unknown> = picks.customers) => {
      const isCut = head === "" || head === "ID,Co";
      await folder.put("customers.csv", isCut ? head : `${head}\r\n${party("1")}\r\n`);
      const { changes, notices, pages } = await folder.read(pick);
      expect(changes).toEqual([]);
      expect(notices[0]).toContain(`customers.csv line 1: the file ${reason}`);
      expect(pages[0]?.arrival).toBeUndefined();
      const [errors = "", kept = ""] = (await folder.names("failed")).toReversed();
      expect([kept, errors].join()).toMatch(/^customers\.(\w{8})\.csv,customers\.\1\.errors\.csv$/);
      expect(await readFile(join(folder.path, "failed", errors), "utf8")).toContain(
        `"customers.csv","1",`,
      );
    },
  );

  test("a list that was sorted is refused: its rows no longer say whose they are", async () => {
    await folder.put("customers.csv", file(ADDRESS, party("1")));
    expect((await folder.read(picks.customers)).notices[0]).toContain("was it sorted?");
  });

  test("a supplier list is not taken for a customer list", async () => {
    await folder.copy("suppliers.csv", "customers.csv");
    expect((await folder.read(picks.customers)).notices[0]).toContain('"Customer Payment Term"');
  });

  test("a stray quote is refused where it stands", async () => {
    await folder.put("customers.csv", file(party("1"), party("2", 'a"b"'), party("3")));
    expect((await folder.read(picks.customers)).notices[0]).toContain("customers.csv line 3: ");
  });

  test.each([";", "\t", "|"])("cells may be separated by %j", async (delimiter) => {
    await folder.put("customers.csv", file(party("1")).replaceAll(",", delimiter));
    expect(await codes()).toEqual(["1"]);
  });
});

describe("files that are cut short", () => {
  test("a record goes with its last row: cut in a second address, the customer waits too", async () => {
    await folder.put("customers.csv", file(party("1"), party("2"), ADDRESS).slice(0, -12));
    const { changes, notices } = await folder.read(picks.customers);
    expect(changes.map(({ id }) => id)).toEqual(["1"]);
    expect(notices[0]).toContain("line 4 ends without a line end: 1 rows before it are whole");
  });

  test("cut in the key, the record above cannot be known to be whole", async () => {
    await folder.put("customers.csv", `${file(party("1"), party("2"))}3`);
    expect(await codes()).toEqual(["1"]);
  });

  test("a short last row is a cut", async () => {
    await folder.put("customers.csv", file(party("1"), "2,2,Acme"));
    const { changes, notices } = await folder.read(picks.customers);
    expect([changes.length, notices.length]).toEqual([0, 1]);
  });

  test("cut within a character, the rest is still UTF-8", async () => {
    const whole = Buffer.from(file(party("1", "Peña"), party("2", "Peña")));
    await folder.put("customers.csv", whole.subarray(0, whole.lastIndexOf(0xb1)));
    const { changes } = await folder.read(picks.customers);
    expect(recordsOf(parties, changes).map(({ name }) => name)).toEqual(["Peña"]);
  });

  test("the corrected file is read as any other", async () => {
    await folder.put("customers.csv", `${file(party("1"))}2,2,Ac`);
    expect(await codes()).toEqual(["1"]);
    await folder.put("customers.csv", file(party("1"), party("2")));
    expect(await codes()).toEqual(["1", "2"]);
  });
});

describe("encodings", () => {
  const text = file(party("1", "Peña"));

  test("Windows-1252 is read as such, and a person is told", async () => {
    await folder.put("customers.csv", Buffer.from(text, "latin1"));
    const { changes, notices } = await folder.read(picks.customers);
    expect(recordsOf(parties, changes)[0]?.name).toBe("Peña");
    expect(notices).toEqual([expect.stringContaining("it was read as Windows-1252")]);
  });

  test("UTF-16 is known by its mark", async () => {
    await folder.put("customers.csv", Buffer.from(`\ufeff${text}`, "utf16le"));
    expect(await codes()).toEqual(["1"]);
  });

  test("a configured encoding is kept to", async () => {
    await folder.put("customers.csv", Buffer.from(text, "latin1"));
    const { notices } = await folder.read({ ...picks.customers, encoding: "utf-8" });
    expect(notices[0]).toContain("is not valid UTF-8");
    await folder.put("customers.csv", Buffer.from(text, "latin1"));
    const latin = await folder.read({ ...picks.customers, encoding: "latin1" });
    expect([latin.changes.length, latin.notices]).toEqual([1, []]);
  });
});
