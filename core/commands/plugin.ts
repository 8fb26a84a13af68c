// `tatami plugin …`: pack a folder, install a package, look at runs, run a schedule.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { PackageError, parsePackage, type PluginPackage } from '../../sdk/plugin/manifest.ts';
import { packPlugin } from '../../sdk/plugin/pack.ts';
import { packFirstParty } from '../plugins/first-party.ts';
import { describePlugin } from '../sandbox/describe.ts';
import { CommandError, exitCodes, printResult, say } from './output.ts';
import { connect, type RemoteOptions } from './remote.ts';

interface Install {
  id: string;
  pluginId: string;
  pluginVersion: string;
  state: string;
  mode: string;
}

interface Run {
  id: string;
  handler: string;
  status: string;
  attempt: number;
  createdAt: string;
  cpuMs: number | null;
  effects: { kind: string; id: string; action: string }[];
  logs: { level: string; message: string }[];
  error: { code: string; message: string } | null;
}

export async function pack(dir: string, options: { out?: string; json?: boolean }): Promise<void> {
  const document = await packed(() => packPlugin(resolve(dir), { describe: describePlugin }));
  const out = options.out ?? `${basename(resolve(dir))}.tatami.json`;
  writeFileSync(out, JSON.stringify(document));
  const { id, version } = document.manifest;
  const result = { file: out, id, version, sha256: document.sha256, bytes: statSync(out).size };
  printResult(
    result,
    options,
    () => `${id} ${version} → ${out}  ${result.bytes} bytes  sha256:${document.sha256.slice(0, 12)}…`,
  );
}

export async function install(source: string, options: RemoteOptions & { yes?: boolean }): Promise<void> {
  const call = connect(options);
  const document = await packed(async () =>
    existsSync(source) ? parsePackage(readFileSync(source, 'utf8')) : packFirstParty(source),
  );
  const scopes = Object.entries(document.manifest.scopes ?? {});
  if (options.yes !== true) await confirm(document, scopes);
  const made = await call<Install>('POST', '/plugins', {
    package: document,
    grant: scopes.map(([scope]) => scope),
  });
  printResult(made, options, () => `${made.pluginId} ${made.pluginVersion} installed as ${made.id}`);
}

async function packed(make: () => Promise<PluginPackage>): Promise<PluginPackage> {
  try {
    return await make();
  } catch (error) {
    if (error instanceof PackageError) throw new CommandError(error.message);
    throw error;
  }
}

async function confirm(document: PluginPackage, scopes: [string, { why: string }][]): Promise<void> {
  const { id, version } = document.manifest;
  say(`${id} ${version} asks for:`);
  for (const [scope, { why }] of scopes) say(`  ${scope.padEnd(16)} ${why}`);
  if (!process.stdin.isTTY) throw new CommandError('Grant this with --yes.', exitCodes.usage);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('Install and grant? [y/N] ');
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('Nothing was installed.');
}

export async function list(options: RemoteOptions): Promise<void> {
  const { data } = await connect(options)<{ data: Install[] }>('GET', '/plugins?limit=100');
  printResult(data, options, () =>
    data.length === 0
      ? 'No plugins are installed.'
      : data
          .map(
            (one) =>
              `${one.pluginId.padEnd(24)} ${one.pluginVersion.padEnd(10)} ${one.mode.padEnd(9)} ${one.state}`,
          )
          .join('\n'),
  );
}

export async function logs(plugin: string, options: RemoteOptions & { limit: string }): Promise<void> {
  const { data } = await connect(options)<{ data: Run[] }>(
    'GET',
    `/plugins/${encodeURIComponent(plugin)}/runs?limit=${encodeURIComponent(options.limit)}`,
  );
  printResult(data, options, () =>
    data
      .toReversed()
      .flatMap((run) => [
        runLine(run),
        ...run.logs.map(({ level, message }) => `  ${level.padEnd(5)} ${message}`),
      ])
      .join('\n'),
  );
}

export async function runSchedule(plugin: string, schedule: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  let run = await call<Run>(
    'POST',
    `/plugins/${encodeURIComponent(plugin)}/schedules/${encodeURIComponent(schedule)}/run`,
  );
  while (run.status === 'queued' || run.status === 'running') {
    await Bun.sleep(100);
    run = await call<Run>('GET', `/runs/${run.id}`);
  }
  printResult(run, options, () =>
    [runLine(run), ...run.logs.map(({ level, message }) => `  ${level.padEnd(5)} ${message}`)].join('\n'),
  );
  if (run.status !== 'succeeded') process.exitCode = exitCodes.failed;
}

function runLine(run: Run): string {
  const error = run.error ? `  ${run.error.code}: ${run.error.message}` : '';
  return `${run.createdAt}  ${run.id}  ${run.handler}  ${run.status}  cpu ${Math.round(run.cpuMs ?? 0)} ms  effects ${run.effects.length}${error}`;
}
