/** Whose process this is: apart from the database, since every command names its user and few open a store. */
import { userInfo } from "node:os";

/** The name of the user of this process; a container's user may have none. */
export function thisUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
