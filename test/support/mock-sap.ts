/** SAP's shapes as somebody else built them: mock-sap of PyPI, in a virtual environment under node_modules/.cache. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { pythonProgram } from "./pypi.ts";

const VERSION = "0.22.0";
export const mockSap = pythonProgram(`mock-sap==${VERSION}`, `fuelbridge-mock-sap/${VERSION}`);

export interface MockSap {
  readonly url: string;
  end(): Promise<void>;
}

/** Its clock stands on 2026-08-14, and it asks for no token. */
export async function startMockSap(): Promise<MockSap> {
  const options = ["--port", "0", "--no-csrf", "--clock", "2026-08-14T15:00"];
  const child = spawn(mockSap.python, ["-u", "-m", "mocksap", ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", (line) => {
        const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
        if (found !== undefined) resolve(found);
      });
    child.once("exit", (code) => reject(new Error(`mock-sap ended with ${code}`)));
  });
  return {
    url,
    async end() {
      const ended = once(child, "exit");
      child.kill();
      await ended;
    },
  };
}
