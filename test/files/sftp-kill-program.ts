/** Stages or sends one request over SFTP and is gone, by SIGKILL, right after the server's nth answer. */
import { readFileSync } from "node:fs";
import { Connection } from "../../connectors/files/folder/sftp.ts";
import { files } from "../../connectors/files/index.ts";
import type { Outgoing } from "../../src/core/contract.ts";
import { surroundingsIn } from "../support/surroundings.ts";

interface Work {
  readonly config: unknown;
  readonly phase: "prepare" | "send";
  readonly request: Outgoing;
  readonly step: number;
}

const { config, phase, request, step } = JSON.parse(
  readFileSync(process.argv[2] ?? "", "utf8"),
) as Work;
let answers = 0;
const run = Reflect.get(Connection.prototype, "run") as (...args: unknown[]) => Promise<unknown>;
Object.assign(Connection.prototype, {
  async run(...args: unknown[]): Promise<unknown> {
    try {
      return await run.apply(this, args);
    } finally {
      if (++answers === step) process.kill(process.pid, "SIGKILL");
    }
  },
});
const endpoint = files.open(
  files.config.parse(config),
  surroundingsIn("/nowhere", { now: () => new Date("2026-03-02T08:00:00Z") }),
);
await endpoint.sinks["books"]?.[phase]?.(request, new AbortController().signal);
await endpoint.close();
