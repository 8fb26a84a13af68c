// `tatami plugins new NAME`: creates a folder with a small plugin that works, and the types that an editor and `tsc` need.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Check } from 'typebox/value';
import { pluginId } from '../../../../../sdk/plugin/manifest.ts';
import { sdkSources } from '../../../../features/plugins/offline.ts';
import { version } from '../../../version.ts';
import { CommandError, exitCodes, printResult } from '../../lib/output.ts';

/** @param folder where relative paths begin */
export function newPlugin(name: string, options: { dir?: string; json?: boolean }, folder: string): void {
  if (!Check(pluginId, name))
    throw new CommandError(
      `The name of a plugin must have lower-case letters, digits, hyphens and dots, such as acme.triage, not ${JSON.stringify(name)}.`,
      exitCodes.usage,
    );
  const dir = options.dir ?? name;
  const root = resolve(folder, dir);
  requireEmpty(root, dir);
  const files = filesOf(name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { flag: 'wx' });
  }
  printResult({ dir, name, files: Object.keys(files) }, options, (made) =>
    [
      `Created ${made.name} 0.1.0 in ${made.dir}. It comments on each new issue. Next:`,
      `  cd ${made.dir}`,
      '  tatami plugins dev',
      'It installs the plugin and follows your changes. Check the types with an editor or npx -p typescript tsc.',
    ].join('\n'),
  );
}

function requireEmpty(root: string, dir: string): void {
  mkdirSync(root, { recursive: true });
  if (readdirSync(root).length > 0)
    throw new CommandError(`${dir} is not empty. Choose another folder with --dir, or empty it.`);
}

function filesOf(name: string): Record<string, string> {
  const sdk = Object.entries(sdkSources()).map(([path, text]) => [`sdk/${path}`, text]);
  return {
    'plugin.ts': pluginText(name, version),
    'plugin.test.ts': testText,
    'package.json': packageText(name),
    'tsconfig.json': tsconfigText,
    'globals.d.ts': globalsText,
    'README.md': readmeText(name),
    '.gitignore': 'node_modules\n*.tatami.json\n',
    ...Object.fromEntries(sdk),
  };
}

const pluginText = (
  name: string,
  version: string,
): string => `// Adds a greeting to each new issue. \`scopes\` lists its permissions, \`on\` its event handlers.
import { definePlugin } from '@tatami/sdk/plugin';

interface Settings {
  greeting: string;
}

export default definePlugin<'issues:read' | 'comments:write', Settings>({
  id: '${name}',
  version: '0.1.0',
  engines: { tatami: '^${version}' },
  scopes: {
    'issues:read': { why: 'to receive new issues' },
    'comments:write': { why: 'to comment on them' },
  },
  settings: {
    type: 'object',
    properties: { greeting: { type: 'string', default: 'Thank you, we will look at this.' } },
  },
  on: {
    'issue.created': {
      async handle(event, ctx) {
        await ctx.comments.create(event.data.id, { body: ctx.settings.greeting });
        ctx.log.info('greeted', event.data.identifier);
      },
    },
  },
});
`;

const testText = `// Calls the handler like the server does, with a \`ctx\` that records calls. Run it with \`npm test\`; no output means success.
import plugin from './plugin.ts';

const said: string[] = [];
const ctx = {
  settings: { greeting: 'Hello.' },
  comments: { create: async (_issueId: string, { body }: { body: string }) => void said.push(body) },
  log: { info() {} },
};
const event = { type: 'issue.created', data: { id: 'iss_1', identifier: 'ENG-1' } };
await plugin.on?.['issue.created']?.handle(event as never, ctx as never);
if (said.join() !== 'Hello.') throw new Error(\`Unexpected comments: \${JSON.stringify(said)}.\`);
`;

const packageText = (name: string): string => `{
  "name": "${name}",
  "private": true,
  "type": "module",
  "scripts": {
    "types": "tsc",
    "test": "bun plugin.test.ts"
  },
  "devDependencies": {
    "bun": ">=1.3.0",
    "typescript": ">=5.4.0"
  }
}
`;

/** `paths`: until `@tatami/sdk` is installed from npm, its sources lie in the folder. */
const tsconfigText = `{
  "compilerOptions": {
    "target": "es2022",
    "lib": ["es2023"],
    "types": [],
    "module": "preserve",
    "moduleResolution": "bundler",
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "allowImportingTsExtensions": true,
    "noEmit": true,
    "skipLibCheck": true,
    "paths": { "@tatami/sdk/plugin": ["./sdk/plugin/index.ts"] }
  },
  "include": ["*.ts"]
}
`;

