/** What is traded, and where. Prices and rates are in millionths of a dollar: sums of doubles would not be cents. */

export interface Product {
  readonly code: string;
  readonly name: string;
  /** The platform's product master. */
  readonly master: string;
  readonly spec: string;
  readonly family: "diesel" | "dyed" | "gasoline" | "jet" | "propane" | "fluid";
  /** Per US gallon. */
  readonly price: number;
  readonly apiGravity: number;
}

export const products = tableOf<Product>(
  `
code | name | master | spec | family | price | apiGravity
ULSD-CLR | Ultra-low sulfur diesel, clear | FP-2010 | 15 ppm S | diesel | 2431500 | 36.2
ULSD-DYE | Ultra-low sulfur diesel, dyed | FP-2020 | 15 ppm S, dyed | dyed | 2409250 | 36.1
UNL-87 | Unleaded "Regular" 87 | FP-1087 | 87 AKI | gasoline | 2118750 | 59.8
UNL-89 | Unleaded Mid-Grade 89 | FP-1089 | 89 AKI | gasoline | 2284100 | 59.1
UNL-93 | Unleaded Premium 93 | FP-1093 | 93 AKI | gasoline | 2561900 | 58.4
E10-87 | Regular 87 with 10% ethanol | FP-1187 | E10, 87 AKI | gasoline | 2074300 | 58.9
E10-93 | Premium 93 with 10% ethanol | FP-1193 | E10, 93 AKI | gasoline | 2488400 | 57.7
B5-ULSD | Biodiesel blend B5 | FP-2105 | B5, 15 ppm S | diesel | 2466800 | 35.7
KERO-K1 | Kerosene K-1 | FP-2310 | K-1, 0.04% S | diesel | 2902150 | 42.3
JET-A | Jet A | FP-2400 | ASTM D1655 | jet | 2517600 | 43.1
PROP-HD5 | Propane HD-5 | FP-3010 | HD-5 | propane | 994250 | 147.6
DEF-32 | Diesel exhaust fluid 32.5% | FP-4010 | ISO 22241 | fluid | 1662000 | 10.9
`,
  ["price", "apiGravity"],
);

export interface Terminal {
  readonly code: string;
  readonly name: string;
  readonly city: string;
  readonly state: string;
  readonly zip: string;
  readonly lat: number;
  readonly lng: number;
}

/** Control numbers follow the form of the real list and are invented. */
export const terminals = tableOf<Terminal>(
  `
code | name | city | state | zip | lat | lng
T-74-TX-2704 | Channel South Rack | Pasadena | TX | 77506 | 29.70912 | -95.20431
T-74-TX-2718 | Galena Park Products | Galena Park | TX | 77547 | 29.73367 | -95.23021
T-74-TX-2731 | Baytown Ship Channel | Baytown | TX | 77520 | 29.7355 | -94.97743
T-74-TX-2746 | Neches Crossing | Beaumont | TX | 77701 | 30.08017 | -94.12656
T-75-TX-2650 | Trinity Forks | Euless | TX | 76039 | 32.83707 | -97.08195
T-75-TX-2661 | Grapevine Junction | Grapevine | TX | 76051 | 32.93429 | -97.07807
T-75-TX-2672 | Cowtown North | Fort Worth | TX | 76106 | 32.80001 | -97.35223
T-75-TX-2688 | Piney Woods Rack | Tyler | TX | 75702 | 32.36182 | -95.31078
T-75-TX-2695 | Brazos Bend | Waco | TX | 76705 | 31.63561 | -97.09611
T-76-TX-2783 | Caliche Road | Midland | TX | 79701 | 31.99735 | -102.07791
T-76-TX-2791 | Staked Plain Products | Lubbock | TX | 79404 | 33.52612 | -101.83339
T-76-TX-2799 | Mission Rack | San Antonio | TX | 78223 | 29.35711 | -98.43521
T-76-TX-2806 | Nueces Bay | Corpus Christi | TX | 78407 | 27.80801 | -97.43662
T-76-TX-2814 | Franklin Pass | El Paso | TX | 79905 | 31.7712 | -106.42551
T-76-TX-2822 | River Bridge | Laredo | TX | 78040 | 27.51431 | -99.50562
T-72-LA-2351 | Old River Products | Baton Rouge | LA | 70805 | 30.48672 | -91.16611
T-72-LA-2364 | Contraband Bayou | Lake Charles | LA | 70601 | 30.22441 | -93.21732
T-72-LA-2379 | Cross Bayou | Shreveport | LA | 71107 | 32.5441 | -93.79211
T-72-LA-2388 | Chalmette Bend | Chalmette | LA | 70043 | 29.94262 | -89.96341
T-72-LA-2397 | Ouachita Rack | Monroe | LA | 71203 | 32.54981 | -92.07512
T-73-OK-2607 | Arkansas River Products | Tulsa | OK | 74107 | 36.11251 | -96.01982
T-73-OK-2615 | Stockyard Rack | Oklahoma City | OK | 73108 | 35.44821 | -97.5612
T-73-OK-2629 | Arbuckle | Ardmore | OK | 73401 | 34.17432 | -97.14361
T-73-OK-2634 | Cherokee Strip | Enid | OK | 73701 | 36.39561 | -97.87841
T-71-AR-2453 | Big Rock | North Little Rock | AR | 72117 | 34.77291 | -92.19241
T-71-AR-2468 | Red Chute | Texarkana | AR | 71854 | 33.4418 | -94.03771
T-85-NM-4252 | Mesa del Sol | Albuquerque | NM | 87105 | 35.02971 | -106.67632
T-85-NM-4266 | Pecos Draw | Artesia | NM | 88210 | 32.84231 | -104.40331
T-48-KS-3661 | Fort Riley Road | Wichita | KS | 67219 | 37.76362 | -97.32171
T-48-KS-3675 | Kaw Point | Kansas City | KS | 66115 | 39.14242 | -94.61631
T-43-MO-3712 | Carthage Rack | Carthage | MO | 64836 | 37.17651 | -94.31022
T-43-MO-3726 | Gravois Products | Saint Louis | MO | 63118 | 38.59231 | -90.22131
T-62-TN-2219 | President's Island | Memphis | TN | 38109 | 35.08431 | -90.10332
T-64-MS-2406 | Pearl River Rack | Jackson | MS | 39208 | 32.2689 | -90.12671
T-64-MS-2418 | Bayou Casotte | Pascagoula | MS | 39581 | 30.34252 | -88.51231
T-63-AL-2311 | Blakeley Island | Mobile | AL | 36610 | 30.72941 | -88.03811
T-58-GA-2508 | Doraville Line | Doraville | GA | 30340 | 33.90981 | -84.27192
T-59-FL-2114 | Panhandle Port | Pensacola | FL | 32502 | 30.40371 | -87.21592
T-84-CO-4107 | Commerce City Rack | Commerce City | CO | 80022 | 39.80362 | -104.93671
T-84-CO-4119 | Fountain Creek | Fountain | CO | 80817 | 38.68211 | -104.70091
`,
  ["lat", "lng"],
);

