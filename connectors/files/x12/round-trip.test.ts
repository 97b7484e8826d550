import { test } from "vitest";
import { roundTrips } from "./round-trip.suite.ts";

test("what is written as X12 reads back to the cent and the character", () => {
  roundTrips(200);
});
