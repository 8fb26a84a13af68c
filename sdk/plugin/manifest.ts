// Static manifest and package document, which the host reads without running code. A package is one JSON document and
// not an archive, so there is nothing to unpack, no links and no path traversal.
import { Type } from 'typebox';
import type { Static, TProperties, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { pluginEventTypes } from './event-types.ts';
import { handlerKinds, handlerMembers } from './handlers.ts';
import { describedAt, schemaWords, type SchemaError } from './schema-words.ts';

export const packageFormat = 'tatami-plugin/1';
export const packageBytesMax = 4 * 1024 * 1024;
const sourceMapCharsMax = 512 * 1024;
/** A minified bundle has few lines; each costs memory, even an empty one. */
const sourceMapLinesMax = 10_000;

const closed = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
/** @param names naming rule, for errors */
const closedRecord = <S extends TSchema>(
  pattern: string,
  value: S,
  maxProperties: number,
  names = 'The name is unknown. Correct or remove it.',
) =>
  Type.Unsafe<Record<string, Static<S>>>({
    type: 'object',
    patternProperties: { [pattern]: value },
    additionalProperties: false,
    maxProperties,
    description: names,
  });
const line = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const json = Type.Unsafe<Record<string, unknown>>({ type: 'object' });

const scopeRequest = closed({
  why: line(200),
  fields: Type.Optional(
    Type.Array(line(60), {
      minItems: 1,
      maxItems: 50,
      description: 'List at least one field, or omit `fields` to request all fields.',
    }),
  ),
  where: Type.Optional(
    Type.Record(
      line(60),
      Type.Array(line(100), {
        minItems: 1,
        maxItems: 100,
        description: 'List at least one team, or omit `where` to request all teams.',
      }),
    ),
  ),
});

const subscription = closed({
  filter: Type.Optional(json),
  self: Type.Optional(Type.Enum(['skip', 'deliver'])),
  order: Type.Optional(Type.Enum(['issue', 'none'])),
});

const ownLimits = Type.Optional(
  closed({ cpuMs: Type.Optional(Type.Integer({ minimum: 10, maximum: 10_000 })) }),
);

const schedule = closed({
  /** Five cron fields. Without it, the schedule runs only when requested by `ctx.schedule.once`. */
  cron: Type.Optional(line(100)),
  /** IANA time zone; default UTC. */
  timeZone: Type.Optional(line(60)),
  /** Former name of `timeZone`, still accepted. */
  tz: Type.Optional(line(60)),
  overlap: Type.Optional(Type.Enum(['skip'])),
  limits: ownLimits,
});

const action = closed({
  target: Type.Enum(['issue', 'project', 'none']),
  title: Type.Optional(line(80)),
  description: Type.Optional(line(500)),
  /** Schema of an object, in the same subset of JSON Schema as settings. */
  input: Type.Optional(json),
  limits: ownLimits,
});

const routeBodyMax = 65_536;

const route = closed({
  method: Type.Enum(['POST', 'GET']),
  auth: Type.Enum(['hmac', 'public']),
  /** Bytes. */
  maxBody: Type.Optional(Type.Integer({ minimum: 0, maximum: routeBodyMax })),
  why: Type.Optional(line(200)),
});

const handlesNothing =
  'The plugin has no handlers. Add at least one event in "on", or a schedule, action or route.';
const handlerName = '^[a-z][a-zA-Z0-9-]{0,39}$';
const handlerNames =
  'A name has up to 40 letters, digits and -, and starts with a lower-case letter, such as daily-report.';
export const netMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const netRequest = closed({
  /** Scheme, host and port, as in `new URL(…).origin`. */
  origin: line(260),
  /** Default: all. */
  methods: Type.Optional(
    Type.Array(Type.Enum([...netMethods]), { minItems: 1, maxItems: netMethods.length }),
  ),
  /** Path, or path prefix if it ends with `/`; default all paths. */
  path: Type.Optional(
    Type.String({
      pattern: '^/[!-~]*$',
      maxLength: 500,
      description:
        'A path starts with / and has no spaces, such as /v1/messages, or /v1/ for all paths below it.',
    }),
  ),
  why: line(200),
  /** `never`: a request whose response was lost is not sent again. */
  retry: Type.Optional(Type.Enum(['never'])),
});
export type NetRequest = Static<typeof netRequest>;

const secretRequest = closed({
  /** Origins of `net`; the secret is sent to no other. */
  hosts: Type.Array(line(260), { minItems: 1, maxItems: 20 }),
  /** The only header that the secret is sent in. */
  header: line(80),
  /** Value of the header; `{}` is replaced with the secret. */
  format: Type.Optional(
    Type.String({
      pattern: '^[ -z|~]*\\{\\}[ -z|~]*$',
      maxLength: 100,
      description:
        'A format contains {} once, in place of the secret, and printable ASCII around it, such as Bearer {}.',
    }),
  ),
});
export type SecretRequest = Static<typeof secretRequest>;

/** Id of a plugin, the same on every server. */
export const pluginId = Type.String({
  pattern: '^[a-z][a-z0-9-]*(\\.[a-z0-9-]+)*$',
  maxLength: 100,
  description:
    'An id consists of lower-case letters, digits, - and dots, and starts with a letter, such as acme.hello.',
});

export const PluginManifest = closed({
  id: pluginId,
  version: Type.String({
    pattern: '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-[0-9A-Za-z.-]+)?$',
    maxLength: 60,
    description: 'A version has three numbers, such as 2.0.0 or 2.0.0-beta.1.',
  }),
  name: Type.Optional(line(80)),
  description: Type.Optional(line(500)),
  engines: closed({ tatami: line(60) }),
  apiDate: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d{2}-\\d{2}$',
      description: 'A date has year, month and day, such as 2026-01-31.',
    }),
  ),
  scopes: Type.Optional(closedRecord('^[a-z-]{1,30}:(read|write)$', scopeRequest, 40)),
  net: Type.Optional(Type.Array(netRequest, { minItems: 1, maxItems: 20 })),
  secrets: Type.Optional(
    closedRecord(
      '^[A-Z][A-Z0-9_]{0,39}$',
      secretRequest,
      20,
      'A secret name consists of capital letters, digits and _, and starts with a letter, such as ACME_KEY.',
    ),
  ),
  settings: Type.Optional(json),
  limits: Type.Optional(
    closed({
      cpuMs: Type.Optional(Type.Integer({ minimum: 10, maximum: 1000 })),
      memoryMb: Type.Optional(Type.Integer({ minimum: 8, maximum: 128 })),
    }),
  ),
  partitions: Type.Optional(Type.Integer({ minimum: 1, maximum: 4 })),
  isolation: Type.Optional(Type.Enum(['serializable', 'none'])),
  on: Type.Optional(
    closedRecord(
      `^(${pluginEventTypes.map((type) => type.replace('.', '\\.')).join('|')})$`,
      subscription,
      pluginEventTypes.length,
    ),
  ),
  schedules: Type.Optional(closedRecord(handlerName, schedule, 5, handlerNames)),
  actions: Type.Optional(closedRecord(handlerName, action, 20, handlerNames)),
  routes: Type.Optional(closedRecord(handlerName, route, 5, handlerNames)),
  /** Registered handlers as `event:<type>`, `schedule:<name>`, `action:<name>` and `route:<name>`, sorted. */
  handlers: Type.Array(line(100), { minItems: 1, maxItems: 200, description: handlesNothing }),
});
export type PluginManifest = Static<typeof PluginManifest>;

