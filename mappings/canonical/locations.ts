import { LocationDocument } from "../../src/formats/documents.ts";
import { defineMapping } from "../../src/core/contract.ts";
import { ListedLocation } from "../../src/platform/contract/place.ts";
import { codeOf } from "./codes.ts";
import { activity, counted } from "./values.ts";

/** Sites with their tanks, for an ERP. Contacts stay on the platform: they are people's data. */
export const locations = defineMapping({
  name: "canonical/locations",
  kind: "location",
  reads: "platform.locations",
  writes: "files.locations",
  tables: { items: ["product", "item"] },
  // Contacts are people's data; compartments and opening hours have no column; the version is the last change.
  leaves: { record: ["contacts", "compartments", "schedules", "assets.locationId", "createdAt"] },
  input: ListedLocation,
  output: LocationDocument,
  number: ({ id }) => id,
  map: (location, references) => ({
    id: location.id,
    number: location.id,
    version: location.updatedAt,
    status: activity(location.isActive),
    companyId: location.companyId,
    name: location.name,
    locationType: location.locationType,
    street: location.street,
    city: location.city,
    state: location.state,
    zip: location.zip,
    country: location.country,
    gateCode: location.gateCode,
    latitude: location.lat,
    longitude: location.lng,
    lines: (location.assets ?? []).map((asset) => ({
      assetId: asset.id,
      name: asset.name,
      assetType: asset.assetType,
      item: asset.product === null ? null : codeOf(references, "items", asset.product),
      product: asset.product,
      capacity: counted(asset.capacity),
      currentLevel: counted(asset.currentLevel),
      unit: asset.unit,
      fillMethod: asset.fillMethod,
      maxFillPercent: counted(asset.maxFillPct),
      reorderPercent: counted(asset.autoReorderPct),
    })),
  }),
  figures: () => ({ amount: null, gallons: null }),
  about: ({ name }) => ({ name }),
});
