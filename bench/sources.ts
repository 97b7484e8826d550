/** The sources of the checkout, read as the parser sees them: code lines, imports (types counted), exports, circles. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseSync } from "oxc-parser";
import { root } from "./support.ts";

export interface SourceFile {
  /** From the root of the checkout. */
  readonly path: string;
  /** Lines with something on them that is no comment. */
  readonly code: number;
  readonly raw: number;
  /** Files of the checkout, types counted. `import()` is left out: what is loaded when it is needed closes no circle. */
  readonly imports: readonly string[];
  readonly exports: number;
}

/** What git knows, and what is new and not ignored. */
const paths = (): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  })
    .split("\n")
    .filter((path) => path !== "");

export const isTest = (path: string): boolean =>
  /\.(?:test|fixture|suite|program)\.ts$|\/fixtures?\//.test(path) || path.startsWith("test/");

export const isProduction = (path: string): boolean =>
  /^(?:src|connectors|mappings)\/.*\.(?:ts|mjs|js)$/.test(path) && !isTest(path);

export function readSources(): readonly SourceFile[] {
  return paths()
    .filter((path) => /\.(?:ts|mjs|js)$/.test(path))
    .flatMap((path) => {
      try {
        return [fileIn(path, readFileSync(join(root, path), "utf8"))];
      } catch (error) {
        // Git knows a file that was removed until that is committed.
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        throw error;
      }
    });
}

function fileIn(path: string, text: string): SourceFile {
  const { module, comments } = parseSync(path, text);
  const code = Array.from({ length: text.length }, () => true);
  for (const { start, end } of comments) code.fill(false, start, end);
  let line = { isCode: false, count: 0 };
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "\n") line = { isCode: false, count: line.count };
    else if (!line.isCode && code[at] === true && character.trim() !== "")
      line = { isCode: true, count: line.count + 1 };
  }
  const wanted = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
  ];
  const imports = wanted
    .filter((name) => name.startsWith("."))
    .map((name) => relative(root, join(root, dirname(path), name)));
  return {
    path,
    code: line.count,
    raw: text.split("\n").length - 1,
    imports: [...new Set(imports)],
    exports: module.staticExports.reduce((sum, { entries }) => sum + entries.length, 0),
  };
}

/** Files that import each other in a loop, largest first (Tarjan: strongly connected components of more than one file). */
export function circlesOf(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (path: string): void => {
    const at = index.size;
    index.set(path, at);
    low.set(path, at);
    open.push(path);
    for (const other of byPath.get(path)?.imports ?? []) {
      if (!byPath.has(other)) continue;
      if (!index.has(other)) {
        visit(other);
        low.set(path, Math.min(low.get(path) ?? at, low.get(other) ?? at));
      } else if (open.includes(other))
        low.set(path, Math.min(low.get(path) ?? at, index.get(other) ?? at));
    }
    if (low.get(path) !== at) return;
    const circle = open.splice(open.indexOf(path));
    if (circle.length > 1) circles.push(circle.toSorted());
  };
  for (const { path } of files) if (!index.has(path)) visit(path);
  return circles.toSorted((one, other) => other.length - one.length);
}
