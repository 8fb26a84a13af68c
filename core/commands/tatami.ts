// The `tatami` command: arguments → command. Each command is a file beside this one and is loaded when it is asked for, because
// most of them need no server and should answer at once.
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { configReference } from '../config.ts';
import { version } from '../version.ts';
import { addBackups } from './backup/command.ts';
import type { CleanStart } from './clean-start.ts';
import type { CopiesOptions } from './copies.ts';
import type { DoctorOptions, FixOptions } from './doctor.ts';
import type { HealthOptions } from './health.ts';
import type { ExportOptions } from './exchange/export.ts';
import type { TakeInOptions } from './exchange/take-in.ts';
import type { ImportOptions } from './import/import.ts';
import type { InitOptions } from './init.ts';
import { addKeys } from './keys/command.ts';
import type { MasterKeyOptions } from './master-key.ts';
import type { AttackOptions } from './plugin/attack/command.ts';
import type { ActionOptions } from './plugin/action.ts';
import type { ConsentOptions } from './plugin/consent.ts';
import type { BacktestOptions } from './plugin/backtest.ts';
import type { InstallOptions } from './plugin/install.ts';
import type { ReplayOptions } from './plugin/replay.ts';
import { addSecrets } from './plugin/secrets/commands.ts';
import { CommandError, exitCodes, fail, printResult, say } from './output.ts';
import { addProposals } from './proposals/command.ts';
import type { RemoteOptions } from './remote.ts';
import type { ServeFlags } from './serve.ts';
import type { TrailOptions } from './trail.ts';
import { addWebhooks } from './webhooks/command.ts';

const json: [string, string] = ['--json', 'print one JSON value on stdout'];

/** Ends the process where the command fails. */
export async function tatami({ folder, args }: CleanStart): Promise<void> {
  const asJson = { json: args.includes('--json') };
  const program = new Command('tatami')
    .description('A self-hostable issue tracker that hosts sandboxed plugins.')
    .version(version, '-V, --version')
    .exitOverride()
    .showHelpAfterError('Add --help to see what the command takes.')
    .configureOutput({ outputError: (text) => say(text.trimEnd().replace(/^error: /, 'tatami: ')) });
  const serveCommand = addServer(program, folder);
  addDoctor(program, folder);
  addKeys(program, folder, json);
  addMasterKey(program, folder);
  addBackups(program, folder);
  addImport(program, folder);
  addCopies(program, folder);
  const pluginCommands = addPlugin(program, folder);
  addTrail(program);
  addProposals(program, remote);
  const listenCommand = addWebhooks(program, remote, folder);
  addAbout(program);
  // These have their own way to stop; everything else can be run again.
  program.hook('preAction', (_, command) => {
    if (![serveCommand, listenCommand, ...pluginCommands].includes(command))
      process.once('SIGINT', () => fail(new CommandError('Interrupted.', exitCodes.interrupted), asJson));
  });
  await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => endWith(error, asJson));
}

function endWith(error: unknown, asJson: { json: boolean }): never {
  if (!(error instanceof CommanderError)) return fail(error, asJson);
  if (error.exitCode === 0) process.exit(exitCodes.ok);
  // Commander has told people already.
  const message = error.code === 'commander.help' ? 'No command was given.' : error.message;
  if (asJson.json)
    printResult({ error: { code: 'usage', message: message.replace(/^error: /, '') } }, asJson, () => '');
  return process.exit(exitCodes.usage);
}

/** Adds what every command that talks to a server takes. */
function remote(command: Command): Command {
  return command
    .option('--server <url>', 'address of the server (TATAMI_SERVER, default http://127.0.0.1:4700)')
    .option('--token <key>', 'API key (TATAMI_TOKEN)')
    .option(...json);
}

