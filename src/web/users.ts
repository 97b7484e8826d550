/** Who may log in to the console: `users.json` in the state folder, which only the service's user can read. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { EnvironmentError, OfficeError } from "../core/errors.ts";
import { writeWhole } from "../transport/whole.ts";

/** Each may do what those before it may: look; add rows and notes; decide about documents; change how the daemon works. */
export const roles = ["viewer", "clerk", "accountant", "operator"] as const;
export type Role = (typeof roles)[number];

export const atLeast = (role: Role, needed: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(needed);

const User = z.strictObject({
  name: z.string(),
  role: z.enum(roles),
  /** As argon2id writes it, with its parameters and salt. */
  hash: z.string(),
  /** ISO 8601 UTC */
  since: z.string(),
});
export type User = z.infer<typeof User>;
const File = z.strictObject({ version: z.literal(1), users: z.array(User) });

const NAME = /^[a-z0-9][a-z0-9._@-]{0,63}$/;
/** Whether somebody can be called so. */
export const isName = (text: string): boolean => NAME.test(text);
const PASSWORD_MIN = 12;
const PASSWORD_MAX = 200;

export const usersFile = (state: string): string => join(state, "users.json");

/** The file is read each time: whoever is removed is out at once. @throws EnvironmentError when it cannot be read */
export function openUsers(state: string, now: () => Date) {
  const list = (): readonly User[] => readUsers(state);
  const named = (name: string): User => {
    const user = list().find((one) => one.name === name);
    if (user !== undefined) return user;
    throw new OfficeError(`There is no user "${name}".`, "`fuelbridge user list` shows all.");
  };
  return {
    list,
    /** @throws OfficeError for a name that cannot be or is there, and for a password that is too short */
    async add(name: string, role: Role, password: string) {
      if (!isName(name))
        throw new OfficeError(
          `"${name}" cannot be a user's name.`,
          "Use lower-case letters, digits, dots, hyphens and @, at most 64.",
        );
      if (list().some((one) => one.name === name))
        throw new OfficeError(
          `There is a user "${name}" already.`,
          `To change the password: fuelbridge user passwd ${name}`,
        );
      const hash = await hashOf(password);
      writeUsers(state, [...list(), { name, role, hash, since: now().toISOString() }]);
    },
    /** @throws OfficeError when nobody has this name */
    remove(name: string) {
      const gone = named(name);
      writeUsers(
        state,
        list().filter((one) => one.name !== gone.name),
      );
    },
    async setPassword(name: string, password: string) {
      const user = named(name);
      const hash = await hashOf(password);
      writeUsers(
        state,
        list().map((one) => (one.name === user.name ? { ...one, hash } : one)),
      );
    },
    /** Null: the name or the password is wrong; the time it takes does not tell which. */
    async verify(name: string, password: string) {
      const { verify } = await import("@node-rs/argon2");
      const user = list().find((one) => one.name === name);
      const isRight = await verify(user?.hash ?? (await nobodysHash()), password);
      return isRight && user !== undefined ? user : null;
    },
  };
}

export type Users = ReturnType<typeof openUsers>;

let nobody: Promise<string> | null = null;
/** Of a password that nobody has: a wrong name takes as long as a wrong password. */
const nobodysHash = (): Promise<string> => (nobody ??= hashOf(crypto.randomUUID()));

/** Argon2id with the library's parameters, those that OWASP names. @throws OfficeError */
async function hashOf(password: string): Promise<string> {
  if (password.length < PASSWORD_MIN || password.length > PASSWORD_MAX)
    throw new OfficeError(
      `The password has ${password.length} characters; it needs ${PASSWORD_MIN} to ${PASSWORD_MAX}.`,
      "Take a longer one: some words in a row are easy to type.",
    );
  const { hash } = await import("@node-rs/argon2");
  return hash(password);
}

function readUsers(state: string): readonly User[] {
  const path = usersFile(state);
  if (!existsSync(path)) return [];
  try {
    return File.parse(JSON.parse(readFileSync(path, "utf8"))).users;
  } catch (error) {
    throw new EnvironmentError(
      `The users of the console cannot be read from ${path}.`,
      "Let the service's user read it. If it is damaged, remove it and add the users again: fuelbridge user add",
      error,
    );
  }
}

/** Whole or not at all, for its owner only. */
function writeUsers(state: string, users: readonly User[]): void {
  mkdirSync(state, { recursive: true, mode: 0o700 });
  writeWhole(usersFile(state), `${JSON.stringify({ version: 1, users }, null, 2)}\n`);
}
