import { roundTrips } from "./round-trip.suite.ts";

roundTrips(200);
