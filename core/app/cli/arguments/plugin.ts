// Arguments of `tatami plugin …`.
import { Option, type Command } from 'commander';
import type { RemoteOptions } from '../lib/remote.ts';
import type { ActionOptions } from '../plugin/invoke.ts';
import type { AttackOptions } from '../plugin/attack.ts';
import type { BacktestOptions } from '../plugin/backtest.ts';
import type { ConsentCommandOptions, InstallOptions } from '../plugin/install.ts';
import type { LogsOptions, Run } from '../plugin/runs.ts';
import type { ProbationOptions } from '../plugin/installs.ts';
import type { ReplayRunOptions } from '../plugin/replay.ts';
import type { ShadowOptions } from '../plugin/shadow.ts';
import type { UndoOptions } from '../plugin/undo.ts';
import { json, remote } from './options.ts';

const signature: [string, string] = [
  '--signature <file>',
  'signature of the package; default: the package file with .sig',
];
const runStatuses: readonly Run['status'][] = [
  ...(['queued', 'running', 'waiting', 'retrying'] as const),
  ...(['proposed', 'succeeded', 'dead', 'canceled'] as const),
];

/** @param folder where relative paths begin @returns the commands that handle their own interrupts */
export function addPlugin(program: Command, folder: string): Command[] {
  const plugin = program.command('plugin').description('pack, install and manage plugins');
  plugin
    .command('new <name>')
    .description('create a folder with a starter plugin')
    .option('--dir <dir>', 'the folder, which must be empty or missing; default: the name')
    .option(...json)
    .action(async (name: string, options: { dir?: string; json?: boolean }) =>
      (await import('../plugin/author/new.ts')).newPlugin(name, options, folder),
    );
  plugin
    .command('pack <dir>')
    .description('bundle DIR/plugin.ts into one package file')
    .option('--out <file>', 'the package file')
    .option('--force', 'replace the file even if it is not an earlier package of the plugin')
    .option(...json)
    .action(async (dir: string, options: { out?: string; force?: boolean; json?: boolean }) =>
      (await import('../plugin/author/package.ts')).pack(dir, options, folder),
    );
  remote(
    plugin
      .command('install <package>')
      .description('install a package file, the plugin of a folder, or a first-party plugin by name'),
  )
    .option('--yes', 'grant the requested scopes')
    .option('--downgrade', 'install a version older than the installed one')
    .option(
      '--mode <mode>',
      'apply; propose: writes need approval; or simulate: writes are recorded and dropped',
    )
    .option('--settings <file>', 'JSON file with the settings of the plugin')
    .option('--no-probation', 'let a new plugin write at once, without 20 approved runs first (probation)')
    .option('--replace', 'install different code under the installed version number')
    .option(
      '--gate [runs]',
      'for an upgrade: first try it on the last runs of the installed version (default 20)',
    )
    .option(...signature)
    .action(async (source: string, options: InstallOptions) =>
      (await import('../plugin/install.ts')).install(source, options, folder),
    );
  addTrust(plugin, folder);
  addVersions(plugin);
  remote(plugin.command('list').description('list installed plugins')).action(
    async (options: RemoteOptions) => (await import('../plugin/installs.ts')).listPlugins(options),
  );
  remote(
    plugin.command('show <plugin>').description('show an installed plugin with its scopes and mode'),
  ).action(async (name: string, options: RemoteOptions) =>
    (await import('../plugin/installs.ts')).showPlugin(name, options),
  );
  addRuns(plugin, folder);
  return [addAttack(plugin), addBacktest(plugin, folder), addShadow(plugin, folder)];
}

function addScheduled(plugin: Command): void {
  const scheduled = plugin.command('scheduled').description('manage the one-time jobs of a plugin');
  const load = () => import('../plugin/scheduled.ts');
  remote(scheduled.command('list <plugin>').description('list the pending one-time jobs, next first')).action(
    async (plugin: string, options: RemoteOptions) => (await load()).listScheduled(plugin, options),
  );
  remote(scheduled.command('cancel <plugin> <name>').description('cancel a pending one-time job')).action(
    async (plugin: string, name: string, options: RemoteOptions) =>
      (await load()).cancelScheduled(plugin, name, options),
  );
}

