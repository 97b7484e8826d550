/** Texts that people take for the same one, or cannot tell apart. Pure. */

/** As people read it: without case, outer blanks and repeated blanks, whichever way its accents are composed. */
export const folded = (text: string): string =>
  text.normalize("NFKC").toLowerCase().trim().replaceAll(/\s+/g, " ");
