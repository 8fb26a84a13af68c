// An operation of the API as a command: its arguments, flags and response, as generated from the contracts and
// routes (build/generate/commands.ts).

export type FlagType = 'text' | 'number' | 'integer' | 'boolean' | 'list' | 'time' | 'map' | 'json';

/** Names that stand for the id of an object, for places where the API accepts only the id. */
export interface Lookup {
  /** Path of the list, such as `/labels`. */
  readonly list: string;
  /** Query of the list, such as `?deleted=only` for the objects that can be restored. */
  readonly query?: string;
  /** Properties with the names. */
  readonly by: readonly string[];
  /** Pattern of the id. */
  readonly id: string;
}

/** Positional argument: a parameter of the path. */
export interface Argument {
  /** Name in the path: `id`. */
  readonly key: string;
  /** Name of the object in words: `project update`. */
  readonly label: string;
  readonly doc: string;
  readonly lookup?: Lookup;
}

export interface Flag {
  /** Without dashes: `target-date`. */
  readonly name: string;
  /** Property of the query or the body: `targetDate`. */
  readonly key: string;
  /** Further properties that errors of the server may name: `assigneeId` for `assignee`. */
  readonly also?: readonly string[];
  readonly in: 'query' | 'body';
  readonly type: FlagType;
  readonly doc: string;
  readonly values?: readonly string[];
  readonly isRequired?: true;
  /** True if null clears the value. */
  readonly isNullable?: true;
  /** True for Markdown and other texts for which `--editor` opens an editor. */
  readonly isLong?: true;
  /** True for secrets, which are read from standard input or a prompt. */
  readonly isSecret?: true;
  readonly lookup?: Lookup;
}

export interface Operation {
  /** Operation id of the API: `issues.list`. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path after `/api/v1`, with `{key}` for each argument. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly args: readonly Argument[];
  readonly flags: readonly Flag[];
  /**
   * Response: one page of a list, all items at once, one object, nothing, a file or an event stream.
   * `upload` also responds with one object; the request body is a file.
   */
  readonly answer: 'page' | 'list' | 'object' | 'nothing' | 'file' | 'stream' | 'upload';
  /** Properties of the response, or of an item of a list. */
  readonly fields?: readonly string[];
  /** Properties of an item of a list, the most telling first. */
  readonly columns?: readonly string[];
  /** True if the write can be simulated. */
  readonly simulates?: true;
  /** True if the write can be limited to a version of the object. */
  readonly takesVersion?: true;
  /** True if the command asks for confirmation, because the operation deletes objects or makes a secret invalid. */
  readonly destroys?: true;
  /** True if the response contains a secret that is shown only once. */
  readonly reveals?: true;
  /** True if no login may have the scope, because it is an app. */
  readonly needsKey?: true;
  /** Body of the example, for the help. */
  readonly example?: Readonly<Record<string, unknown>>;
}

/** Operations of a resource. */
export interface Noun {
  readonly name: string;
  /** Singular of the name; absent if another command has it. */
  readonly singular?: string;
  readonly doc: string;
  /** Heading in the help. */
  readonly group: string;
  readonly operations: readonly Operation[];
}
