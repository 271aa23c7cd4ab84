/** What a file lacks, as the end of a sentence; for the operator. */
export class Unusable extends Error {}
