// The `tatami` command: arguments → command. Each command is a file beside this one and is loaded when it is asked for, because
// most of them need no server and should answer at once.
import { Command, CommanderError, Help, type HelpConfiguration } from 'commander';
import { configReference } from '../config/config.ts';
import { version } from '../version.ts';
import { addApps } from './apps/command.ts';
import { addBackups } from './backup/command.ts';
import type { CleanStart } from './clean-start.ts';
import type { CopiesOptions } from './copies.ts';
import type { DoctorOptions, FixOptions } from './doctor.ts';
import { addGrants } from './grants/command.ts';
import type { HealthOptions } from './health.ts';
import type { ExportOptions } from './export/export.ts';
import type { TakeInOptions } from './export/take-in.ts';
import type { ImportOptions } from './import/import.ts';
import type { InitOptions } from './init.ts';
import { addKeys } from './keys/command.ts';
import { addLogin } from './login/command.ts';
import type { MasterKeyOptions } from './master-key.ts';
import { addMembers } from './members/command.ts';
import { addPlugin } from './plugin/commands.ts';
import { CommandError, exitCodes, fail, printResult, say } from './lib/output.ts';
import { addProposals } from './proposals/command.ts';
import type { ServeFlags } from './serve.ts';
import type { TrailOptions } from './lib/trail.ts';
import { addWebhooks } from './webhooks/command.ts';

const json: [string, string] = ['--json', 'print one JSON value on stdout'];

