import { type Terminal, terminals } from "./catalog.ts";
import { Random } from "./random.ts";

type CompanyType = "SUPPLIER" | "BROKER" | "CARRIER" | "CUSTOMER";

export type Company = ReturnType<typeof company>;

/** Company ids do not depend on the scenario: keys outlive a reset. */
const random = new Random(0xfb_00_00_01);

const STREETS =
  "Industrial Blvd|Old Mill Rd|County Road 210|Commerce St|Farm Rd 1488|Depot Ave".split("|");

/** The companies that have a key. The test company is isolated: nothing of the others refers to it. */
export const companies = {
  supplier: company("Bluebonnet Fuel Distributors, Inc.", "SUPPLIER"),
  customer: company("Lone Prairie Travel Centers, LLC", "CUSTOMER"),
  carrier: company("Caprock Tank Lines, LLC", "CARRIER"),
  outsider: company("Meridian Energy Brokers, Inc.", "BROKER"),
  supplierTest: company("Bluebonnet Fuel Distributors, Inc. (test)", "SUPPLIER"),
};

/** They sell fuel to the supplier, and send it invoices. */
export const refiners = settled("SUPPLIER", {
  TX: `Sabine Lights Refining, L.P. | Gulf Meridian Products Company
    | Permian Basin Rack Sales, LLC`,
  OK: `Red Fork "Unbranded" Supply Co. | Tulsa Crossroads Refining Co.`,
  LA: `Pétroles de l'Acadie (USA), Inc. | Bayou State Biodiesel, LLC`,
  MO: `Clearwater DEF & Fluids`,
});

/** They haul for the supplier, beside `companies.carrier`. */
export const haulers = settled("CARRIER", {
  TX: `Two Rivers Transport, Inc. | Mesquite Bulk Carriers | Big Thicket Hauling, LLC`,
  OK: `Quartz Mountain Petroleum Transport`,
  CO: `Sunup Fleet Services`,
});

/** Beside `companies.customer`. Some names are hard on CSV files, spreadsheets and code pages. */
export const buyers = settled("CUSTOMER", {
  TX: `O'Malley & Sons "Quick Fill", Inc. | Café Niño Truck Plaza, S. de R.L.
    | +Plus One Convenience | -30- Newspaper Delivery Co.
    | Müller Brothers Aggregates; Sand & Gravel | Hill Country Dairy Cooperative
    | Concho Valley Cotton Gin | Padre Island Marina | Frio County Independent School District
    | City of Sweet Springs, Public Works | Lariat Ready Mix, Ltd. | Hwy 90 Express Mart #14
    | Hwy 90 Express Mart #41 | Prickly Pear Produce | Guadalupe Rural Electric
    | Southern Cross Airport Services | Blackland Grain Elevators, Inc. | Iron Horse Excavating
    | Cimarron Cattle Feeders | Rio Bravo Bridge Fuel Stop | Tres Hermanos Tire and Fuel
    | Llano Grande Onion Packers | Mustang Creek Golf Club | Panhandle Pipeline Inspectors
    | Riverside Construction | Bee Line Ambulance`,
  LA: `Delta Queen Barge Services | Evangeline Rice Mill | Magazine Street Fleet Fueling
    | Atchafalaya Crew Boats, LLC | Ponchatoula Berry Growers
    | Bossier Parish Road District No. 2 | Pelican State Paving`,
  OK: `Turner Turnpike Plaza, LLC | Green Country Disposal | Kiamichi Timber Company
    | Red Dirt Drilling Fluids | Stillwater Transit Authority | Texoma Boat Works`,
  AR: `Ozark Trail Poultry | Diamond State Quarry`,
  TN: `Bluff City Logistics Park`,
  MS: `Cotton Row Farm Supply | Natchez Bend Sand | Singing River Seafood`,
  AL: `Azalea City Stevedores`,
  GA: `Peachtree Courier & Freight`,
  FL: `Emerald Coast Charters`,
  NM: `Zia Sun Concrete | Pecos River Pecans | Sandia Crest Ski Lifts`,
  KS: `High Plains Center Pivot | Flint Hills Feed & Seed | Wheatland Custom Harvesters
    | Tallgrass Wind Services`,
  MO: `Gateway Bus Company | Show-Me Stone`,
  CO: `Front Range Snow Removal | Pikes Peak Tours & Coach`,
});

/** The rack in a company's town: all of them sit in one that has a rack. */
export function homeOf(company: Company): Terminal {
  const home = terminals.find(({ zip }) => zip === company.billingZip);
  if (home === undefined) throw new Error(`${company.name} is nowhere near a terminal`);
  return home;
}

/** The company's name as part of a mail address or a site. */
export function slug(name: string): string {
  const letters = name.normalize("NFD").toLowerCase();
  return letters.replaceAll(/[^a-z0-9]+/g, "").slice(0, 16);
}

/** Companies by state, spread over its racks. Names are parted by a bar. */
function settled(type: CompanyType, names: Readonly<Record<string, string>>): Company[] {
  return Object.entries(names).flatMap(([state, names]) => {
    const racks = terminals.filter((terminal) => terminal.state === state);
    return names
      .split(/\s*\|\s*/)
      .map((name, index) => company(name, type, racks[index % racks.length]));
  });
}

function company(name: string, type: CompanyType, home = terminals[0] as Terminal) {
  const { city, state, zip } = home;
  return {
    id: random.uuid(),
    name,
    type,
    dba: random.chance(0.2) ? name.split(/[ ,]/, 2).join(" ") : null,
    phone: `(${random.int(210, 989)}) 555-01${random.digits(2)}`,
    website: random.chance(0.7) ? `https://www.${slug(name)}.example` : null,
    logoUrl: null,
    billingStreet: `${random.int(100, 9900)} ${random.pick(STREETS)}`,
    billingCity: city,
    billingState: state,
    billingZip: zip,
    createdAt: new Date(
      Date.UTC(2025, random.int(0, 11), random.int(1, 28), 15, random.int(0, 59)),
    ).toISOString(),
  };
}
