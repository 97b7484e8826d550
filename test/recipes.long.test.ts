/**
 * docs/recipes.md, block by block, with the programs that it names. Its blocks for the Debian package run in install.sh.
 *
 * @module-tag numbers
 */
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { auditedOffice } from "./support/console-offices.ts";
import { browserOf, exchange, PASSWORD, testConsole } from "./support/console.ts";
import { tempFolder } from "./support/folder.ts";
import { isThere, type Program } from "./support/machine.ts";
import { freePort } from "./support/port.ts";
import { until } from "./support/site-program.ts";

const PAGE = readFileSync(join(import.meta.dirname, "..", "docs", "recipes.md"), "utf8");
const NAME = "fuel.example.com";

/** The only block of that language, or the one that has `word`. */
function block(language: string, word = ""): string {
  const found = [...PAGE.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].flatMap(([, tongue, text = ""]) =>
    tongue === language && text.includes(word) ? [text] : [],
  );
  expect(found).toHaveLength(1);
  return found[0] ?? "";
}

/** Where the page's own authority and certificate are made. */
let certificates = "";
beforeEach(() => {
  certificates = tempFolder();
  execFileSync("sh", ["-e"], { cwd: certificates, input: block("sh", "openssl"), stdio: "pipe" });
});

interface Proxy {
  readonly program: Program;
  /** The arguments that start it in the foreground on `port`, over the console at `console`. */
  readonly args: (folder: string, port: number, console: number) => readonly string[];
}

const PROXIES: readonly Proxy[] = [
  {
    program: "nginx",
    args(folder, port, console) {
      const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map((name) => `${name}_temp_path ${join(folder, name)};`)
        .join(" ");
      const site = written("nginx", console).replace("listen 443", `listen 127.0.0.1:${port}`);
      const head = `daemon off; pid ${join(folder, "pid")}; error_log stderr; events {}`;
      writeFileSync(join(folder, "conf"), `${head} http { access_log off; ${temporary} ${site} }`);
      return ["-e", "stderr", "-c", join(folder, "conf")];
    },
  },
  {
    program: "caddy",
    args(folder, port, console) {
      const options = `admin off\n  auto_https disable_redirects\n  https_port ${port}`;
      const site = written("caddyfile", console);
      writeFileSync(join(folder, "Caddyfile"), `{\n  ${options}\n}\n${site}`);
      return ["run", "--config", join(folder, "Caddyfile")];
    },
  },
];

const written = (language: string, console: number): string =>
  block(language)
    .replaceAll("127.0.0.1:8090", `127.0.0.1:${console}`)
    .replaceAll(`/etc/ssl/${NAME}.pem`, join(certificates, "fuel.pem"))
    .replaceAll(`/etc/ssl/${NAME}.key`, join(certificates, "fuel.key"));

for (const { program, args } of PROXIES)
  test.skipIf(!isThere(program))(
    `behind ${program} a person logs in under the public name, and the audit names the address that asked`,
    async () => {
      const [, url = ""] = /url: (\S+)/.exec(block("yaml")) ?? [];
      const [, proxy = ""] = /proxies: \[(\S+)\]/.exec(block("yaml")) ?? [];
      const { office, deeds } = auditedOffice();
      const { web } = await testConsole(office, undefined, { url, proxies: [proxy] });
      const port = await freePort();
      const folder = tempFolder();
      const child = spawn(program, args(folder, port, web.port), {
        env: { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
        stdio: "ignore",
      });
      onTestFinished(() => void child.kill());
      const ca = readFileSync(join(certificates, "authority.pem"));
      const from = { isHttps: true, ca, servername: NAME, localAddress: "127.0.0.2" } as const;
      const kim = browserOf(port, url, (at, method, path, headers, body) =>
        exchange(at, method, path, headers, body, from),
      );
      await until(program, async () => (await kim.get("/login").catch(() => null))?.status === 200);
      const forged = { "x-forwarded-for": "203.0.113.9" };
      const logIn = async (password: string) =>
        (await kim.post("/login", { name: "operator", password }, forged)).status;
      expect(await logIn("wrong")).toBe(401);
      expect(await logIn(PASSWORD)).toBe(303);
      const today = await kim.get("/");
      expect(today.status).toBe(200);
      expect(today.body).toContain("<h1>Today");
      expect(deeds.map((deed) => deed.replace(/.*from /, ""))).toEqual(["127.0.0.2", "127.0.0.2"]);
    },
  );
