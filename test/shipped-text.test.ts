/** What is shipped to be read or printed, as a whole. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../src/demo/world.ts";

/** Sources, pages and scripts: not the tests, and not what was decided and why. */
const shipped = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" })
  .split("\0")
  .filter((path) => /\.(?:md|ts|mjs|json|yaml|sh|service|conf|xml|cmd)$|^Dockerfile$/.test(path))
  .filter((path) => !/\.(?:test|suite|fixture)\.ts$|^docs\/adr\/|^package-lock\.json$/.test(path));

test("no instruction says npx: the name is not ours on the public registry", () => {
  expect(shipped.length).toBeGreaterThan(300);
  const said = shipped.filter((path) => /\bnpx\b/.test(readFileSync(join(root, path), "utf8")));
  expect(said).toEqual([]);
});

test("the container has no rights to gain, and writes its state and the exchange folder only", () => {
  const compose = parse(readFileSync(join(root, "packaging/docker/compose.yaml"), "utf8")) as {
    services: { fuelbridge: Record<string, unknown> };
  };
  expect(compose.services.fuelbridge).toMatchObject({
    init: true,
    read_only: true,
    cap_drop: ["ALL"],
    security_opt: ["no-new-privileges:true"],
    stop_grace_period: "60s",
    volumes: [
      "state:/var/lib/fuelbridge",
      "./etc:/etc/fuelbridge:ro",
      "/srv/erp-exchange:/srv/erp-exchange",
    ],
  });
});
