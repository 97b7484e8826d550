/** A store belongs to one company, platform and environment (ADR 0002). */
import { expect, test } from "vitest";
import { tempFolder } from "../../test/support/folder.ts";
import { ConfigurationError } from "../core/errors.ts";
import { expectOwner, type Owner } from "./database.ts";
import { openStore } from "./store.ts";

const OURS: Owner = {
  company: "bluebonnet",
  platform: "https://api.example.com/v1/public",
  environment: "live",
  formerUrls: [],
};

function claim(folder: string, owner: Owner): void {
  const store = openStore(folder);
  try {
    store.transaction(() => store.binding.claim(owner, 0));
  } finally {
    store.close();
  }
}

test.each<[what: string, change: Partial<Owner>, said: RegExp]>([
  ["company", { company: "acme" }, /company "bluebonnet", but company is "acme"/],
  ["environment", { environment: "test" }, /live environment, but platform.environment is "test"/],
  ["address", { platform: "https://api.example.com/v2" }, /v1\/public, but platform.url is .*\/v2/],
])("another %s is refused with what, where, why and what to do", (_, change, said) => {
  const folder = tempFolder();
  claim(folder, OURS);
  const other = { ...OURS, ...change };
  for (const opening of [() => claim(folder, other), () => expectOwner(folder, other)]) {
    expect(opening).toThrow(ConfigurationError);
    expect(opening).toThrow(said);
    expect(opening).toThrow(folder);
  }
  claim(folder, OURS);
});

test("the same address written otherwise is the same platform", () => {
  const folder = tempFolder();
  claim(folder, OURS);
  for (const platform of [
    "https://API.Example.com/v1/public",
    "https://api.example.com:443/v1/public/",
  ])
    claim(folder, { ...OURS, platform });
});

test("a platform that has moved is followed where a person says where it was, and there only", () => {
  const folder = tempFolder();
  claim(folder, OURS);
  const platform = "https://api2.example.com/v1/public";
  const formerUrls = ["https://Api.example.com/v1/public/"];
  expect(() => claim(folder, { ...OURS, platform })).toThrow(/belongs to the platform at/);
  expect(() => claim(folder, { ...OURS, platform, formerUrls: ["https://x.example"] })).toThrow();
  expect(() => claim(folder, { ...OURS, company: "acme", platform, formerUrls })).toThrow("acme");
  claim(folder, { ...OURS, platform, formerUrls });
  // It belongs to the new address now.
  claim(folder, { ...OURS, platform });
  expect(() => claim(folder, OURS)).toThrow(ConfigurationError);
});

test("a store from before is nobody's until a daemon opens it; whoever only asks does not claim it", () => {
  const folder = tempFolder();
  const store = openStore(folder);
  store.transaction(() => store.binding.expect({ ...OURS, company: "acme" }));
  // Who looks is not told while another process holds it.
  expectOwner(folder, { ...OURS, company: "acme" });
  store.close();
  claim(folder, OURS);
  expectOwner(folder, OURS);
  expect(() => expectOwner(folder, { ...OURS, company: "acme" })).toThrow(ConfigurationError);
});
