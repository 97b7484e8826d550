import { test } from "vitest";
import { roundTrips } from "../../../test/files/x12-round-trip.ts";

test("what is written as X12 reads back to the cent and the character", () => {
  roundTrips(200);
});
