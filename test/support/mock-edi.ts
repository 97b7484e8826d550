/**
 * An EDI partner that is not ours: `mock-edi` of PyPI, in a virtual environment under node_modules/.cache. It has a
 * dictionary of its own for 810, 820, 850 and 997, and writes acknowledgements.
 */
import { execFileSync } from "node:child_process";
import { pythonProgram } from "./pypi.ts";

const PACKAGE = "mock-edi==0.9.0";
export const mockEdi = pythonProgram(PACKAGE, `fuelbridge-${PACKAGE}`);

/** What the partner says of interchanges: the findings in its words, and the 997 that it would send, segment by segment. */
export interface Judged {
  readonly findings: readonly string[];
  readonly acknowledgement: readonly string[];
}

const PROGRAM = `
import json, sys
from mockedi import ack, validate, x12
told = []
for text in json.load(sys.stdin):
    interchange = x12.parse(text)
    report = validate.validate(interchange, strict=True)
    segments = []
    for functional, control, version, messages in ack.group_reports(interchange, report):
        for one in ack.functional_acknowledgment(functional, control, version, messages):
            segments.append("*".join([one.tag] + [one.get(at + 1) or "" for at in range(len(one.elements))]))
    told.append({"findings": [line.strip() for line in ack.explain(report)], "acknowledgement": segments})
json.dump(told, sys.stdout)
`;

/** One for each interchange, in their order. */
export function judgedByPartner(interchanges: readonly string[]): Judged[] {
  const output = execFileSync(mockEdi.python, ["-c", PROGRAM], {
    input: JSON.stringify(interchanges),
    encoding: "utf8",
  });
  return JSON.parse(output) as Judged[];
}
