import { roundTrips } from "../../../test/files/idoc-round-trip.ts";

roundTrips(200);
