// The static manifest and the package document, as the host reads them without running any code. A package is one JSON
// document: no archive, so nothing to unpack, link or escape from.
import { Type } from 'typebox';
import type { Static, TProperties, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { pluginEventTypes } from './event-types.ts';
import { handlerKinds, handlerMembers } from './handlers.ts';
import { describedAt, schemaWords, type SchemaError } from './schema-words.ts';

export const packageFormat = 'tatami-plugin/1';
export const packageBytesMax = 4 * 1024 * 1024;
const sourceMapCharsMax = 512 * 1024;
/** A bundle without white space has few; each costs memory, however little stands in it. */
const sourceMapLinesMax = 10_000;

const closed = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
/** @param names how its names are written, for errors */
const closedRecord = <S extends TSchema>(
  pattern: string,
  value: S,
  maxProperties: number,
  names = 'There is no such name.',
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
      description: 'Name at least one field, or leave `fields` out to ask for all of them.',
    }),
  ),
  where: Type.Optional(
    Type.Record(
      line(60),
      Type.Array(line(100), {
        minItems: 1,
        maxItems: 100,
        description: 'Name at least one team, or leave `where` out to ask for all of them.',
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
  /** Absent: it runs only when a run asks for it, by `ctx.schedule.once`. */
  cron: Type.Optional(line(100)),
  /** IANA time zone; UTC where it is absent. */
  timeZone: Type.Optional(line(60)),
  /** Earlier name of `timeZone`. */
  tz: Type.Optional(line(60)),
  overlap: Type.Optional(Type.Enum(['skip'])),
  limits: ownLimits,
});

const action = closed({
  target: Type.Enum(['issue', 'project', 'none']),
  title: Type.Optional(line(80)),
  description: Type.Optional(line(500)),
  /** A schema of an object, of the same part of JSON Schema as settings. */
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
  'The plugin handles nothing. Give it at least one event in "on", one schedule, action or route.';
const handlerName = '^[a-z][a-zA-Z0-9-]{0,39}$';
const handlerNames =
  'A name has up to 40 letters, digits and -, and begins with a small letter: daily-report.';
export const netMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const netRequest = closed({
  /** Scheme, host and port, as `new URL(…).origin` writes them. */
  origin: line(260),
  /** All where it is absent. */
  methods: Type.Optional(
    Type.Array(Type.Enum([...netMethods]), { minItems: 1, maxItems: netMethods.length }),
  ),
  /** The path, or where it ends with `/`, what all paths begin with; all paths where it is absent. */
  path: Type.Optional(
    Type.String({
      pattern: '^/[!-~]*$',
      maxLength: 500,
      description: 'A path begins with / and has no spaces: /v1/messages, or /v1/ for all paths below it.',
    }),
  ),
  why: line(200),
  /** `never`: a request whose answer was lost is not sent a second time. */
  retry: Type.Optional(Type.Enum(['never'])),
});
export type NetRequest = Static<typeof netRequest>;

const secretRequest = closed({
  /** Origins of `net`: the only ones it is sent to. */
  hosts: Type.Array(line(260), { minItems: 1, maxItems: 20 }),
  /** The only header that it is sent in. */
  header: line(80),
  /** What the header holds; `{}` stands for the secret. */
  format: Type.Optional(
    Type.String({
      pattern: '^[ -z|~]*\\{\\}[ -z|~]*$',
      maxLength: 100,
      description: 'A format has {} once, in place of the secret, and printable ASCII around it: Bearer {}.',
    }),
  ),
});
export type SecretRequest = Static<typeof secretRequest>;

/** What a plugin is called wherever it is installed. */
export const pluginId = Type.String({
  pattern: '^[a-z][a-z0-9-]*(\\.[a-z0-9-]+)*$',
  maxLength: 100,
  description: 'An id has small letters, digits, - and points, and begins with a letter: acme.hello.',
});

export const PluginManifest = closed({
  id: pluginId,
  version: Type.String({
    pattern: '^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(-[0-9A-Za-z.-]+)?$',
    maxLength: 60,
    description: 'A version has three numbers: 2.0.0, or 2.0.0-beta.1.',
  }),
  name: Type.Optional(line(80)),
  description: Type.Optional(line(500)),
  engines: closed({ tatami: line(60) }),
  apiDate: Type.Optional(
    Type.String({
      pattern: '^\\d{4}-\\d{2}-\\d{2}$',
      description: 'A date has year, month and day: 2026-01-31.',
    }),
  ),
  scopes: Type.Optional(closedRecord('^[a-z-]{1,30}:(read|write)$', scopeRequest, 40)),
  net: Type.Optional(Type.Array(netRequest, { minItems: 1, maxItems: 20 })),
  secrets: Type.Optional(
    closedRecord(
      '^[A-Z][A-Z0-9_]{0,39}$',
      secretRequest,
      20,
      'A secret is named in capital letters, digits and _, and begins with a letter: ACME_KEY.',
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
  /** `event:<type>`, `schedule:<name>`, `action:<name>` and `route:<name>`, sorted: what the code registers. */
  handlers: Type.Array(line(100), { minItems: 1, maxItems: 200, description: handlesNothing }),
});
export type PluginManifest = Static<typeof PluginManifest>;

/** Whether a package may hold a map with these mappings. */
export function fitsPackage(mappings: string): boolean {
  return (
    mappings.length <= sourceMapCharsMax &&
    mappings.split(';', sourceMapLinesMax + 1).length <= sourceMapLinesMax
  );
}

/** Where the code comes from, as a source map of version 3 says it. It is never run, and holds none of the author's text. */
export const PackageSourceMap = closed({
  version: Type.Literal(3),
  /** Paths below the plugin's folder, `node_modules/…` and `@tatami/sdk/…`. */
  sources: Type.Array(line(300), { maxItems: 2000 }),
  mappings: Type.String({ maxLength: sourceMapCharsMax, pattern: '^[A-Za-z0-9+/,;]*$' }),
});
export type PackageSourceMap = Static<typeof PackageSourceMap>;

export const PluginPackage = closed({
  format: Type.Literal(packageFormat),
  manifest: PluginManifest,
  /** One ES module without imports. */
  code: Type.String({ minLength: 1 }),
  /** Of `code` in UTF-8, lower-case hex. */
  sha256: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'A hash has 64 digits, in lower-case hex; pack the plugin again.',
  }),
  /** Absent where it would be too large; errors then name places of `code`. */
  sourceMap: Type.Optional(PackageSourceMap),
});
export type PluginPackage = Static<typeof PluginPackage>;

/** In a file of a plugin, named from its folder. Both numbers begin with 1. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What is wrong with a manifest or package: a sentence for its author, and the place as a JSON pointer. */
export class PackageError extends Error {
  readonly path: string;
  /** Of what could not be read or bundled, where that is known. */
  readonly places: readonly (SourcePlace & { readonly message: string })[];
  constructor(path: string, message: string, places: PackageError['places'] = []) {
    super(path === '' ? message : `${path}: ${message}`);
    this.name = 'PackageError';
    this.path = path;
    this.places = places;
  }
}

const packageCheck = Compile(PluginPackage);

/**
 * Reads a package document and checks all of it: size, shape, hash, and that the manifest's subscriptions and its handlers agree.
 * @throws PackageError
 */
export async function parsePackage(text: string): Promise<PluginPackage> {
  const bytes = Buffer.byteLength(text);
  if (bytes > packageBytesMax)
    throw new PackageError('', `The package has ${bytes} bytes; the most is ${packageBytesMax}.`);
  const value = parseJson(text);
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined;
  if (format !== packageFormat)
    throw new PackageError(
      '/format',
      `This is not a plugin package of format ${packageFormat}; make one with: tatami plugin pack DIR --out FILE`,
    );
  if (!packageCheck.Check(value)) throw firstError(packageCheck.Errors(value));
  checkText(value.manifest, '/manifest');
  checkText(value.sourceMap, '/sourceMap');
  if (value.sourceMap && !fitsPackage(value.sourceMap.mappings))
    throw new PackageError(
      '/sourceMap',
      'The source map is too large; pack the plugin again, or leave it out.',
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
    throw new PackageError('', 'The package is not JSON; make one with: tatami plugin pack DIR --out FILE');
  }
}

/** The names a manifest implies, in the order of `handlers`. */
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

/** Of settings only line ends and tabs are let through: their texts may have several lines. */
const control = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
const controlInSettings = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** People read a manifest on a terminal before they install it, so nothing in it may steer one. */
function checkText(value: unknown, at = '', forbidden = control): void {
  if (typeof value === 'string') {
    const found = forbidden.exec(value)?.[0];
    if (found === undefined) return;
    const code = found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    throw new PackageError(at, `It holds the control character U+${code}; write plain text.`);
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

/** `boolean` is the twin of additionalProperties without the name of the field. */
function firstError(errors: Iterable<SchemaError>): PackageError {
  const all = [...errors];
  const error = all.find(({ keyword }) => keyword !== 'boolean') ?? all[0];
  if (!error) return new PackageError('', 'The document has the wrong shape.');
  const extra = 'additionalProperties' in error.params ? (error.params.additionalProperties as string[]) : [];
  const unknown = extra.map((name) => JSON.stringify(name)).join(', ');
  const message =
    ruleOf(error) ?? (unknown === '' ? schemaWords(error, PluginPackage) : `unknown field ${unknown}`);
  const [field] = extra;
  return new PackageError(
    field === undefined ? error.instancePath : `${error.instancePath}/${field}`,
    message,
  );
}

const ruled: ReadonlySet<string> = new Set(['pattern', 'minItems', 'additionalProperties']);

/** The description of the schema says what to write, as a pattern tells it to nobody. */
function ruleOf({ keyword, schemaPath }: SchemaError): string | undefined {
  return ruled.has(keyword) ? describedAt(PluginPackage, schemaPath) : undefined;
}

/** Lower-case hex of the UTF-8 bytes. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Buffer.from(digest).toString('hex');
}