function addSecrets(plugin: Command): void {
  const secrets = plugin
    .command('secrets')
    .description('manage the secrets that the server adds to requests of plugins');
  remote(
    secrets
      .command('set <plugin> <name>')
      .description('set a secret; the value is read from standard input or a prompt'),
  ).action(async (name: string, secret: string, options: RemoteOptions) =>
    (await import('../plugin/secrets.ts')).setSecret(name, secret, options),
  );
  remote(
    secrets
      .command('list <plugin>')
      .description('list the secrets that a plugin needs, where they are sent, and when they were set'),
  ).action(async (name: string, options: RemoteOptions) =>
    (await import('../plugin/secrets.ts')).listSecrets(name, options),
  );
  remote(secrets.command('delete <plugin> <name>').description('delete a secret')).action(
    async (name: string, secret: string, options: RemoteOptions) =>
      (await import('../plugin/secrets.ts')).deleteSecret(name, secret, options),
  );
}

function addRoutes(plugin: Command): void {
  const routes = plugin.command('routes').description('manage the inbound HTTP routes of a plugin');
  const load = () => import('../plugin/inbound.ts');
  remote(
    routes.command('list <plugin>').description('list the routes, with the addresses of open ones'),
  ).action(async (plugin: string, options: RemoteOptions) => (await load()).listRoutes(plugin, options));
  remote(
    routes
      .command('open <plugin> <route>')
      .description('open a closed route; prints its address, and once its signing secret'),
  ).action(async (plugin: string, route: string, options: RemoteOptions) =>
    (await load()).openRoute(plugin, route, options),
  );
  remote(
    routes
      .command('rotate <plugin> <route>')
      .description('replace the secret of an open route at once; a public route gets a new address'),
  ).action(async (plugin: string, route: string, options: RemoteOptions) =>
    (await load()).rotateRoute(plugin, route, options),
  );
  remote(
    routes.command('close <plugin> <route>').description('close a route; its address stops working'),
  ).action(async (plugin: string, route: string, options: RemoteOptions) =>
    (await load()).closeRoute(plugin, route, options),
  );
}

function addRuns(plugin: Command, folder: string): void {
  remote(plugin.command('logs <plugin>').description('show the latest runs with their logs'))
    .option('--limit <n>', 'runs to show, up to 100', '20')
    .addOption(new Option('--status <status>', 'only runs with this status').choices(runStatuses))
    .action(async (name: string, options: LogsOptions) =>
      (await import('../plugin/runs.ts')).logs(name, options),
    );
  remote(
    plugin.command('run-schedule <plugin> <schedule>').description('run a schedule now and wait for it'),
  ).action(async (name: string, schedule: string, options: RemoteOptions) =>
    (await import('../plugin/invoke.ts')).runSchedule(name, schedule, options),
  );
  remote(plugin.command('action <plugin> <action>').description('call an action and wait for it'))
    .option('--target <id>', 'issue or project on which the action runs')
    .option('--input <json>', 'input of the action, as a JSON object')
    .action(async (name: string, action: string, options: ActionOptions) =>
      (await import('../plugin/invoke.ts')).callAction(name, action, options),
    );
  remote(plugin.command('cancel <run>').description('end an unfinished run and discard its changes')).action(
    async (run: string, options: RemoteOptions) =>
      (await import('../plugin/runs.ts')).cancelRun(run, options),
  );
  remote(
    plugin.command('retry <run>').description('run a dead or canceled run again and wait for it'),
  ).action(async (run: string, options: RemoteOptions) =>
    (await import('../plugin/invoke.ts')).retryRun(run, options),
  );
  remote(
    plugin
      .command('replay <run>')
      .description('repeat a recorded run without writing, and report the first difference'),
  )
    .option(
      '--local <package>',
      'replay on this machine, with the plugin of a folder or a package file instead of the original code',
    )
    .action(async (run: string, options: ReplayRunOptions) =>
      (await import('../plugin/replay.ts')).replayRun(run, options, folder),
    );
  remote(
    plugin
      .command('catch-up <plugin>')
      .description('backfill the events that a plugin missed while disabled'),
  ).action(async (name: string, options: RemoteOptions) =>
    (await import('../plugin/invoke.ts')).backfillPlugin(name, options),
  );
  addUndo(plugin);
  addScheduled(plugin);
  addRoutes(plugin);
  addSecrets(plugin);
}

