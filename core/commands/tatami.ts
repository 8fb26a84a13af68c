// The `tatami` command: arguments → command. Each command is a file beside this one and is loaded when it is asked for, because
// most of them need no server and should answer at once.
import { Command, CommanderError, Help, type HelpConfiguration } from 'commander';
import { configReference } from '../config.ts';
import { version } from '../version.ts';
import { addApps } from './apps/command.ts';
import { addBackups } from './backup/command.ts';
import type { CleanStart } from './clean-start.ts';
import type { CopiesOptions } from './copies.ts';
import type { DoctorOptions, FixOptions } from './doctor.ts';
import { addGrants } from './grants/command.ts';
import type { HealthOptions } from './health.ts';
import type { ExportOptions } from './exchange/export.ts';
import type { TakeInOptions } from './exchange/take-in.ts';
import type { ImportOptions } from './import/import.ts';
import type { InitOptions } from './init.ts';
import { addKeys } from './keys/command.ts';
import { addLogin } from './login/command.ts';
import type { MasterKeyOptions } from './master-key.ts';
import { addMembers } from './members/command.ts';
import { addPlugin } from './plugin/commands.ts';
import { CommandError, exitCodes, fail, printResult, say } from './output.ts';
import { addProposals } from './proposals/command.ts';
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
    .configureHelp(requiredShown)
    .showHelpAfterError('Add --help to see what the command takes.')
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
  // Commander has told people already.
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
      'address of the server (TATAMI_SERVER; by default that of your login, else http://127.0.0.1:4700)',
    )
    .option('--token <key>', 'API key (TATAMI_TOKEN), in place of your login')
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
    .option('--port <value>', 'port that the server will listen on, for the link (TATAMI_PORT, default 4700)')
    .option('--host <value>', 'address that the server will listen on (TATAMI_HOST, default 127.0.0.1)')
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
      .description('import issues from CSV, or from an export of GitHub, Linear or Jira; `-` is stdin'),
  )
    .option('--from <format>', 'csv, github, linear or jira; by default what the file looks like')
    .option('--team-from <column>', 'column that names the team; of GitHub the key of the team')
    .option('--source <name>', 'externalSource of the issues; by default the format')
    .option(
      '--people <file>',
      'CSV that maps people of the file (source) to e-mail addresses of members (member)',
    )
    .option('--data-dir <dir>', 'where a workspace goes that `tatami export` wrote (TATAMI_DATA_DIR)')
    .action(async (file: string, options: ImportOptions & TakeInOptions) =>
      (await import('./import/any.ts')).importAny(file, options, folder),
    );
  program
    .command('export <file>')
    .description(
      'write a workspace to a file of JSON lines, which `tatami import` takes in elsewhere; `-` is stdout',
    )
    .option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)')
    .option('--workspace <name>', 'its name or its id, where there are several')
    .option('--force', 'replace the file if it exists')
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
