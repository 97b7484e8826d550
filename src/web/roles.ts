/** Each may do what those before it may: look; decide about documents; change how the daemon works. */
export const roles = ["viewer", "accountant", "operator"] as const;
export type Role = (typeof roles)[number];

export const atLeast = (role: Role, needed: Role): boolean =>
  roles.indexOf(role) >= roles.indexOf(needed);