/** Returns true if a package may contain a source map with these mappings. */
export function fitsPackage(mappings: string): boolean {
  return (
    mappings.length <= sourceMapCharsMax &&
    mappings.split(';', sourceMapLinesMax + 1).length <= sourceMapLinesMax
  );
}

/** Source map (version 3) of the code. It is never executed, and contains none of the author's source text. */
export const PackageSourceMap = closed({
  version: Type.Literal(3),
  /** Paths in the plugin's folder, `node_modules/…` and `@tatami/sdk/…`. */
  sources: Type.Array(line(300), { maxItems: 2000 }),
  mappings: Type.String({ maxLength: sourceMapCharsMax, pattern: '^[A-Za-z0-9+/,;]*$' }),
});
export type PackageSourceMap = Static<typeof PackageSourceMap>;

export const PluginPackage = closed({
  format: Type.Literal(packageFormat),
  manifest: PluginManifest,
  /** One ES module without imports. */
  code: Type.String({ minLength: 1 }),
  /** SHA-256 of `code` in UTF-8, lower-case hex. */
  sha256: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'The hash must have 64 lower-case hex digits; pack the plugin again.',
  }),
  /** Absent if it would be too large; errors then refer to positions in `code`. */
  sourceMap: Type.Optional(PackageSourceMap),
});
export type PluginPackage = Static<typeof PluginPackage>;

/** Position in a file of a plugin, named relative to its folder. Both numbers start at 1. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Error in a manifest or package: a sentence for its author, and the location as a JSON pointer. */
export class PackageError extends Error {
  readonly path: string;
  /** Positions that could not be parsed or bundled, if known. */
  readonly locations: readonly (SourceLocation & { readonly message: string })[];
  constructor(path: string, message: string, locations: PackageError['locations'] = []) {
    super(path === '' ? message : `${path}: ${message}`);
    this.name = 'PackageError';
    this.path = path;
    this.locations = locations;
  }
}

