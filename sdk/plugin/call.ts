// What the generated types of calls (sdk/generated/calls.ts) are made of.

export interface VersionOptions {
  /** Refuses the write with a Conflict when the object has another version by now. */
  ifVersion?: number;
}

/** An object with the fields that a call chose; its id is always among them. */
export type Chosen<Shown extends { readonly id: string }> = Pick<Shown, 'id'> & Partial<Shown>;

/** An object as a plugin gets it: a description longer than 64 KiB is cut, and `truncated` says so. */
export type Received<Shown> = 'description' extends keyof Shown
  ? Shown & { readonly truncated?: true }
  : Shown;
