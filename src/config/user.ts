import { userInfo } from "node:os";

/** The name of the user that runs this process; a container's user may have none. */
export function thisUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}
