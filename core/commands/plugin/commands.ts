// The arguments of `tatami plugin …`. Each command is loaded when it is asked for.
import { Option, type Command } from 'commander';
import type { RemoteOptions } from '../remote.ts';
import type { ActionOptions } from './action.ts';
import type { AttackOptions } from './attack/command.ts';
import type { BacktestOptions } from './backtest.ts';
import type { ConsentOptions } from './consent.ts';
import type { InstallOptions } from './install.ts';
import type { LogsOptions } from './logs.ts';
import type { ProbationOptions } from './probation.ts';
import type { ReplayOptions } from './replay.ts';
import type { ShadowOptions } from './shadow.ts';
import { runStatuses } from './run.ts';
import { addRoutes } from './routes/commands.ts';
import { addScheduled } from './scheduled/commands.ts';
import { addSecrets } from './secrets/commands.ts';
import type { UndoOptions } from './undo.ts';

type Remote = (command: Command) => Command;

const signature: [string, string] = [
  '--signature <file>',
  'signature of the package; by default the package file with .sig',
];
const json: [string, string] = ['--json', 'print one JSON value on stdout'];

/**
 * @param remote adds where the server is
 * @param folder where relative paths begin
 * @returns the commands that have their own way to stop
 */
export function addPlugin(program: Command, remote: Remote, folder: string): Command[] {
  const plugin = program.command('plugin').description('pack, install and watch plugins');
  plugin
    .command('new <name>')
    .description('make a folder with a plugin to begin from')
    .option('--dir <dir>', 'the folder, which must be empty or not be there; by default the name')
    .option(...json)
    .action(async (name: string, options: { dir?: string; json?: boolean }) =>
      (await import('./new.ts')).newPlugin(name, options, folder),
    );
  plugin
    .command('pack <dir>')
    .description('bundle DIR/plugin.ts into one package file')
    .option('--out <file>', 'the package file')
    .option('--force', 'replace the file also if it is not an earlier package of the plugin')
    .option(...json)
    .action(async (dir: string, options: { out?: string; force?: boolean; json?: boolean }) =>
      (await import('./pack.ts')).pack(dir, options, folder),
    );
  remote(
    plugin
      .command('install <package>')
      .description('install a package file, the plugin of a folder, or a first-party plugin by name'),
  )
    .option('--yes', 'grant the scopes it asks for')
    .option('--downgrade', 'take an older version than the one that is installed')
    .option(
      '--mode <mode>',
      'apply; propose: what it would write waits for approval; or simulate: it is recorded and dropped',
    )
    .option('--settings <file>', 'a JSON file with its settings')
    .option('--no-probation', 'let a new plugin write at once, without 20 approved runs first')
    .option('--replace', 'take other code under the version that is installed')
    .option(
      '--gate [runs]',
      'of an upgrade: try it on the last runs of the installed version first, 20 by default',
    )
    .option(...signature)
    .action(async (source: string, options: InstallOptions) =>
      (await import('./install.ts')).install(source, options, folder),
    );
  addTrust(plugin, folder);
  addVersions(plugin, remote);
  remote(plugin.command('list').description('list installed plugins')).action(
    async (options: RemoteOptions) => (await import('./list.ts')).list(options),
  );
  remote(plugin.command('show <plugin>').description('show an installed plugin, and what it may do')).action(
    async (name: string, options: RemoteOptions) => (await import('./show.ts')).show(name, options),
  );
  addRuns(plugin, remote, folder);
  return [addAttack(plugin, remote), addBacktest(plugin, remote, folder), addShadow(plugin, remote, folder)];
}

/** What is about the runs of a plugin. */
function addRuns(plugin: Command, remote: Remote, folder: string): void {
  remote(plugin.command('logs <plugin>').description('show the latest runs with their logs'))
    .option('--limit <n>', 'runs to show, up to 100', '20')
    .addOption(new Option('--status <status>', 'only runs with this status').choices(runStatuses))
    .action(async (name: string, options: LogsOptions) => (await import('./logs.ts')).logs(name, options));
  remote(
    plugin.command('run-schedule <plugin> <schedule>').description('run a schedule now and wait for it'),
  ).action(async (name: string, schedule: string, options: RemoteOptions) =>
    (await import('./run-schedule.ts')).runSchedule(name, schedule, options),
  );
  remote(plugin.command('action <plugin> <action>').description('call an action and wait for it'))
    .option('--target <id>', 'the issue or project that it is done on')
    .option('--input <json>', 'what it takes, as a JSON object')
    .action(async (name: string, action: string, options: ActionOptions) =>
      (await import('./action.ts')).callAction(name, action, options),
    );
  remote(
    plugin.command('cancel <run>').description('end a run that has not ended, and keep nothing of it'),
  ).action(async (run: string, options: RemoteOptions) => (await import('./cancel.ts')).cancel(run, options));
  remote(
    plugin
      .command('replay <run>')
      .description('run a recorded run again, writing nothing, and say where it comes out differently'),
  )
    .option(
      '--local <package>',
      'replay it here, with the plugin of a folder or a package file, in place of the code that ran',
    )
    .action(async (run: string, options: ReplayOptions) =>
      (await import('./replay.ts')).replayRun(run, options, folder),
    );
  remote(
    plugin.command('catch-up <plugin>').description('run a plugin on what it missed while it was off'),
  ).action(async (name: string, options: RemoteOptions) =>
    (await import('./catch-up.ts')).catchUp(name, options),
  );
  addUndo(plugin, remote);
  addScheduled(plugin, remote);
  addRoutes(plugin, remote);
  addSecrets(plugin, remote);
}