/** Answers the command that has its own way to stop. */
function addServer(program: Command, folder: string): Command {
  program
    .command('init')
    .description('make a data directory with a workspace, a team and a key')
    .option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)')
    .requiredOption('--workspace <name>', 'name of the workspace')
    .requiredOption('--team <key>', 'key of its first team, such as ENG')
    .option('--add', 'add a workspace to a directory that has one')
    .option(...json)
    .action(async (options: InitOptions) => (await import('./init.ts')).init(options, folder));
  const serve = program
    .command('serve')
    .description('run the server')
    .option(...json);
  for (const { flag, env, fallback, text } of configReference())
    serve.option(`${flag} <value>`, `${text} (${env}${fallback === '' ? '' : `, default ${fallback}`})`);
  return serve
    .option('--first-start', 'make a first workspace when the data directory has none')
    .action(async (options: ServeFlags) => (await import('./serve.ts')).serve(options, folder));
}

function addDoctor(program: Command, folder: string): void {
  const doctor = program
    .command('doctor')
    .description('look at a data directory and what serving it needs; changes nothing')
    .option(...json);
  for (const { flag, env, text } of configReference().filter(({ flag }) => doctorFlags.includes(flag)))
    doctor.option(`${flag} <value>`, `${text} (${env})`);
  doctor.action(async (options: DoctorOptions) => (await import('./doctor.ts')).doctor(options, folder));
  doctor
    .command('fix <id>')
    .description('mend one thing that was found; the server must be stopped')
    .option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)')
    .option('--backup <file>', 'a backup of this installation, which fixes that destroy something need')
    .option('--yes', 'do it, although something is gone afterwards')
    .option('--altered', 'you changed the database yourself, with another program')
    .option(...json)
    .action(async (id: string, _: FixOptions, command: Command) =>
      (await import('./doctor.ts')).fix(id, command.optsWithGlobals<FixOptions>(), folder),
    );
}

/** What it looks at depends on these settings of the server. */
const doctorFlags = [
  '--data-dir',
  '--backup-dir',
  '--copy-to',
  '--egress-allow',
  '--sandbox-jail',
  '--node-path',
];

function addAbout(program: Command): void {
  program
    .command('version')
    .description('print the version')
    .option('--verify', 'read whole what the executable has unpacked, and compare it with what it holds')
    .option(...json)
    .action(async (options: { json?: boolean; verify?: boolean }) =>
      (await import('./version.ts')).version(options),
    );
  program
    .command('health')
    .description('ask a server whether it is ready; ends with 0 or 1')
    .option('--live', 'only whether it answers')
    .option('--server <url>', 'address of the server (TATAMI_SERVER, default http://127.0.0.1:4700)')
    .option(...json)
    .action(async (options: HealthOptions) => (await import('./health.ts')).health(options));
}

function addMasterKey(program: Command, folder: string): void {
  program
    .command('master-key')
    .description('the key that stored secrets are sealed with')
    .command('rotate')
    .description('seal all stored secrets with a new key; the server must be stopped')
    .option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)')
    .option(...json)
    .action(async (options: MasterKeyOptions) => (await import('./master-key.ts')).rotate(options, folder));
}

function addImport(program: Command, folder: string): void {
  remote(
    program
      .command('import <file>')
      .description('import issues from CSV, or from an export of GitHub, Linear or Jira'),
  )
    .option('--from <format>', 'csv, github, linear or jira; by default what the file looks like')
    .option('--team-from <column>', 'column that names the team; of GitHub the key of the team')
    .option('--source <name>', 'externalSource of the issues; by default the format')
    .option('--data-dir <dir>', 'where a workspace goes that `tatami export` wrote (TATAMI_DATA_DIR)')
    .action(async (file: string, options: ImportOptions & TakeInOptions) =>
      (await import('./import/any.ts')).importAny(resolve(folder, file), options, folder),
    );
  program
    .command('export <file>')
    .description('write a workspace to a file of JSON lines, which `tatami import` takes in elsewhere')
    .option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)')
    .option('--workspace <name>', 'its name or its id, where there are several')
    .option(...json)
    .action(async (file: string, options: ExportOptions) =>
      (await import('./exchange/export.ts')).exportWorkspace(file, options, folder),
    );
}

