/** A mistake in a site's module. The loader adds the file and the line that it was made in. */
export class MappingMistake extends Error {
  /** One sentence: what to do. */
  readonly next: string;

  constructor(message: string, next: string) {
    super(message);
    this.name = "MappingMistake";
    this.next = next;
  }
}