const packageCheck = Compile(PluginPackage);

/**
 * Parses and validates a package document: size, shape, hash, and that the manifest's subscriptions match its
 * handlers.
 * @throws PackageError
 */
export async function parsePackage(text: string): Promise<PluginPackage> {
  const bytes = Buffer.byteLength(text);
  if (bytes > packageBytesMax)
    throw new PackageError(
      '',
      `The package has ${bytes} bytes; the maximum is ${packageBytesMax}. Bundle less code.`,
    );
  const value = parseJson(text);
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined;
  if (format !== packageFormat)
    throw new PackageError(
      '/format',
      `This is not a plugin package of format ${packageFormat}. Make one with \`tatami plugins pack DIR --out FILE\`.`,
    );
  if (!packageCheck.Check(value)) throw firstError(packageCheck.Errors(value));
  checkText(value.manifest, '/manifest');
  checkText(value.sourceMap, '/sourceMap');
  if (value.sourceMap && !fitsPackage(value.sourceMap.mappings))
    throw new PackageError(
      '/sourceMap',
      'The source map is too large; pack the plugin again, or omit the source map.',
    );
  checkHandlers(value.manifest, '/manifest');
  if ((await sha256Hex(value.code)) !== value.sha256)
    throw new PackageError('/sha256', 'The code does not have this hash; pack the plugin again.');
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new PackageError(
      '',
      'The package is not JSON. Make one with `tatami plugins pack DIR --out FILE`.',
    );
  }
}

/** Returns the handler names that a manifest implies, in the order of `handlers`. */
function handlersOf(manifest: PluginManifest): string[] {
  return handlerKinds
    .flatMap((kind) => Object.keys(manifest[handlerMembers[kind]] ?? {}).map((name) => `${kind}:${name}`))
    .sort();
}

function checkHandlers(manifest: PluginManifest, at = ''): void {
  const implied = handlersOf(manifest);
  if (implied.length === 0) throw new PackageError(`${at}/on`, handlesNothing);
  if (implied.join() !== [...manifest.handlers].sort().join()) {
    throw new PackageError(
      `${at}/handlers`,
      `The handlers must be exactly those of ${Object.values(handlerMembers).join(', ')}: ${implied.join(', ')}.`,
    );
  }
}

/**
 * Control characters that a manifest must not contain. Settings may contain line breaks and tabs, because
 * their texts may have several lines.
 */
const control = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
const controlInSettings = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** Rejects control characters, because people read a manifest in a terminal before they install it. */
function checkText(value: unknown, at = '', forbidden = control): void {
  if (typeof value === 'string') {
    const match = forbidden.exec(value)?.[0];
    if (match === undefined) return;
    const code = match.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    throw new PackageError(at, `The text contains the control character U+${code}; use plain text.`);
  }
  if (value === null || typeof value !== 'object') return;
  for (const [name, inner] of Object.entries(value)) {
    checkText(name, at, forbidden);
    checkText(
      inner,
      `${at}/${name}`,
      /^(\/manifest)?$/.test(at) && name === 'settings' ? controlInSettings : forbidden,
    );
  }
}

/**
 * Returns the first useful error: a `boolean` error duplicates `additionalProperties` without the name of the
 * field.
 */
function firstError(errors: Iterable<SchemaError>): PackageError {
  const all = [...errors];
  const error = all.find(({ keyword }) => keyword !== 'boolean') ?? all[0];
  if (!error)
    return new PackageError('', 'The document does not have the format of a package. Pack the plugin again.');
  const extra = 'additionalProperties' in error.params ? (error.params.additionalProperties as string[]) : [];
  const unknown = extra.map((name) => JSON.stringify(name)).join(', ');
  const message =
    ruleOf(error) ??
    (unknown === '' ? schemaWords(error, PluginPackage) : `Remove the unknown field ${unknown}.`);
  const [field] = extra;
  return new PackageError(
    field === undefined ? error.instancePath : `${error.instancePath}/${field}`,
    message,
  );
}

const ruled: ReadonlySet<string> = new Set(['pattern', 'minItems', 'additionalProperties']);

/** Returns the schema's description for keywords whose error does not explain the rule, such as `pattern`. */
function ruleOf({ keyword, schemaPath }: SchemaError): string | undefined {
  return ruled.has(keyword) ? describedAt(PluginPackage, schemaPath) : undefined;
}

/** Returns the SHA-256 of the UTF-8 bytes in lower-case hex. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Buffer.from(digest).toString('hex');
}
