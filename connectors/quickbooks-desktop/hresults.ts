/**
 * What the Web Connector and QuickBooks say in `hresult` instead of an answer. `parse`: nothing of the document was carried
 * out; every other one leaves unknown what happened, where a document was under way.
 */
export interface Hresult {
  readonly sort: "parse" | "unknown";
  /** What it means. */
  readonly means: string;
  /** What a person at that machine should do. */
  readonly next: string;
}

const TABLE: Readonly<Record<string, readonly [means: string, next: string, sort?: "parse"]>> = {
  "0x80040400": [
    "QuickBooks could not read the request",
    "This is a fault in fuelbridge: report it with the line of the log.",
    "parse",
  ],
  "0x80040401": [
    "QuickBooks could not be reached",
    "Start QuickBooks on that machine as the user who authorised fuelbridge, then press Update Selected in the Web Connector.",
  ],
  "0x80040402": [
    "QuickBooks failed unexpectedly",
    "Read qbsdklog.txt on that machine, restart QuickBooks, then press Update Selected.",
  ],
  "0x80040408": [
    "QuickBooks could not be started",
    "Start QuickBooks by hand once, close its dialogs, then press Update Selected.",
  ],
  "0x8004040a": [
    "another company file is open",
    "Close it in QuickBooks, or open the right one; then press Update Selected.",
  ],
  "0x8004040d": [
    "QuickBooks ended its session with the Web Connector",
    "Press Update Selected; if it stays so, restart the Web Connector.",
  ],
  "0x80040416": [
    "QuickBooks is not running, and no company file was named",
    "Set companyFile in the configuration to the full path of the .qbw file on that machine, or open it in QuickBooks.",
  ],
  "0x80040420": [
    "the company file does not let fuelbridge in",
    "In QuickBooks as Admin, in single-user mode: Edit, Preferences, Integrated Applications, Company Preferences; allow fuelbridge, also when QuickBooks is not running.",
  ],
};

/** @param code as it came: hexadecimal digits in any case */
export function hresultOf(code: string): Hresult {
  const [means, next, sort = "unknown"] = TABLE[code.trim().toLowerCase()] ?? [
    "QuickBooks or the Web Connector failed",
    "Read the Web Connector's log (View Log) and qbsdklog.txt on that machine.",
  ];
  return { means, next, sort };
}