function addCopies(program: Command, folder: string): void {
  const copies = program.command('copies').description('look into a continuous copy');
  copies
    .command('list <copy>')
    .description('show which moments a copy reaches (a directory, or s3://bucket/prefix)')
    .option(...json)
    .action(async (where: string, options: CopiesOptions) =>
      (await import('./copies.ts')).listCopies(where, options, folder),
    );
  copies
    .command('verify <copy>')
    .description('read all of a copy, and say what is damaged')
    .option(...json)
    .action(async (where: string, options: CopiesOptions) =>
      (await import('./copies.ts')).verifyCopies(where, options, folder),
    );
}

function addTrail(program: Command): void {
  remote(program.command('trail <issue>').description('show why an issue is what it is, as a tree'))
    .option('--field <name>', 'only what gave this field its present value')
    .option('--limit <n>', 'beginnings to show, up to 100', '20')
    .action(async (issue: string, options: TrailOptions) =>
      (await import('./trail.ts')).trail(issue, options),
    );
}

/** Answers the command that has its own way to stop. */
function addAttack(plugin: Command): Command {
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
    .action(async (options: AttackOptions) => (await import('./plugin/attack/command.ts')).attack(options));
}

/** Answers the commands that have their own way to stop. */
function addPlugin(program: Command, folder: string): Command[] {
  const plugin = program.command('plugin').description('pack, install and watch plugins');
  plugin
    .command('new <name>')
    .description('make a folder with a plugin to begin from')
    .option('--dir <dir>', 'the folder, which must be empty or not be there; by default the name')
    .option(...json)
    .action(async (name: string, options: { dir?: string; json?: boolean }) =>
      (await import('./plugin/new.ts')).newPlugin(name, options, folder),
    );
  plugin
    .command('pack <dir>')
    .description('bundle DIR/plugin.ts into one package file')
    .option('--out <file>', 'the package file')
    .option(...json)
    .action(async (dir: string, options: { out?: string; json?: boolean }) =>
      (await import('./plugin/pack.ts')).pack(dir, options, folder),
    );
  remote(
    plugin
      .command('install <package>')
      .description('install a package file, or a first-party plugin by name'),
  )
    .option('--yes', 'grant the scopes it asks for')
    .option('--downgrade', 'take an older version than the one that is installed')
    .option(
      '--mode <mode>',
      'apply; propose: what it would write waits for approval; or simulate: it is recorded and dropped',
    )
    .option('--settings <file>', 'a JSON file with its settings')
    .option('--no-probation', 'let a new plugin write at once, in place of only proposing in its first runs')
    .option('--replace', 'take other code under the version that is installed')
    .option('--signature <file>', 'its signature; by default the package file with .sig')
    .option(
      '--gate [runs]',
      'first try it on the events of the last runs, 20 unless given, and show what it does otherwise',
    )
    .action(async (source: string, options: InstallOptions) =>
      (await import('./plugin/install.ts')).install(source, options, folder),
    );
  addTrust(plugin, folder);
  addVersions(plugin);
  remote(plugin.command('list').description('list installed plugins')).action(
    async (options: RemoteOptions) => (await import('./plugin/list.ts')).list(options),
  );
  addRuns(plugin, folder);
  return [addAttack(plugin), addBacktest(plugin, folder)];
}