interface Tax {
  readonly type: string;
  readonly authority: string;
  /** Millionths of a dollar per gallon, or of a dollar per dollar. */
  readonly rate: number;
  readonly per: "gallon" | "dollar";
}

const LUST: Tax = perGallon("Federal LUST Fee", "IRS", 1000);

const federal: Record<Product["family"], readonly Tax[]> = {
  diesel: [perGallon("Federal Excise Tax - Diesel", "IRS", 243000), LUST],
  gasoline: [perGallon("Federal Excise Tax - Gasoline", "IRS", 183000), LUST],
  jet: [perGallon("Federal Excise Tax - Aviation", "IRS", 218000), LUST],
  dyed: [LUST],
  propane: [],
  fluid: [],
};

type StateTaxes = readonly [gasoline: number, diesel: number, sales: number];

/** Gasoline and diesel per gallon, sales tax on what is no motor fuel. Believable, not advice. */
const states: Readonly<Record<string, StateTaxes>> = {
  TX: [200000, 200000, 62500],
  LA: [200000, 200000, 44500],
  OK: [190000, 190000, 45000],
  AR: [247000, 285000, 65000],
  NM: [170000, 210000, 51250],
  KS: [240000, 260000, 65000],
  MO: [295000, 295000, 42250],
  TN: [260000, 270000, 70000],
  MS: [180000, 180000, 70000],
  AL: [300000, 310000, 40000],
  GA: [323000, 362000, 40000],
  FL: [203000, 213000, 60000],
  CO: [220000, 205000, 29000],
};

export function taxesOn(product: Product, state: string): readonly Tax[] {
  const [gasoline, diesel, sales] = states[state] ?? [0, 0, 0];
  const revenue = (type: string, rate: number) =>
    perGallon(`${state} ${type}`, `${state} Revenue`, rate);
  const onSales: Tax = { ...revenue("Sales Tax", sales), per: "dollar" };
  const local: Record<Product["family"], Tax> = {
    gasoline: revenue("State Gasoline Tax", gasoline),
    diesel: revenue("State Diesel Tax", diesel),
    jet: revenue("Aviation Fuel Fee", 10000),
    dyed: perGallon(`${state} Dyed Fuel Inspection Fee`, `${state} Agriculture`, 2500),
    propane: onSales,
    fluid: onSales,
  };
  return [...federal[product.family], local[product.family]];
}

function perGallon(type: string, authority: string, rate: number): Tax {
  return { type, authority, rate, per: "gallon" };
}

/** The rows of a table written as text, by its first line; `numbers`: the columns that are numbers. */
function tableOf<Row>(text: string, numbers: readonly (keyof Row)[]): readonly Row[] {
  const [head = [], ...rows] = text
    .trim()
    .split("\n")
    .map((line) => line.split(" | "));
  const read = (name: string, cell: string): string | number =>
    numbers.includes(name as keyof Row) ? Number(cell) : cell;
  return rows.map(
    (cells) =>
      Object.fromEntries(cells.map((cell, at) => [head[at], read(head[at] ?? "", cell)])) as Row,
  );
}
