// Building blocks of the generated call types (sdk/generated/calls.ts).

export interface VersionOptions {
  /** Rejects the write with a Conflict if the object has another version. */
  ifVersion?: number;
}

/** An object with the fields that a call selected; its id is always included. */
export type Chosen<Shown extends { readonly id: string }> = Pick<Shown, 'id'> & Partial<Shown>;

/** An object as a plugin receives it. A description longer than 64 KiB is cut, and `truncated` is set. */
export type Received<Shown> = 'description' extends keyof Shown
  ? Shown & { readonly truncated?: true }
  : Shown;
