/** The console's few files: they come from this machine, and are the same until the next version. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Hono } from "hono";
import type { Bindings } from "./app.ts";
import { script } from "./script.ts";
import { icons, style } from "./style.ts";

const require = createRequire(import.meta.url);

const CSS = "text/css; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

export function assets(app: Hono<{ Bindings: Bindings }>): void {
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    "pico.css": [CSS, installed("@picocss/pico/css/pico.min.css")],
    "htmx.js": [SCRIPT, installed("htmx.org/dist/htmx.min.js")],
    "console.css": [CSS, style],
    "console.js": [SCRIPT, script],
    ...Object.fromEntries(
      Object.entries(icons).map(([name, text]) => [name, ["image/svg+xml", text] as const]),
    ),
  };
  for (const [name, [type, text]] of Object.entries(files))
    app.get(`/assets/${name}`, (call) =>
      call.body(text, 200, { "content-type": type, "cache-control": "private, max-age=3600" }),
    );
}

const installed = (path: string): string => readFileSync(require.resolve(path), "utf8");