/** What is about the runs of a plugin. */
function addRuns(plugin: Command, folder: string): void {
  remote(plugin.command('logs <plugin>').description('show the latest runs with their logs'))
    .option('--limit <n>', 'runs to show, up to 100', '20')
    .action(async (name: string, options: RemoteOptions & { limit: string }) =>
      (await import('./plugin/logs.ts')).logs(name, options),
    );
  remote(
    plugin.command('run-schedule <plugin> <schedule>').description('run a schedule now and wait for it'),
  ).action(async (name: string, schedule: string, options: RemoteOptions) =>
    (await import('./plugin/run-schedule.ts')).runSchedule(name, schedule, options),
  );
  remote(plugin.command('action <plugin> <action>').description('call an action and wait for it'))
    .option('--target <id>', 'the issue or project that it is done on')
    .option('--input <json>', 'what it takes, as a JSON object')
    .action(async (name: string, action: string, options: ActionOptions) =>
      (await import('./plugin/action.ts')).callAction(name, action, options),
    );
  remote(
    plugin.command('cancel <run>').description('end a run that has not ended, and keep nothing of it'),
  ).action(async (run: string, options: RemoteOptions) =>
    (await import('./plugin/cancel.ts')).cancel(run, options),
  );
  remote(
    plugin
      .command('replay <run>')
      .description('run a recorded run again, writing nothing, and say where it comes out differently'),
  )
    .option('--local <dir>', 'replay it here, with the plugin of a folder, in place of the code that ran')
    .action(async (run: string, options: ReplayOptions) =>
      (await import('./plugin/replay.ts')).replayRun(run, options, folder),
    );
  remote(
    plugin.command('catch-up <plugin>').description('run a plugin on what it missed while it was off'),
  ).action(async (name: string, options: RemoteOptions) =>
    (await import('./plugin/catch-up.ts')).catchUp(name, options),
  );
  addSecrets(plugin, remote);
}

function addTrust(plugin: Command, folder: string): void {
  plugin
    .command('keygen <file>')
    .description('make a key to sign packages with; prints the public half, which operators trust')
    .option(...json)
    .action(async (file: string, options: { json?: boolean }) =>
      (await import('./plugin/sign.ts')).keygen(file, options, folder),
    );
  plugin
    .command('sign <package>')
    .description('write the signature of a package file beside it')
    .requiredOption('--key <file>', 'the key that `tatami plugin keygen` made')
    .option(...json)
    .action(async (file: string, options: { key: string; json?: boolean }) =>
      (await import('./plugin/sign.ts')).signFile(file, options, folder),
    );
  plugin
    .command('verify <package>')
    .description('check the signature beside a package file')
    .requiredOption('--public-key <key>', 'as `tatami plugin keygen` printed it')
    .option(...json)
    .action(async (file: string, options: { publicKey: string; json?: boolean }) =>
      (await import('./plugin/sign.ts')).verifyFile(file, options, folder),
    );
}

function addVersions(plugin: Command): void {
  remote(
    plugin
      .command('consent <plugin>')
      .description('show the version that waits for consent, and switch to it'),
  )
    .option('--yes', 'grant all that it asks for')
    .option('--refuse', 'drop it; the installed version stays')
    .action(async (name: string, options: ConsentOptions) =>
      (await import('./plugin/consent.ts')).consent(name, options),
    );
  remote(plugin.command('versions <plugin>').description('list the versions that were installed')).action(
    async (name: string, options: RemoteOptions) =>
      (await import('./plugin/versions.ts')).versions(name, options),
  );
  remote(
    plugin
      .command('rollback <plugin> [version]')
      .description('go back to a version from before, with its grant and settings; by default the last one'),
  ).action(async (name: string, version: string | undefined, options: RemoteOptions) =>
    (await import('./plugin/versions.ts')).rollback(name, version, options),
  );
}

function addBacktest(plugin: Command, folder: string): Command {
  return remote(
    plugin
      .command('backtest <plugin>')
      .description('try the plugin of a folder, or an installed one, on recorded events'),
  )
    .option('--since <time>', 'events from here on: a time, or how long ago', '30d')
    .option('--until <time>', 'events up to here; by default now')
    .option('--events <n>', 'events to run it for at most, up to 10000')
    .action(async (source: string, options: BacktestOptions) =>
      (await import('./plugin/backtest.ts')).backtest(source, options, folder),
    );
}
