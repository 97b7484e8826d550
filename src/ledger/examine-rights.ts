/** The rights that the synchronisation's user needs in books that give them by model, by what it does. */
import type { Fault } from "../core/fault.ts";
import type { Books } from "./port.ts";
import type { Check } from "./examine.ts";

export interface RightsArea {
  /** What needs them: `orders`. */
  readonly what: string;
  /** The ERP's own groups that give them, for people. */
  readonly groups: string;
  /** Models by the rights that each needs: `{ "read write": "account.move.line" }`. */
  readonly models: Readonly<Record<string, string>>;
  /** Buttons by the model that they belong to: `{ "sale.sale": "quote confirm" }`. */
  readonly buttons?: Readonly<Record<string, string>>;
}

/** What an ERP tells of the user's rights. Every method @throws a fault of the ERP */
export interface Rights extends Pick<Books, "name"> {
  /** Where people activate what is missing, a sentence. */
  readonly remedy: string;
  /** Those of these models that the ERP has. */
  present(models: readonly string[]): Promise<ReadonlySet<string>>;
  /** By model, those of its rights that the user lacks. @param needed rights by model */
  lacking(needed: ReadonlyMap<string, readonly string[]>): Promise<readonly string[]>;
  /** Those of a model's buttons that the user may not press. */
  barred(model: string, buttons: readonly string[]): Promise<readonly string[]>;
  /** Why nobody has these rights here; null: people give them. */
  never?(area: RightsArea): Promise<Fault | null>;
}

/** One check for each area. */
export const rightsCheck = (rights: Rights, area: RightsArea): Check => [
  `rights: ${area.what}`,
  async () => (await rights.never?.(area)) ?? rightsFault(rights, area),
];

async function rightsFault(rights: Rights, area: RightsArea): Promise<Fault | null> {
  const needed = new Map(
    Object.entries(area.models).flatMap(([its, models]) =>
      models.split(" ").map((model) => [model, its.split(" ")] as const),
    ),
  );
  const present = await rights.present([...needed.keys()]);
  const without = [...needed.keys()].filter((model) => !present.has(model));
  if (without.length > 0)
    return {
      code: "no-module",
      message: `${rights.name} does not have ${without.join(", ")}`,
      next: rights.remedy,
    };
  const lacking = [...(await rights.lacking(needed))];
  for (const [model, buttons] of Object.entries(area.buttons ?? {}))
    for (const button of await rights.barred(model, buttons.split(" ")))
      lacking.push(`button ${button} of ${model}`);
  if (lacking.length === 0) return null;
  return {
    code: "no-right",
    message: `the user may not: ${lacking.join(", ")}`,
    next: `Add the user to these groups in ${rights.name}: ${area.groups}.`,
  };
}