const globalsText = `// Globals of a plugin in addition to the language. \`fetch\` reaches only the servers listed in \`net\` of the manifest.
declare const console: Record<'debug' | 'log' | 'info' | 'warn' | 'error' | 'trace', (...parts: unknown[]) => void>;
declare function setTimeout(callback: (...args: never[]) => void, ms?: number, ...args: unknown[]): number;
declare function setInterval(callback: (...args: never[]) => void, ms?: number, ...args: unknown[]): number;
declare function clearTimeout(timer: number | undefined): void;
declare function clearInterval(timer: number | undefined): void;
declare function queueMicrotask(callback: () => void): void;

declare class URLSearchParams {
  constructor(init?: string | Record<string, string> | Iterable<[string, string]>);
  readonly size: number;
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  getAll(name: string): string[];
  has(name: string): boolean;
  set(name: string, value: string): void;
  sort(): void;
  forEach(visit: (value: string, name: string) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

declare class URL {
  constructor(url: string | URL, base?: string | URL);
  static canParse(url: string | URL, base?: string | URL): boolean;
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly hostname: string;
  readonly port: string;
  readonly host: string;
  readonly origin: string;
  readonly pathname: string;
  readonly search: string;
  readonly searchParams: URLSearchParams;
  readonly hash: string;
  readonly href: string;
  toJSON(): string;
}

declare class TextEncoder {
  readonly encoding: 'utf-8';
  encode(text?: string): Uint8Array;
}

declare class TextDecoder {
  constructor(label?: 'utf-8' | 'utf8', options?: { fatal?: boolean; ignoreBOM?: boolean });
  readonly encoding: 'utf-8';
  decode(bytes?: ArrayBuffer | ArrayBufferView): string;
}

declare class Headers {
  constructor(init?: Record<string, string> | Iterable<readonly [string, string]>);
  append(name: string, value: string): void;
  delete(name: string): void;
  get(name: string): string | null;
  has(name: string): boolean;
  set(name: string, value: string): void;
  forEach(visit: (value: string, name: string) => void): void;
  entries(): IterableIterator<[string, string]>;
  keys(): IterableIterator<string>;
  values(): IterableIterator<string>;
  [Symbol.iterator](): IterableIterator<[string, string]>;
}

declare class AbortSignal {
  private constructor();
  static abort(reason?: unknown): AbortSignal;
  static timeout(ms: number): AbortSignal;
  static any(signals: Iterable<AbortSignal>): AbortSignal;
  readonly aborted: boolean;
  readonly reason: unknown;
  onabort: (() => void) | null;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare const fetch: import('@tatami/sdk/plugin').BaseContext<unknown>['fetch'];
declare function structuredClone<T>(value: T): T;
declare function atob(text: string): string;
declare function btoa(text: string): string;
declare const crypto: { randomUUID(): string; getRandomValues<T extends ArrayBufferView>(view: T): T };
`;

const readmeText = (name: string): string => `# ${name}

A Tatami plugin. \`plugin.ts\` is the whole plugin; \`sdk\` and \`globals.d.ts\` are its types until \`@tatami/sdk\` is on npm.

\`\`\`
${explained([
  ['tatami plugins dev', 'install the plugin at every change, and show its runs'],
  ['tatami plugins pack .', `check the plugin and write ${name}.tatami.json`],
  [`tatami plugins install ./${name}.tatami.json`, 'show the requested scopes and install it'],
  [`tatami plugins logs ${name}`, 'show the latest runs'],
])}
\`\`\`

With \`--mode simulate\`, runs only report what they would write. To check the plugin without a server, run \`npm install\`, then \`npm run types\` and \`npm test\`.
Tutorial and reference: docs/plugins/README.md in the Tatami repository.
`;

/** Commands in a column, and what each does beside it. */
function explained(commands: readonly (readonly [command: string, does: string])[]): string {
  const width = Math.max(...commands.map(([command]) => command.length));
  return commands.map(([command, does]) => `${command.padEnd(width)}   # ${does}`).join('\n');
}

/** Default package file of a plugin. */
export const packedName = (id: string): string => `${id}.tatami.json`;