function addUndo(plugin: Command, remote: Remote): void {
  remote(
    plugin
      .command('undo <what>')
      .description('take back what a run, a proposal or an undo changed (by its id), or a plugin in a time'),
  )
    .option('--since <time>', 'of a plugin: what it changed from here on, a time or how long ago')
    .option('--until <time>', 'of a plugin: what it changed before; by default until now')
    .option('--simulate', 'change nothing; show what would be put back, and what would be left as it is')
    .action(async (what: string, options: UndoOptions) => (await import('./undo.ts')).undo(what, options));
}

function addTrust(plugin: Command, folder: string): void {
  plugin
    .command('keygen <file>')
    .description('make a key to sign packages with; prints the public half, which operators trust')
    .option(...json)
    .action(async (file: string, options: { json?: boolean }) =>
      (await import('./sign.ts')).keygen(file, options, folder),
    );
  plugin
    .command('sign <package>')
    .description('write the signature of a package file beside it')
    .requiredOption('--key <file>', 'the key that `tatami plugin keygen` made')
    .option('--force', 'replace a file beside it also if it is not a signature')
    .option(...json)
    .action(async (file: string, options: { key: string; force?: boolean; json?: boolean }) =>
      (await import('./sign.ts')).signFile(file, options, folder),
    );
  plugin
    .command('verify <package>')
    .description('check the signature beside a package file')
    .requiredOption('--public-key <key>', 'as `tatami plugin keygen` printed it')
    .option(...json)
    .action(async (file: string, options: { publicKey: string; json?: boolean }) =>
      (await import('./sign.ts')).verifyFile(file, options, folder),
    );
}

function addVersions(plugin: Command, remote: Remote): void {
  remote(
    plugin
      .command('probation <plugin>')
      .description(
        'show how many approved runs a plugin on probation is missing, or end or begin its probation',
      ),
  )
    .option('--end', 'let it write by itself from now on')
    .option('--begin', 'have it only propose until 20 of its runs are approved')
    .action(async (name: string, options: ProbationOptions) =>
      (await import('./probation.ts')).probation(name, options),
    );
  remote(
    plugin
      .command('consent <plugin>')
      .description('show the version that waits for consent, and switch to it'),
  )
    .option('--yes', 'grant all that it asks for')
    .option('--refuse', 'drop it; the installed version stays')
    .action(async (name: string, options: ConsentOptions) =>
      (await import('./consent.ts')).consent(name, options),
    );
  remote(plugin.command('versions <plugin>').description('list the versions that were installed')).action(
    async (name: string, options: RemoteOptions) => (await import('./versions.ts')).versions(name, options),
  );
  remote(
    plugin
      .command('rollback <plugin> [version]')
      .description('go back to a version from before, with its grant and settings; by default the last one'),
  ).action(async (name: string, version: string | undefined, options: RemoteOptions) =>
    (await import('./versions.ts')).rollback(name, version, options),
  );
}

function addBacktest(plugin: Command, remote: Remote, folder: string): Command {
  return remote(
    plugin
      .command('backtest <plugin>')
      .description('try the plugin of a folder, a package file, or an installed plugin on recorded events'),
  )
    .option('--since <time>', 'events from here on: a time, or how long ago', '30d')
    .option('--until <time>', 'events up to here; by default now')
    .option('--events <n>', 'events to run it for at most, up to 10000')
    .option('--settings <file>', 'a JSON file with the settings to try it with')
    .option(...signature)
    .action(async (source: string, options: BacktestOptions) =>
      (await import('./backtest.ts')).backtest(source, options, folder),
    );
}

function addShadow(plugin: Command, remote: Remote, folder: string): Command {
  return remote(
    plugin
      .command('shadow <plugin>')
      .description('run another version beside an installed one, on live events, and show where they differ'),
  )
    .option(
      '--with <package>',
      'begin with this package file, the plugin of this folder, or this first-party plugin',
    )
    .option(...signature)
    .option('--stop', 'stop it')
    .action(async (name: string, options: ShadowOptions) =>
      (await import('./shadow.ts')).shadow(name, options, folder),
    );
}

/** Answers the command that has its own way to stop. */
function addAttack(plugin: Command, remote: Remote): Command {
  return remote(
    plugin
      .command('attack')
      .description(
        'attack the server with hostile plugins, and say of each whether it was held; ends with 0 or 1',
      ),
  )
    .requiredOption(
      '--team <key>',
      'team in which the issues are made that they are run for; all is removed again',
    )
    .option('--group <numbers>', 'only these groups of attacks, such as 20,21')
    .action(async (options: AttackOptions) => (await import('./attack/command.ts')).attack(options));
}
