/** What holds of the settings and the schema without a server. */
import { expect, test } from "vitest";
import { dialects } from "../../src/ledger/sql.ts";
import { sqlStaging } from "./index.ts";
import { partsOf } from "./schema.ts";

test("a server that is not on this machine is reached over TLS only", () => {
  const config = {
    dialect: "postgresql",
    host: "db.example.com",
    port: 5432,
    database: "staging",
    user: "fuelbridge",
    password: "staging-password",
  };
  const plain = { ...config, tls: false };
  expect(sqlStaging.config.safeParse(plain).error?.issues).toMatchObject([{ path: ["tls"] }]);
  expect(sqlStaging.config.safeParse(config).success).toBe(true);
  for (const host of ["127.0.0.1", "localhost", "::1", "/run/postgresql"])
    expect(sqlStaging.config.safeParse({ ...plain, host }).success).toBe(true);
});

test("both servers get the same columns and indexes", () => {
  const [postgresql, mariadb] = dialects.map((dialect) => [...partsOf(dialect).keys()]);
  expect(postgresql).toEqual(mariadb);
  expect(mariadb?.length).toBeGreaterThan(50);
});