/** Ends the process where the command fails. */
export async function tatami({ folder, args }: CleanStart): Promise<void> {
  const asJson = { json: args.includes('--json') };
  const program = new Command('tatami')
    .description('A self-hostable issue tracker that hosts sandboxed plugins.')
    .version(version, '-V, --version')
    .exitOverride()
    .configureHelp(requiredShown)
    .showHelpAfterError('Run the command with --help to see its arguments and options.')
    .configureOutput({ outputError: (text) => say(text.trimEnd().replace(/^error: /, 'tatami: ')) });
  const serveCommand = addServer(program, folder);
  addDoctor(program, folder);
  addLogin(program, remote, json);
  addKeys(program, folder, json);
  addMembers(program, remote, folder, json);
  addApps(program, remote);
  addGrants(program, remote);
  addMasterKey(program, folder);
  addBackups(program, folder);
  addImport(program, folder);
  addCopies(program, folder);
  const pluginCommands = addPlugin(program, remote, folder);
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

const defaultHelp = new Help();
/** Options that a command requires stand in its usage and are marked; Commander shows them as any other. */
const requiredShown: HelpConfiguration = {
  commandUsage(command) {
    const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
    return defaultHelp.commandUsage(command).replace('[options]', [...required, '[options]'].join(' '));
  },
  optionDescription: (option) =>
    `${defaultHelp.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
};

function endWith(error: unknown, asJson: { json: boolean }): never {
  if (!(error instanceof CommanderError)) return fail(error, asJson);
  if (error.exitCode === 0) process.exit(exitCodes.ok);
  // Commander has printed the error already.
  const message = error.code === 'commander.help' ? 'No command was given.' : error.message;
  if (asJson.json)
    printResult({ error: { code: 'usage', message: message.replace(/^error: /, '') } }, asJson, () => '');
  return process.exit(exitCodes.usage);
}

/** Adds what every command that talks to a server takes. */
function remote(command: Command): Command {
  return command
    .option(
      '--server <url>',
      'address of the server (TATAMI_SERVER; default: the server of your login, else http://127.0.0.1:4700)',
    )
    .option('--token <key>', 'API key (TATAMI_TOKEN), used instead of your login')
    .option(...json);
}

/** Answers the command that has its own way to stop. */
function addServer(program: Command, folder: string): Command {
  program
    .command('init')
    .description('create a data directory with a workspace, a team and an API key')
    .option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)')
    .requiredOption('--workspace <name>', 'name of the workspace')
    .requiredOption('--team <key>', 'key of the first team, such as ENG')
    .option('--add', 'add a workspace to a directory that already has one')
    .option('--port <value>', 'port of the server, for the link (TATAMI_PORT, default 4700)')
    .option('--host <value>', 'listen address of the server, for the link (TATAMI_HOST, default 127.0.0.1)')
    .option('--base-url <value>', 'public address of the server (TATAMI_BASE_URL)')
    .option(...json)
    .action(async (options: InitOptions) => (await import('./init.ts')).init(options, folder));
  const serve = program
    .command('serve')
    .description('run the server')
    .option(...json);
  for (const { flag, env, fallback, text } of configReference())
    serve.option(`${flag} <value>`, `${text} (${env}${fallback === '' ? '' : `, default ${fallback}`})`);
  return serve
    .option('--first-start', 'create a first workspace if the data directory has none')
    .action(async (options: ServeFlags) => (await import('./serve.ts')).serve(options, folder));
}

function addDoctor(program: Command, folder: string): void {
  const doctor = program
    .command('doctor')
    .description('check a data directory and its environment; changes nothing')
    .option(...json);
  for (const { flag, env, text } of configReference().filter(({ flag }) => doctorFlags.includes(flag)))
    doctor.option(`${flag} <value>`, `${text} (${env})`);
  doctor.action(async (options: DoctorOptions) => (await import('./doctor.ts')).doctor(options, folder));
  doctor
    .command('fix <id>')
    .description('repair one finding; the server must be stopped')
    .option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)')
    .option('--backup <file>', 'backup of this installation, required by destructive fixes')
    .option('--yes', 'confirm a destructive fix')
    .option('--altered', 'confirm that you changed the database with another program')
    .option(...json)
    .action(async (id: string, _: FixOptions, command: Command) =>
      (await import('./doctor.ts')).fix(id, command.optsWithGlobals<FixOptions>(), folder),
    );
}

/** Server settings that affect the checks. */
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
    .option('--verify', 'verify the files that the executable has unpacked')
    .option(...json)
    .action(async (options: { json?: boolean; verify?: boolean }) =>
      (await import('./version.ts')).version(options),
    );
  program
    .command('health')
    .description('check that a server is ready; exits with 0 or 1')
    .option('--live', 'check only that the server responds')
    .option('--server <url>', 'address of the server (TATAMI_SERVER, default http://127.0.0.1:4700)')
    .option(...json)
    .action(async (options: HealthOptions) => (await import('./health.ts')).health(options));
}

function addMasterKey(program: Command, folder: string): void {
  program
    .command('master-key')
    .description('manage the key that encrypts stored secrets')
    .command('rotate')
    .description('encrypt all stored secrets with a new key; the server must be stopped')
    .option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)')
    .option(...json)
    .action(async (options: MasterKeyOptions) => (await import('./master-key.ts')).rotate(options, folder));
}

function addImport(program: Command, folder: string): void {
  remote(
    program
      .command('import <file>')
      .description('import issues from CSV, or from a GitHub, Linear or Jira export; `-` reads stdin'),
  )
    .option('--from <format>', 'csv, github, linear or jira; default: detected from the file')
    .option('--team-from <column>', 'column with the team; for GitHub, the key of the team')
    .option('--source <name>', 'externalSource of the issues; default: the format')
    .option(
      '--people <file>',
      'CSV that maps people in the file (source) to e-mail addresses of members (member)',
    )
    .option('--data-dir <dir>', 'data directory for a workspace written by `tatami export` (TATAMI_DATA_DIR)')
    .action(async (file: string, options: ImportOptions & TakeInOptions) =>
      (await import('./import/any.ts')).importAny(file, options, folder),
    );
  program
    .command('export <file>')
    .description('export a workspace to a file of JSON lines, for `tatami import`; `-` writes to stdout')
    .option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)')
    .option('--workspace <name>', 'name or id of the workspace, if there are several')
    .option('--force', 'replace the file if it exists')
    .option(...json)
    .action(async (file: string, options: ExportOptions) =>
      (await import('./export/export.ts')).exportWorkspace(file, options, folder),
    );
}

function addCopies(program: Command, folder: string): void {
  const copies = program.command('copies').description('inspect a continuous copy');
  copies
    .command('list <copy>')
    .description('list the times that a copy can restore (a directory, or s3://bucket/prefix)')
    .option(...json)
    .action(async (where: string, options: CopiesOptions) =>
      (await import('./copies.ts')).listCopies(where, options, folder),
    );
  copies
    .command('verify <copy>')
    .description('read a whole copy and report damage')
    .option(...json)
    .action(async (where: string, options: CopiesOptions) =>
      (await import('./copies.ts')).verifyCopies(where, options, folder),
    );
}

function addTrail(program: Command): void {
  remote(program.command('trail <issue>').description('show the causes of the state of an issue, as a tree'))
    .option('--field <name>', 'show only the change that set the current value of this field')
    .option('--limit <n>', 'trees to show, up to 100', '20')
    .action(async (issue: string, options: TrailOptions) =>
      (await import('./lib/trail.ts')).trail(issue, options),
    );
}
