// The `tatami` command: parses the arguments and runs a command. The module of a command is loaded only when it runs, because most
// commands need no server and should answer at once.
import { Command, CommanderError, Help, type HelpConfiguration } from 'commander';
import { configReference } from '../config/config.ts';
import { version } from '../version.ts';
import type { HealthOptions } from './about.ts';
import { addApps, addGrants, addKeys, addLogin, addMembers } from './arguments/access.ts';
import { addBackups, addCopies, addImport, addMasterKey } from './arguments/data.ts';
import { dataDir, json, remote } from './arguments/options.ts';
import { addPlugin } from './arguments/plugin.ts';
import { addWebhooks } from './arguments/webhooks.ts';
import type { CleanStart } from './clean-start.ts';
import type { DoctorOptions, FixOptions } from './doctor.ts';
import type { InitOptions } from './init.ts';
import { CommandError, exitCodes, fail, printResult, say } from './lib/output.ts';
import type { RemoteOptions } from './lib/remote.ts';
import type { ApproveOptions, ListProposalsOptions, RejectOptions } from './proposals.ts';
import type { ServeFlags } from './serve.ts';
import type { TrailOptions } from './trail.ts';

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
  addLogin(program);
  addKeys(program, folder);
  addMembers(program, folder);
  addApps(program);
  addGrants(program);
  addMasterKey(program, folder);
  addBackups(program, folder);
  addImport(program, folder);
  addCopies(program, folder);
  const pluginCommands = addPlugin(program, folder);
  addTrail(program);
  addProposals(program);
  const listenCommand = addWebhooks(program, folder);
  addAbout(program);
  // Other commands end at once, and can be run again.
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

/** @returns the command that handles its own interrupts */
function addServer(program: Command, folder: string): Command {
  program
    .command('init')
    .description('create a data directory with a workspace, a team and an API key')
    .option(...dataDir)
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
    .option(...dataDir)
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
      (await import('./about.ts')).version(options),
    );
  program
    .command('health')
    .description('check that a server is ready; exits with 0 or 1')
    .option('--live', 'check only that the server responds')
    .option('--server <url>', 'address of the server (TATAMI_SERVER, default http://127.0.0.1:4700)')
    .option(...json)
    .action(async (options: HealthOptions) => (await import('./about.ts')).health(options));
}

function addTrail(program: Command): void {
  remote(program.command('trail <issue>').description('show the causes of the state of an issue, as a tree'))
    .option('--field <name>', 'show only the change that set the current value of this field')
    .option('--limit <n>', 'trees to show, up to 100', '20')
    .action(async (issue: string, options: TrailOptions) =>
      (await import('./trail.ts')).trail(issue, options),
    );
}

function addProposals(program: Command): void {
  const proposals = program.command('proposals').description('review the changes that are pending approval');
  const load = () => import('./proposals.ts');
  remote(proposals.command('list').description('list open proposals, newest first'))
    .option('--all', 'include decided proposals')
    .action(async (options: ListProposalsOptions) => (await load()).listProposals(options));
  remote(proposals.command('show <proposal>').description('show the changes of a proposal')).action(
    async (id: string, options: RemoteOptions) => (await load()).showProposal(id, options),
  );
  remote(proposals.command('approve <proposal>').description('approve a proposal, or some of its effects'))
    .option('--effects <ids>', 'ids of the effects to approve, comma-separated; the others are rejected')
    .option('--revision <n>', 'the revision that you reviewed; default: the first')
    .action(async (id: string, options: ApproveOptions) => (await load()).approveProposal(id, options));
  remote(proposals.command('reject <proposal>').description('reject a proposal'))
    .requiredOption('--reason <text>', 'reason for the rejection')
    .action(async (id: string, options: RejectOptions) => (await load()).rejectProposal(id, options));
}
