/** `fuelbridge once` while it works and when it ends: what other commands may do beside it, and what it says. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { serving } from "../../test/support/http.ts";
import { layOut } from "../../test/support/site.ts";
import { commandHere } from "../../test/support/site-command.ts";
import { fuelbridge, until } from "../../test/support/site-program.ts";

const SLOW = 600_000;

/** A platform that takes requests and answers none. */
async function silentPlatform(): Promise<{ url: string; asked: () => number }> {
  let asked = 0;
  const { url, close } = await serving(() => asked++);
  onTestFinished(close);
  return { url: `${url}/v1/public`, asked: () => asked };
}

test(
  "status, trace and quarantine list answer beside a running once; what writes is refused and names the process",
  async () => {
    const folder = tempFolder();
    layOut(folder);
    const platform = await silentPlatform();
    writeFileSync(join(folder, "var", "demo", "api-key"), "svc_live_none", { mode: 0o600 });
    const config = join(folder, "config", "demo.yaml");
    const env = { FUELBRIDGE_PLATFORM_URL: platform.url };
    const once = fuelbridge(["once", "--config", config], env);
    await until("a request", () => platform.asked() > 0);

    const [status, json, list, trace, retry, other] = await Promise.all(
      [["status"], ["status", "--json"], ["quarantine", "list"], ["trace", "X-1"]]
        .concat([["quarantine", "retry", "all"], ["once"]])
        .map((args) => commandHere([...args, "--config", config], env)),
    );
    expect(status).toMatchObject({ code: 0, err: "" });
    expect(status?.out).toContain(`"fuelbridge once" works since `);
    expect(status?.out).toContain(`(process ${once.pid}).`);
    expect(JSON.parse(json?.out ?? "")).toMatchObject({
      data: { daemon: { pid: once.pid, command: "once" } },
    });
    expect(list).toMatchObject({ code: 0, out: "Nothing is in quarantine.\n" });
    expect(trace?.err).toContain("Nothing is known about X-1.");
    expect(retry).toMatchObject({ code: 1, out: "" });
    expect(retry?.err).toContain(`"fuelbridge once" (process ${once.pid}) works on the store`);
    expect(other).toMatchObject({ code: 3, out: "" });
    expect(other?.err).toContain(`in use by process ${once.pid}`);
    once.kill("SIGKILL");
    await once.ended;
  },
  SLOW,
);
