/** What is read of X12: by hand-written files, and by bad ones. */
import { describe, expect, test } from "vitest";
import { FileFault } from "../format.ts";
import { acknowledgementSet, exchangeOf, type ReplyContent } from "./read.ts";
import {
  d,
  envelope,
  golden810,
  golden820,
  golden832,
  golden855,
  golden856,
  options,
  read,
  records,
} from "../../../test/files/x12.ts";

/** What a 997 and a 999 say of a number that is too long. */
const TOO_LONG = {
  verdict: "refused",
  detail:
    'R rejected; segment 2, BIG02 is too long (5): "INV-0123456789-0123456789"; segments are in error (5)',
  reason: "R rejected; BIG02 is too long (5); segments are in error (5)",
};

describe("golden files", () => {
  test("an 810 becomes an invoice of the books, to the cent", () => {
    const text = envelope({ functionalId: "IN", sets: [golden810] });
    const { changes, replies } = read("books.invoices", text);
    expect(records(changes)).toMatchObject([
      {
        number: "INV2026000118ACME",
        type: "out",
        state: "posted",
        reference: "PO-88121",
        description: "Gate B, dock 3",
        partyCode: "ACME",
        currency: "USD",
        invoiceDate: "2026-11-18",
        dueDate: "2026-11-28",
        untaxed: d("18282.01"),
        tax: d("1951.51"),
        total: d("20233.52"),
        lines: [
          {
            product: "ULSD2",
            description: "ULSD NO 2, BOL 4471182",
            quantity: d("7998"),
            unit: "gal",
            unitPrice: d("2.3457"),
            amount: d("18760.91"),
          },
          { product: null, description: "Credit, freight", amount: d("-478.90") },
        ],
        taxes: [{ description: "FED-EX", amount: d("1951.51"), authority: "IRS" }],
      },
    ]);
    expect(acknowledged(replies)).toEqual([
      ["ST*997*0001", "AK1*IN*117", "AK2*810*0001", "AK5*A", "AK9*A*1*1*1", "SE*6*0001"],
    ]);
  });

  test("an 810 that another company issued is not told as ours", () => {
    const text = envelope({
      functionalId: "IN",
      sets: [golden810.map((segment) => segment.replace("N1*SE**92*SUP01", "N1*SE*X CO*92*X01"))],
    });
    expect(read("books.invoices", text).changes[0]?.fault).toMatchObject({ code: "other-issuer" });
  });

  test("a line of an 810 without words has none, and a charge that is none (SAC01 N) is not billed", () => {
    const bare = golden810
      .filter((segment) => !/^(?:PID|REF\*BM|SAC)/.test(segment))
      .flatMap((segment) =>
        segment.startsWith("TDS") ? [segment, "SAC*N*D240***15000"] : [segment],
      );
    const text = envelope({ functionalId: "IN", sets: [bare] });
    const [invoice] = records(read("books.invoices", text).changes);
    expect(invoice).toMatchObject({ lines: [{ description: null }, { description: null }] });
    expect(invoice).toHaveProperty("total", d("20233.52"));
  });

  test("an 832 becomes a price for each terminal and product, once they hold", () => {
    const text = envelope({ functionalId: "SC", sets: [golden832] });
    const { changes } = read("books.prices", text);
    expect(records(changes)).toEqual([
      { list: "T-73-OK-2700", product: "ULSD2", price: d("2.3457"), unit: "gal" },
      { list: "T-73-OK-2700", product: "E10REG", price: d("2.1188"), unit: "gal" },
    ]);
    expect(read("books.prices", text, {}, "2026-11-18T17:59:00Z").left).toMatchObject({
      awaited: true,
      fault: { code: "not-yet", message: "Its prices hold from 2026-11-18 18:00 on." },
    });
    expect(read("books.prices", text, {}, "2026-11-18T18:00:00Z").left).toBeUndefined();
  });

  test("prices of several times in one file are read together, and a person is told once some of them hold", () => {
    const dated = golden832.flatMap((one) =>
      one.startsWith("LIN*2") ? [one, "DTM*007*20261119*1800"] : [one],
    );
    const text = envelope({ functionalId: "SC", sets: [dated] });
    const message =
      "Its prices hold from 2026-11-18 18:00, and from 2026-11-19 18:00 on: all of them are read from 2026-11-19 18:00 on.";
    for (const [now, awaited] of [
      ["2026-11-18T17:59:00Z", true],
      ["2026-11-18T18:00:00Z", false],
    ] as const)
      expect(read("books.prices", text, {}, now).left).toMatchObject({
        awaited,
        fault: { message },
      });
    expect(read("books.prices", text, {}, "2026-11-19T18:00:00Z").left).toBeUndefined();
  });

  test("prices hold from a time by the clock that the file names; one that is not known refuses it", () => {
    const dated = golden832.map((one) => one.replace("*20261118*1800", "*20261118*1800*ET"));
    const sent = (set: readonly string[], now: string) =>
      read("books.prices", envelope({ functionalId: "SC", sets: [set] }), {}, now);
    // 18:00 in New York.
    expect(sent(dated, "2026-11-18T22:59:00Z").left?.fault.message).toBe(
      "Its prices hold from 2026-11-18 18:00 ET on.",
    );
    expect(sent(dated, "2026-11-18T23:00:00Z").left).toBeUndefined();
    const local = dated.map((one) => one.replace("*ET", "*LT"));
    expect(sent(local, "2026-11-18T18:00:00Z").left).toBeUndefined();
    const other = dated.map((one) => one.replace("*ET", "*13"));
    expect(() => sent(other, "2026-11-18T23:00:00Z")).toThrow(/by the clock 13 \(DTM04\)/);
  });

  test("a set that has other lines than its CTT counts is not taken; one without a CTT is", () => {
    const counted = (golden: readonly string[], to: string[]) =>
      golden.flatMap((segment) => (segment === "CTT*2" ? to : [segment]));
    for (const [golden, functionalId, end] of [
      [golden810, "IN", "books.invoices"],
      [golden832, "SC", "books.prices"],
    ] as const) {
      const other = envelope({ functionalId, sets: [counted(golden, ["CTT*3"])] });
      expect(read(end, other).changes.map(({ fault }) => fault)).toMatchObject([
        { code: "lines-counted", message: "CTT01 says 3 lines, and there are 2", field: "CTT01" },
      ]);
      const none = envelope({ functionalId, sets: [counted(golden, [])] });
      expect(read(end, none).changes[0]?.fault).toBeUndefined();
    }
  });

  test.each<[string, Parameters<typeof read>[0], readonly string[], string, string, string]>([
    ["a credit memo", "books.invoices", golden810, "PO-88121", "PO-88121***CR", "other-type"],
    ["a request", "books.invoices", golden810, "PO-88121", "PO-88121***RA", "other-type"],
    ["a cancellation", "books.invoices", golden810, "PO-88121", "PO-88121****01", "other-purpose"],
    ["a prenotification", "books.paidInvoices", golden820, "BPR*I", "BPR*P", "not-paid"],
    ["a payment without money", "books.paidInvoices", golden820, "C*ACH", "C*NON", "not-paid"],
    ["a catalogue to delete", "books.prices", golden832, "1118", "1118********03", "other-purpose"],
    ["a product to delete", "books.prices", golden832, "*ULSD2", "*ULSD2~G53*002", "not-offered"],
    ["another currency", "books.prices", golden832, "1118", "1118~CUR*SE*CAD", "other-currency"],
    ["a price of 1,000 units", "books.prices", golden832, "*1*GA", "*1*GA>>1000", "other-price"],
    ["a price with a factor", "books.prices", golden832, "*1*GA", "*1*GA*DIS*.9", "other-price"],
    ["a price per hundred", "books.prices", golden832, "*1*GA", "*1*GA****HP", "other-price"],
    ["a price of two", "books.prices", golden832, "*1*GA", "*1*GA******2", "other-price"],
  ])("%s is not taken for what it is not", (_, layout, golden, from, to, code) => {
    const at = golden.findIndex((segment) => segment.includes(from));
    const set = golden
      .with(at, golden[at]?.replace(from, to) ?? "")
      .flatMap((segment) => segment.split("~"));
    const functionalId = { 810: "IN", 820: "RA", 832: "SC" }[golden[0] as "810"];
    const { changes, replies } = read(layout, envelope({ functionalId, sets: [set] }));
    expect(changes[0]?.fault).toMatchObject({ code });
    // Its syntax is right all the same.
    expect(acknowledged(replies)[0]).toContain("AK5*A");
  });

  test("an 810 is an invoice too where its type and its purpose say so, and a price may name its unit as one", () => {
    const typed = golden810.map((one) => one.replace("PO-88121", "PO-88121***DI*00"));
    const [invoice] = read(
      "books.invoices",
      envelope({ functionalId: "IN", sets: [typed] }),
    ).changes;
    expect(invoice?.fault).toBeUndefined();
    const named = golden832
      .map((one) => one.replace("*1*GA", "*1*GA>1>1*SEL*1**PE**1"))
      .flatMap((one) => (one.startsWith("BCT") ? [`${one}********00`, "CUR*SE*USD"] : [one]));
    const prices = read("books.prices", envelope({ functionalId: "SC", sets: [named] })).changes;
    expect(prices.map(({ fault }) => fault)).toEqual([undefined, undefined]);
  });

  test("an 820 becomes an invoice that is paid in full; in part, adjusted, or without its sum it is not", () => {
    const text = envelope({ functionalId: "RA", sets: [golden820] });
    expect(records(read("books.paidInvoices", text).changes)).toMatchObject([
      { number: "INV2026000118ACME", state: "paid", paidDate: "2026-11-28", total: d("20712.42") },
    ]);
    const changed = (from: string, to: string) =>
      read(
        "books.paidInvoices",
        text.replace(from, to).replaceAll("SE*10*", to.includes("~") ? "SE*11*" : "SE*10*"),
      ).changes[0];
    const inPart = changed("**20712.42*20712.42", "**20712.42*30000");
    expect(records(inPart === undefined ? [] : [inPart])).toMatchObject([
      { state: "posted", amountToPay: d("9287.58"), paidByOthers: d("20712.42") },
    ]);
    expect(changed("BPR*I*20712.42*C", "BPR*I*20712.43*C")?.fault?.code).toBe("does-not-add-up");
    expect(changed("BPR*I*20712.42*C", "BPR*I*20712.42*D")?.fault?.code).toBe("not-a-credit");
    expect(changed("~DTM*003", "~ADX*-5*01~DTM*003")?.fault?.code).toBe("adjusted");
    expect(changed("**20712.42*20712.42", "**20712.42")?.fault?.message).toBe("RMR05 is missing");
  });

  test("a price that holds no longer is not taken: its own end counts instead of its catalogue's", () => {
    const ended = golden832.flatMap((one) => {
      if (one.startsWith("DTM*007")) return [one, "DTM*036*20261118*2359"];
      return one.startsWith("LIN*2") ? [one, "DTM*036*20261119"] : [one];
    });
    const faults = (now: string) =>
      read("books.prices", envelope({ functionalId: "SC", sets: [ended] }), {}, now).changes.map(
        ({ fault }) => fault?.message,
      );
    const message = (until: string) => `the price held until ${until} (DTM 036)`;
    expect(faults("2026-11-18T23:58:00Z")).toEqual([undefined, undefined]);
    expect(faults("2026-11-19T23:59:00Z")).toEqual([message("2026-11-18 23:59"), undefined]);
    expect(faults("2026-11-20T00:00:00Z")).toEqual([
      message("2026-11-18 23:59"),
      message("2026-11-19"),
    ]);
  });

  test("prices of a period, which nobody here reads, refuse the file", () => {
    const period = golden832.map((one) =>
      one.startsWith("DTM*007") ? "DTM*007****RD8*20261201-20261231" : one,
    );
    const text = envelope({ functionalId: "SC", sets: [period] });
    expect(() => read("books.prices", text)).toThrow(/has prices of a period \(DTM05\)/);
  });

  test("an 820 with an adjustment of an invoice (RMR08) does not say that it is paid in full", () => {
    const adjusted = golden820.map((one) => (one.startsWith("RMR") ? `${one}**01*-5` : one));
    const text = envelope({ functionalId: "RA", sets: [adjusted] });
    expect(read("books.paidInvoices", text).changes[0]?.fault).toMatchObject({
      code: "adjusted",
      message: "it is adjusted by -5.00 (RMR08)",
    });
  });

  test("an 855 that takes an answer back is no answer", () => {
    const set = golden855.map((one) => one.replace("BAK*00", "BAK*01"));
    const { changes } = read("plain/order-notes", envelope({ functionalId: "PR", sets: [set] }));
    expect(changes[0]?.fault).toMatchObject({ code: "other-purpose" });
  });

  test.each([
    ["barrels", "MEA*PD*QQ2*7998*GA", "MEA*PD*QQ2*190*BR", "MEA04 is BR, not a unit of gallons"],
    [
      "Celsius",
      "MEA*PD*TE*71.3",
      "MEA*PD*TE*21.8*CE",
      "MEA04 is CE, not a unit of degrees Fahrenheit",
    ],
  ])(
    "what an 856 measures in %s is not taken for gallons or Fahrenheit",
    (_, from, to, message) => {
      const sent = (by: string) =>
        read(
          "plain/delivery-tickets",
          envelope({ functionalId: "SH", sets: [golden856.map((one) => one.replace(from, by))] }),
          { temperature: "TE" },
        ).changes[0]?.fault;
      expect(sent(to)).toMatchObject({ code: "other-unit", message });
      expect(sent("MEA*PD*TE*71.3*FA")).toBeUndefined();
    },
  );

  test("segments with all elements of their release are accepted without a word", () => {
    const full = golden856.flatMap((one) => {
      // Where the load is: a qualifier and a place.
      if (one.startsWith("TD5")) return ["TD5*B*2*BAYO*M*BAYOU TRUCKING**OR*TULSA TERMINAL 4*DT"];
      return one.startsWith("N1*ST") ? [`${one}**WH`, "N4*TULSA*OK*74101*US*CC*TULSA"] : [one];
    });
    const text = envelope({ functionalId: "SH", sets: [full] });
    const { changes, replies } = read("plain/delivery-tickets", text);
    expect(changes[0]?.fault).toBeUndefined();
    expect(acknowledged(replies)[0]).toContain("AK5*A");
  });

  test.each([
    ["PC", "860", "What is read of X12 is IN, SC, RA, PR, SH and FA."],
    ["RA", "820", "A source of the same folder that reads them takes it."],
  ])("a file of %s is left, with what can be done", (functionalId, set, next) => {
    const text = envelope({ functionalId, sets: [[set, "BCH*04*SA*LN-1***20261118"]] });
    const { left } = read("books.invoices", text);
    expect(left?.fault).toMatchObject({ code: "other-sets", next: expect.stringContaining(next) });
  });

  test("an 855 becomes a note on our order, with what the supplier made of each line", () => {
    const text = envelope({ functionalId: "PR", sets: [golden855] });
    const { changes, replies } = read("plain/order-notes", text);
    const again = envelope({ functionalId: "PR", sets: [["855", "BAK*"], golden855] });
    expect(read("plain/order-notes", again).changes[1]?.id).toBe(changes[0]?.id);
    expect(records(changes)).toEqual([
      {
        id: expect.stringMatching(/^855 LN-88121 [0-9a-f]{8}$/) as string,
        orderId: "LN-88121",
        note: "GULF COAST REFINING: Order LN-88121 acknowledged with changes (AC); their number SO-7714; line 1: accepted (IA) 8000 GA 2026-11-17; line 2: back-ordered (IB) 2000 GA 2026-11-19",
      },
    ]);
    expect(acknowledged(replies)[0]).toContain("AK5*A");
  });

  test("an 856 becomes a delivery ticket with its order, bill of lading, places, times and figures", () => {
    const text = envelope({ functionalId: "SH", sets: [golden856] });
    const codes = { temperature: "TE", gravity: "GV" };
    const { changes, replies } = read("plain/delivery-tickets", text, codes);
    const figures = { spec: null, grossGallons: null, temperature: null, apiGravity: null };
    expect(records(changes)).toEqual([
      {
        number: "SHP-4471",
        status: "ISSUED",
        orderId: "LN-88121",
        supplier: "V-0007",
        receiver: null,
        bolNumber: "4471182",
        delivered: "2026-11-18",
        driver: null,
        carrier: "BAYOU TRUCKING",
        terminal: "TULSA TERMINAL",
        destination: "DEPOT 9",
        notes: "lifted 2026-11-17 14:05",
        lines: [
          {
            product: "ULSD2",
            spec: null,
            grossGallons: d("8050"),
            netGallons: d("7998"),
            temperature: d("71.3"),
            apiGravity: d("36.2"),
          },
          { product: "E10REG", netGallons: d("1000"), ...figures },
        ],
      },
    ]);
    expect(acknowledged(replies)[0]).toContain("AK5*A");
    const fault = (from: string, to: string) =>
      read("plain/delivery-tickets", text.replace(from, to)).changes[0]?.fault?.code;
    expect(fault("SN1*1*7998*GA", "SN1*1*190*BR")).toBe("other-unit");
    expect(fault("BSN*00", "BSN*04")).toBe("other-purpose");
    expect(fault("CTT*4", "CTT*3")).toBe("lines-counted");
    const two = golden856.flatMap((one) =>
      one === "CTT*4" ? ["HL*5*1*O", "PRF*LN-2", "CTT*5"] : [one],
    );
    const several = envelope({ functionalId: "SH", sets: [two] });
    expect(read("plain/delivery-tickets", several).changes[0]?.fault?.code).toBe("several-orders");
    // A compartment each, or one corrected: nobody can tell, and the first is not the whole.
    const measured = golden856.flatMap((one) =>
      one === "MEA*PD*QQ2*7998*GA" ? ["MEA*PD*QQ2*4000*GA", "MEA*PD*QQ2*3998*GA"] : [one],
    );
    const compartments = envelope({ functionalId: "SH", sets: [measured] });
    expect(read("plain/delivery-tickets", compartments).changes[0]?.fault?.code).toBe(
      "measured-twice",
    );
    // Gross is what was shipped for some; what is neither is an error of one of them.
    expect(fault("SN1*1*7998*GA", "SN1*1*8050*GA")).toBeUndefined();
    expect(fault("SN1*1*7998*GA", "SN1*1*799.8*GA")).toBe("measured-twice");
    const voided = records(
      read("plain/delivery-tickets", text.replace("BSN*00", "BSN*01")).changes,
    );
    expect(voided[0]?.["status"]).toBe("VOID");
  });

  test("a 997 says of each set what the partner made of it, with the codes in words, and is not answered", () => {
    const set = [
      "997",
      "AK1*IN*42",
      "AK2*810*0001",
      "AK5*A",
      "AK2*810*0002",
      "AK3*BIG*2**8",
      "AK4*2*76*5*INV-0123456789-0123456789",
      "AK5*R*5",
      "AK2*810*0003",
      "AK5*E",
      "AK9*P*3*3*2",
    ];
    const { acknowledgements, replies, changes } = read(
      null,
      envelope({ functionalId: "FA", sets: [set] }),
    );
    const group = { exchange: exchangeOf(options(), 42), sentAs: "IN" };
    expect(acknowledgements).toEqual([
      { ...group, item: "0001", verdict: "accepted", detail: "A accepted", reason: "A accepted" },
      {
        ...group,
        item: "0002",
        ...TOO_LONG,
      },
      {
        ...group,
        item: "0003",
        verdict: "accepted",
        detail: "E accepted with errors",
        reason: "E accepted with errors",
      },
      {
        ...group,
        item: null,
        verdict: "accepted",
        detail: "P partially accepted",
        reason: "P partially accepted",
      },
    ]);
    expect({ replies, changes }).toEqual({ replies: [], changes: [] });
  });

  const saidBy = (...set: readonly string[]) =>
    read(null, envelope({ functionalId: "FA", sets: [set] }));

  test("a 999 says the same of each set, in its own segments", () => {
    const group = { exchange: exchangeOf(options(), 42), sentAs: "IN 005010" };
    expect(
      saidBy(
        "999",
        "AK1*IN*42*005010",
        "AK2*810*0001",
        "IK5*A",
        "AK2*810*0002",
        "IK3*BIG*2**8",
        "CTX*SITUATIONAL TRIGGER*BIG*2",
        "IK4*2*76*5*INV-0123456789-0123456789",
        "IK5*R*5",
        "AK9*P*2*2*1",
      ).acknowledgements,
    ).toEqual([
      { ...group, item: "0001", verdict: "accepted", detail: "A accepted", reason: "A accepted" },
      {
        ...group,
        item: "0002",
        ...TOO_LONG,
      },
      {
        ...group,
        item: null,
        verdict: "accepted",
        detail: "P partially accepted",
        reason: "P partially accepted",
      },
    ]);
  });

  test.each([
    ["one of three was rejected, nobody says which", ["AK9*P*3*3*2"], "1 of 3"],
    ["it did not get one of three", ["AK9*A*3*2*2"], "1 of 3"],
    ["two were, and one is named", ["AK2*810*02", "AK5*R", "AK9*P*3*3*1"], "2 of 3"],
    ["its counts are none", ["AK9*P"], "some"],
    ["it accepted none", ["AK9*E*1*1*0"], "1 of 1"],
  ])("a group is not accepted as a whole where %s", (_, said, off) => {
    const { acknowledgements, notices } = saidBy("997", "AK1*IN*42", ...said);
    const told = `${off} sets were not accepted, and`;
    expect(acknowledgements?.at(-1)).toMatchObject({ item: null, verdict: "awaited" });
    expect(acknowledgements?.at(-1)?.detail).toContain(told);
    expect(notices).toEqual([expect.stringContaining(`000000042 ${told}`)]);
  });

  test("what a group's counts say of sets that are all named is nothing", () => {
    const { acknowledgements, notices } = saidBy(
      "997",
      "AK1*IN*42",
      "AK2*810*0001",
      "AK5*A",
      "AK9*A*1*1*0",
    );
    expect(acknowledgements?.map(({ verdict }) => verdict)).toEqual(["accepted", "accepted"]);
    expect(notices).toEqual([]);
  });

  test("a 997 that is torn says nothing, and it is told that it does not", () => {
    const text = envelope({
      functionalId: "FA",
      sets: [["997", "AK1*IN*42", "AK9*A*1*1*1"]],
    }).replace("SE*4*", "SE*5*");
    const { acknowledgements, notices } = read(null, text);
    expect(acknowledgements).toEqual([]);
    expect(notices).toEqual([
      expect.stringMatching(/^file\.edi: the 997 0001 was not read: the number of its segments/),
    ]);
  });
});

