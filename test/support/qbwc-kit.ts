/**
 * A Web Connector and a QuickBooks that are not ours: `qbwc-kit` of PyPI, in a virtual environment under
 * node_modules/.cache. Its QuickBooks keeps records and pages through them; it filters nothing, and has no invoices' ids.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { pythonProgram } from "./pypi.ts";

const PACKAGE = "qbwc-kit==0.1.3";
export const qbwcKit = pythonProgram(PACKAGE, `fuelbridge-${PACKAGE}`);

export interface Session {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** Records by their names in qbXML: `Customer`. */
  readonly records: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>;
}

/** What its Web Connector says of a session. */
export interface Held {
  readonly authenticated: boolean;
  /** What `receiveResponseXML` answered, in order. */
  readonly progress: readonly number[];
  readonly close_message: string;
  readonly last_error: string;
}

const PROGRAM = `
import dataclasses, json, sys, urllib.request
from qbwc_kit.testing import FakeQuickBooks, FakeWebConnector
given = json.load(sys.stdin)
def transport(body):
    headers = {"Content-Type": "text/xml; charset=utf-8"}
    with urllib.request.urlopen(urllib.request.Request(given["url"], body.encode(), headers)) as answer:
        return answer.read().decode()
connector = FakeWebConnector(transport, given["user"], given["password"])
held = connector.run_update(FakeQuickBooks(entities=given["records"]))
json.dump(dataclasses.asdict(held), sys.stdout)
`;

/** A whole session, from `clientVersion` to `closeConnection`. @throws Error when it breaks off */
export async function holdSession(session: Session): Promise<Held> {
  const running = promisify(execFile)(qbwcKit.python, ["-c", PROGRAM], { maxBuffer: 64_000_000 });
  running.child.stdin?.end(JSON.stringify(session));
  const { stdout } = await running;
  return JSON.parse(stdout) as Held;
}
