import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { type Kind, kinds } from "../core/kinds.ts";
import { openStore } from "./store.ts";

test("a link of each kind is found by its number and by the id of either side, without its kind", () => {
  const store = openStore(tempFolder());
  const all = Object.keys(kinds) as Kind[];
  const one = { born: "erp", content: null, amount: null } as const;
  store.transaction(() => {
    for (const kind of all)
      store.links.save(
        { ...one, kind, platformId: `P ${kind}`, erpId: `E ${kind}`, number: `N ${kind}` },
        0,
      );
  });
  for (const kind of all)
    for (const text of [`P ${kind}`, `E ${kind}`, `N ${kind}`])
      expect(store.links.search(text)).toMatchObject([{ kind }]);
  expect(store.links.search("E none")).toEqual([]);
  store.close();
});
