/** What was sent as fields, beside the fields that came. */
import { expect, test } from "vitest";
import { fieldsOf } from "../engine/about.ts";

test("a sent file with a header is told field by field, as JSON is, so that both sides can be compared", () => {
  const csv = 'record,number,total,code\r\n"H","INV-118",7837.44,\r\n"L","INV-118",,"JET-A"\r\n';
  expect(fieldsOf(csv)).toEqual([
    { path: "record", value: "H" },
    { path: "number", value: "INV-118" },
    { path: "total", value: "7837.44" },
    { path: "2.record", value: "L" },
    { path: "2.number", value: "INV-118" },
    { path: "2.code", value: "JET-A" },
  ]);
  expect(fieldsOf('"a","b"\n"1","2"\n')).toHaveLength(2);
  expect(fieldsOf('{"total":7837.440,"lines":[{"code":"JET-A"}]}')).toEqual([
    { path: "total", value: "7837.440" },
    { path: "lines.1.code", value: "JET-A" },
  ]);
});

test("what is sent as XML or X12 is told element by element, without the numbers of its envelope", () => {
  const xml =
    '<?xml version="1.0"?><IDOC BEGIN="1"><E1 S="1"><A>1</A><B/></E1><E1><A>2 &amp; 3</A></E1></IDOC>';
  expect(fieldsOf(xml)).toEqual([
    { path: "A", value: "1" },
    { path: "2.A", value: "2 & 3" },
  ]);
  const head =
    "ISA*00*          *00*          *ZZ*US             *ZZ*THEM           *261118*1600*U*00401*000000001*0*P*>~";
  expect(fieldsOf(`${head}\nST*850*0001~\nPO1*1*8000*GA~PO1*2**GA~SE*4*0001~`)).toEqual([
    { path: "PO1.01", value: "1" },
    { path: "PO1.02", value: "8000" },
    { path: "PO1.03", value: "GA" },
    { path: "2.PO1.01", value: "2" },
    { path: "2.PO1.03", value: "GA" },
  ]);
});

test.each(["ISA*00*~", "<IDOC><A>1</A></IDOC>", "one line, of text", '{"cut', ""])(
  "%j is one field as it is",
  (text) => {
    expect(fieldsOf(text)).toEqual([{ path: "", value: text }]);
  },
);
