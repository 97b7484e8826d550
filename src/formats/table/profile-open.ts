/** Profiles by their names: shipped ones and those of a site, read alike. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { Layout } from "./layouts/table.ts";
import type { Profile } from "./profile.ts";
import { compileProfile } from "./profile-compile.ts";
import { InvalidProfile, parseProfileFile } from "./profile-file.ts";

/** The shipped ones: beside the program, compiled or not. */
const SHIPPED = ["../../../config/profiles", "../../../../config/profiles"]
  .map((path) => join(import.meta.dirname, path))
  .find((path) => existsSync(path));

const opened = new Map<string, Profile>();

/**
 * A profile by the name of a shipped one (`titan/bol-deliveries`), or by a path that ends in `.yaml`, relative to
 * `folder`.
 * @throws InvalidProfile when it is missing or wrong, with file, line, and what would fit
 */
export function openProfile(name: string, folder: string): Profile {
  if (isPath(name)) return readProfile(resolve(folder, name), name);
  const known = opened.get(name);
  if (known !== undefined) return known;
  const names = shippedProfiles();
  if (!names.includes(name))
    throw new InvalidProfile(name, [
      {
        line: 1,
        column: 1,
        setting: "",
        message: `there is no shipped profile "${name}"`,
        remedy: `Name a file of yours by a path that ends in .yaml, or one of ${names.join(", ")}.`,
      },
    ]);
  const profile = readProfile(join(SHIPPED ?? "", `${name}.yaml`), name);
  opened.set(name, profile);
  return profile;
}

const isPath = (name: string): boolean => /\.ya?ml$/i.test(name);

/** The names of all shipped profiles. */
export function shippedProfiles(): string[] {
  if (SHIPPED === undefined) return [];
  return readdirSync(SHIPPED, { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith(".yaml"))
    .map(({ parentPath, name }) => relative(SHIPPED, join(parentPath, name)))
    .map((path) => path.replaceAll("\\", "/").replace(/\.yaml$/, ""))
    .toSorted();
}

function readProfile(path: string, called: string): Profile {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const message = `it cannot be read: ${(error as Error).message}`;
    const remedy = `Create it, or correct the path; it starts at the configuration's folder. "fuelbridge profile guess FILE" writes one from a sample.`;
    throw new InvalidProfile(called, [{ line: 1, column: 1, setting: "", message, remedy }]);
  }
  return parseProfile(text, called);
}

/** `called`: how messages call it. `layouts`: those it may be of, besides the connector's own. @throws InvalidProfile */
export function parseProfile(
  text: string,
  called: string,
  layouts: readonly Layout[] = [],
): Profile {
  const file = parseProfileFile(text, called);
  return compileProfile(file, layouts);
}
