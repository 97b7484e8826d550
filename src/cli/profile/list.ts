/** `fuelbridge profile list`: what ships. */
import type { Answer } from "../answer.ts";
import { openProfile, shippedProfiles } from "../../formats/table/profile-load.ts";
import { table } from "../../views/table.ts";

export function listProfiles(): Answer {
  const data = shippedProfiles().map((name) => {
    const { layout, file, about = "" } = openProfile(name, "");
    return { name, layout: layout.name, file, about };
  });
  const rows = data.map(({ name, layout, file, about }) => [name, layout, file, about]);
  return { data, text: table(["PROFILE", "LAYOUT", "FILE", "WHAT"], rows) };
}
