/** The members that have a value: what the platform does not take as empty is left out. */
export type Present<T> = { [K in keyof T]?: NonNullable<T[K]> };

export const present = <T extends object>(members: T): Present<T> =>
  Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null && value !== undefined),
  ) as Present<T>;