/** The sets that the replies are written as. */
const acknowledged = (replies: ReturnType<typeof read>["replies"]): string[][] =>
  (replies ?? []).map(({ content }) =>
    acknowledgementSet(options(), content as unknown as ReplyContent),
  );

describe("bad input", () => {
  const good = envelope({ functionalId: "SC", sets: [golden832] });
  const refusal = (text: string): string => {
    try {
      const { changes, left } = read("books.prices", text);
      return (
        left?.fault.code ??
        `${changes.filter(({ fault }) => fault !== undefined).length} of ${changes.length}`
      );
    } catch (error) {
      if (error instanceof FileFault) return error.message;
      throw error;
    }
  };

  test.each([
    ["nothing", "", /does not begin with ISA/],
    ["a table", "terminal,price\nT,1\n", /does not begin with ISA/],
    ["cut in its ISA", good.slice(0, 80), /cut off in its ISA/],
    ["cut in a segment", good.slice(0, 300), /cut off in the middle of a segment/],
    ["cut after a segment", good.slice(0, good.indexOf("GE*1")), /ends before GE/],
    ["a wide ISA", good.replace("ACMEOIL        ", "ACMEOIL "), /fixed widths/],
    ["UTF-16", Buffer.from(good, "utf16le").toString("latin1"), /does not begin with ISA/],
    ["letters as separators", good.replaceAll("*", "x"), /delimiters that are letters/],
    ["IEA01 wrong", good.replace("IEA*1*", "IEA*2*"), /has 1 groups; IEA01 says 2/],
    ["IEA02 wrong", good.replace("IEA*1*000000117", "IEA*1*000000118"), /ends with control number/],
    ["no GE", good.replace("GE*1*117~", ""), /no GE before IEA/],
    [
      "for somebody else",
      good.replaceAll("SUPPLIERCO     ", "OTHERCO        "),
      /receiver ZZ OTHERCO/,
    ],
    ["production in a test", good.replace("*0*T*>", "*0*P*>"), /marked P \(ISA15\)/],
    ["sets of another source", good.replace("GS*SC", "GS*PO"), "other-sets"],
    ["GE01 wrong", good.replace("GE*1*", "GE*2*"), "1 of 1"],
    ["SE02 wrong", good.replace("SE*13*0001", "SE*13*0002"), "1 of 1"],
    ["no ST", good.replace("ST*832*0001~", ""), "1 of 1"],
    ["no SE", good.replace("SE*13*0001~", ""), "1 of 1"],
    ["NUL in an element", good.replace("VP*ULSD2", "VP*UL\u0000D2"), "1 of 1"],
    ["a price that is none", good.replace("*2.3457*", "*2,3457*"), "1 of 1"],
    ["a price with an exponent", good.replace("*2.3457*", "*2E3*"), "1 of 1"],
    ["an element that is too long", good.replace("VP*ULSD2", `VP*${"U".repeat(49)}`), "1 of 1"],
    ["no date of the calendar", good.replace("007*20261118", "007*20261131"), "1 of 1"],
    ["a unit that is not known", good.replace("2.3457*1*GA", "2.3457*1*XX"), "0 of 2"],
    [
      "no terminal",
      good.replace("N1*SF*TULSA TERMINAL*92*T-73-OK-2700", "N1*SF*TULSA TERMINAL"),
      "2 of 2",
    ],
    ["mixed line ends", good.replaceAll("~LIN", "~\r\nLIN").replaceAll("~PID", "~\nPID"), "0 of 2"],
    ["line ends as terminators", good.replaceAll("~", "\r\n"), "0 of 2"],
    ["another set of characters", good.replaceAll("*", "|").replaceAll("~", "\u001d"), "0 of 2"],
  ])("%s", (_, text, expected) => {
    expect(refusal(text)).toMatch(expected);
  });

  test("good sets of a group go through, and the 997 names segment and element of the others", () => {
    const bad = golden832.map((one) => one.replace("LIN*1*VP*ULSD2", `LIN*1*VP*${"U".repeat(49)}`));
    const text = envelope({ functionalId: "SC", sets: [bad, golden832] });
    const { changes, replies } = read("books.prices", text);
    expect(records(changes)).toHaveLength(2);
    expect(changes[0]?.fault).toMatchObject({
      code: "bad-set",
      message: `The set was rejected: segments are in error (5); segment 6, LIN03 is too long (5): "${"U".repeat(49)}".`,
    });
    expect(acknowledged(replies)).toEqual([
      [
        "ST*997*0001",
        "AK1*SC*117",
        "AK2*832*0001",
        "AK3*LIN*6**8",
        `AK4*3*234*5*${"U".repeat(49)}`,
        "AK5*R*5",
        "AK2*832*0002",
        "AK5*A",
        "AK9*P*2*2*1",
        "SE*10*0001",
      ],
    ]);
  });

  test("sets in error are rejected with their codes, whole groups with all their sets", () => {
    const codes = (text: string): string[] =>
      acknowledged(read("books.prices", text).replies).flatMap((set) =>
        set.filter((segment) => /^AK[59]/.test(segment)),
      );
    expect(codes(good.replace("SE*13*", "SE*12*"))).toEqual(["AK5*R*4", "AK9*R*1*1*0"]);
    expect(codes(good.replace("SE*13*0001", "SE*13*0009"))).toEqual(["AK5*R*3", "AK9*R*1*1*0"]);
    expect(codes(good.replace("SE*13*0001~", ""))).toEqual(["AK5*R*2", "AK9*R*1*1*0"]);
    expect(codes(good.replace("GE*1*117", "GE*1*118"))).toEqual(["AK5*R", "AK9*R*1*1*0*4"]);
    expect(codes(good.replace("X*004010", "X*003030"))).toEqual(["AK5*R", "AK9*R*1*1*0*2"]);
    expect(codes(good.replaceAll("832*0001", "879*0001"))).toEqual(["AK5*R*1", "AK9*R*1*1*0"]);
  });
});