function addUndo(plugin: Command): void {
  remote(
    plugin
      .command('undo <what>')
      .description(
        'revert the changes of a run, a proposal or an undo (by its id), or of a plugin in a time range',
      ),
  )
    .option('--since <time>', 'for a plugin: changes since a time, or an age such as 2h')
    .option('--until <time>', 'for a plugin: changes until a time; default: now')
    .option('--simulate', 'change nothing; show what would be reverted and what would be skipped')
    .action(async (what: string, options: UndoOptions) =>
      (await import('../plugin/undo.ts')).undo(what, options),
    );
}

function addTrust(plugin: Command, folder: string): void {
  plugin
    .command('keygen <file>')
    .description('create a key for signing packages; prints the public key for operators')
    .option(...json)
    .action(async (file: string, options: { json?: boolean }) =>
      (await import('../plugin/author/sign.ts')).keygen(file, options, folder),
    );
  plugin
    .command('sign <package>')
    .description('write the signature of a package file to a .sig file next to it')
    .requiredOption('--key <file>', 'private key created by `tatami plugin keygen`')
    .option('--force', 'replace the .sig file even if it is not a signature')
    .option(...json)
    .action(async (file: string, options: { key: string; force?: boolean; json?: boolean }) =>
      (await import('../plugin/author/sign.ts')).signFile(file, options, folder),
    );
  plugin
    .command('verify <package>')
    .description('check the signature of a package file')
    .requiredOption('--public-key <key>', 'public key printed by `tatami plugin keygen`')
    .option(...json)
    .action(async (file: string, options: { publicKey: string; json?: boolean }) =>
      (await import('../plugin/author/sign.ts')).verifyFile(file, options, folder),
    );
}

function addVersions(plugin: Command): void {
  remote(
    plugin.command('probation <plugin>').description('show the probation of a plugin, or end or begin it'),
  )
    .option('--end', 'end the probation: the plugin writes without approval')
    .option('--begin', 'begin a probation: the plugin only proposes until 20 of its runs are approved')
    .action(async (name: string, options: ProbationOptions) =>
      (await import('../plugin/installs.ts')).probation(name, options),
    );
  remote(
    plugin.command('consent <plugin>').description('show the version that needs consent, and switch to it'),
  )
    .option('--yes', 'grant all requested scopes')
    .option('--refuse', 'reject the version; the installed one stays')
    .action(async (name: string, options: ConsentCommandOptions) =>
      (await import('../plugin/install.ts')).consent(name, options),
    );
  remote(plugin.command('versions <plugin>').description('list the installed and earlier versions')).action(
    async (name: string, options: RemoteOptions) =>
      (await import('../plugin/installs.ts')).listVersions(name, options),
  );
  remote(
    plugin
      .command('rollback <plugin> [version]')
      .description('return to an earlier version with its grant and settings; default: the previous one'),
  ).action(async (name: string, version: string | undefined, options: RemoteOptions) =>
    (await import('../plugin/installs.ts')).rollback(name, version, options),
  );
}

function addBacktest(plugin: Command, folder: string): Command {
  return remote(
    plugin
      .command('backtest <plugin>')
      .description(
        'run a plugin on recorded events without writing: from a folder, a package file, or installed',
      ),
  )
    .option('--since <time>', 'events since a time, or an age such as 2h', '30d')
    .option('--until <time>', 'events until a time; default: now')
    .option('--events <n>', 'most events to run on, up to 10000')
    .option('--settings <file>', 'JSON file with the settings for the backtest')
    .option(...signature)
    .action(async (source: string, options: BacktestOptions) =>
      (await import('../plugin/backtest.ts')).backtest(source, options, folder),
    );
}

function addShadow(plugin: Command, folder: string): Command {
  return remote(
    plugin
      .command('shadow <plugin>')
      .description('run another version on live events next to the installed one, and show differences'),
  )
    .option(
      '--with <package>',
      'start with this package file, the plugin of this folder, or this first-party plugin',
    )
    .option(...signature)
    .option('--stop', 'stop the other version')
    .action(async (name: string, options: ShadowOptions) =>
      (await import('../plugin/shadow.ts')).shadow(name, options, folder),
    );
}

function addAttack(plugin: Command): Command {
  return remote(
    plugin
      .command('attack')
      .description(
        'attack the server with hostile plugins, and report which attacks were stopped; exits with 0 or 1',
      ),
  )
    .requiredOption(
      '--team <key>',
      'team in which the attacks create issues; everything is removed afterwards',
    )
    .option('--group <numbers>', 'run only these groups of attacks, such as 20,21')
    .action(async (options: AttackOptions) => (await import('../plugin/attack.ts')).attack(options));
}
