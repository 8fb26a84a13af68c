// Runs the `tatami` command as a separate process, as people and scripts do.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '../app.ts';
import { programCommand } from '../program.ts';

const launcher = join(import.meta.dir, '../../bin/tatami');

export interface CliResult {
  code: number;
  out: string;
  err: string;
  /**
   * Value that `--json` printed.
   * @throws if stdout is not exactly one JSON value on one line
   */
  readonly json: Json;
}

/** Program and file locations, and the clock: a fake one (libfaketime) would otherwise apply to the test only. */
const inheritedVariables = /^(PATH|HOME|TMPDIR|TZ|LD_PRELOAD|FAKETIME\w*)$/;

/** Settings directory without a login. */
const nobody = { XDG_CONFIG_HOME: '/nonexistent' };

/**
 * Passes no other settings of the machine.
 * @param bunArgs flags of Bun itself
 * @param input standard input of the command
 */
export function spawnTatami(
  args: readonly string[],
  env: Record<string, string> = {},
  bunArgs: readonly string[] = [],
  input?: string,
) {
  const machine = Object.entries(process.env).filter(([name]) => inheritedVariables.test(name));
  return Bun.spawn(programCommand(args, bunArgs), {
    env: { ...Object.fromEntries(machine), ...nobody, ...env },
    stdin: input === undefined ? 'ignore' : new Blob([input]),
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

export async function tatami(
  args: readonly string[],
  env: Record<string, string> = {},
  input?: string,
): Promise<CliResult> {
  return ended(spawnTatami(args, env, [], input));
}

/** Runs `bin/tatami` in a folder. */
export async function runIn(folder: string, args: readonly string[], env: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  return ended(
    Bun.spawn([launcher, ...args], {
      cwd: folder,
      env: { PATH, HOME, ...nobody, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  );
}

export async function ended(child: ReturnType<typeof spawnTatami>): Promise<CliResult> {
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return resultOf(code, out, err);
}

export function resultOf(code: number, out: string, err: string): CliResult {
  return {
    code,
    out,
    err,
    get json() {
      if (!/^[^\n]+\n$/.test(out)) throw new Error(`stdout is not one line: ${out}\nstderr: ${err}`);
      return JSON.parse(out);
    },
  };
}

export interface Served {
  readonly child: ReturnType<typeof spawnTatami>;
  /** Stdout up to readiness. */
  readonly start: string;
  readonly url: string;
  /** Resolves once stderr contains the text. */
  said(text: string): Promise<void>;
}

/** Runs `serve` on a free port; `end` matches the last output on stdout before readiness. */
export async function serveTatami(args: readonly string[], end: RegExp = /\n$/): Promise<Served> {
  const child = spawnTatami(['serve', '--port', '0', ...args]);
  const output = collect(child.stdout);
  const errors = collect(child.stderr);
  await output
    .until((text) => end.test(text))
    .catch(() => {
      throw new Error(`serve ended before it was ready: ${errors.text()}`);
    });
  const [url = ''] = /http:\/\/[\w.]+:\d+/.exec(output.text()) ?? [];
  return {
    child,
    start: output.text(),
    url,
    said: (wanted) => errors.until((text) => text.includes(wanted)),
  };
}

export function collect(stream: ReadableStream<Uint8Array>) {
  let text = '';
  let over = false;
  let changed = Promise.withResolvers<void>();
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      text += decoder.decode(chunk, { stream: true });
      changed.resolve();
      changed = Promise.withResolvers();
    }
    over = true;
    changed.resolve();
  })();
  return {
    text: () => text,
    async until(holds: (text: string) => boolean): Promise<void> {
      while (!holds(text)) {
        if (over) throw new Error(`The stream ended with: ${text}`);
        await changed.promise;
      }
    },
  };
}

/** A directory that is removed at the end of the block: `using dir = temporary()`. */
export function temporary(parent = tmpdir()): Disposable & { path(name: string): string } {
  const dir = mkdtempSync(join(parent, 'tatami-cli-'));
  return {
    path: (name) => join(dir, name),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }),
  };
}
