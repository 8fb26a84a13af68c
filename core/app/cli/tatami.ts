// The `tatami` command: parses the arguments and runs a command. The module of a command is loaded only when it runs, because most
// commands need no server and should answer at once.
import { Argument, Command, CommanderError, Help, type HelpConfiguration, type Option } from 'commander';
import { configReference } from '../config/config.ts';
import { version } from '../version.ts';
import type { HealthOptions } from './about.ts';
import { addKeys, addLogin, addMembers } from './arguments/access.ts';
import { addBackups, addCopies, addImport, addMasterKey } from './arguments/data.ts';
import { dataDir, json, remote } from './arguments/options.ts';
import { addPlugin } from './arguments/plugin.ts';
import { addRules } from './arguments/rules.ts';
import { addWebhooks } from './arguments/webhooks.ts';
import type { CleanStart } from './clean-start.ts';
import { candidatesOf, completionScript, shells, type Shell } from './completion.ts';
import type { DoctorOptions, FixOptions } from './doctor.ts';
import type { InitOptions } from './init.ts';
import { CommandError, endWithReader, exitCodes, fail, printLines, printResult, say } from './lib/output.ts';
import type { ApiOptions } from './operations/api.ts';
import { addOperations } from './operations/commands.ts';
import type { ReplayRunOptions } from './plugin/replay.ts';
import type { ApproveOptions } from './proposals.ts';
import type { ServeFlags } from './serve.ts';

/** Ends the process where the command fails. */
export async function tatami({ folder, args }: CleanStart): Promise<void> {
  endWithReader();
  const asJson = { json: args.includes('--json') };
  const { program, handlesInterrupt } = createProgram(args, folder);
  // Other commands end at once, and can be run again.
  program.hook('preAction', (_, command) => {
    if (!handlesInterrupt(command))
      process.once('SIGINT', () => fail(new CommandError('Interrupted.', exitCodes.interrupted), asJson));
  });
  await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => endWith(error, asJson));
}

interface Program {
  readonly program: Command;
  /** Returns true for commands that handle interrupts by themselves. */
  handlesInterrupt(command: Command): boolean;
}

/**
 * @param args arguments of the command line; only the nouns among them get the commands of their operations
 * @param folder in which relative paths begin
 */
export function createProgram(args: readonly string[], folder: string): Program {
  const program = new Command('tatami')
    .description('A self-hostable issue tracker that hosts sandboxed plugins.')
    .version(version, '-V, --version')
    .exitOverride()
    .enablePositionalOptions()
    .configureHelp(requiredShown)
    .showHelpAfterError('Run the command with --help to see its arguments and options.')
    .configureOutput({ outputError: (text) => say(text.trimEnd().replace(/^error: /, 'tatami: ')) });
  const serveCommand = addServer(program, folder);
  addDoctor(program, folder);
  addLogin(program);
  addKeys(program, folder);
  addMembers(program, folder);
  addMasterKey(program, folder);
  addBackups(program, folder);
  addImport(program, folder);
  addCopies(program, folder);
  const pluginCommands = addPlugin(program, folder);
  addRuns(program, folder);
  addProposals(program, folder);
  addRules(program, folder);
  const listenCommand = addWebhooks(program, folder);
  addAbout(program);
  addApi(program, folder);
  addOperations(program, args, folder);
  addCompletion(program, folder);
  const interruptible = [serveCommand, listenCommand, ...pluginCommands];
  return { program, handlesInterrupt: (command) => interruptible.includes(command) };
}

const defaultHelp = new Help();
/** Flags of operations are checked by their commands, because a value may come from standard input or an editor. */
const isRequired = ({ mandatory, description }: Option): boolean =>
  mandatory || description.includes('(required)');
const choicesShownMax = 20;
/** Options that a command requires stand in its usage and are marked; Commander shows them as any other. */
const requiredShown: HelpConfiguration = {
  commandUsage(command) {
    const required = command.options.filter(isRequired).map(({ flags }) => flags);
    return defaultHelp.commandUsage(command).replace('[options]', [...required, '[options]'].join(' '));
  },
  optionDescription(option) {
    const text = defaultHelp.optionDescription(option);
    // The placeholder lists few choices already, and many fill the screen.
    const isListed = !option.flags.includes('|') && (option.argChoices?.length ?? 0) <= choicesShownMax;
    const words = isListed ? text : text.replace(/ \(choices: [^)]*\)/, '');
    return `${words}${option.mandatory ? ' (required)' : ''}`;
  },
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
    serve.option(
      `${flag} <value>`,
      `${withoutPeriod(text)} (${env}${fallback === '' ? '' : `, default ${fallback}`})`,
    );
  return serve
    .option('--first-start', 'create a first workspace if the data directory has none')
    .action(async (options: ServeFlags) => (await import('./serve.ts')).serve(options, folder));
}

const withoutPeriod = (text: string): string => text.replace(/\.$/, '');

function addDoctor(program: Command, folder: string): void {
  const doctor = program
    .command('doctor')
    .description('check a data directory and its environment; changes nothing')
    .option(...json);
  for (const { flag, env, text } of configReference().filter(({ flag }) => doctorFlags.includes(flag)))
    doctor.option(`${flag} <value>`, `${withoutPeriod(text)} (${env})`);
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

function addRuns(program: Command, folder: string): void {
  const runs = program.command('runs').description('inspect and repeat runs of plugins');
  remote(
    runs
      .command('replay <run>')
      .description('repeat a recorded run without writing, and report the first difference'),
  )
    .option(
      '--local <package>',
      'replay on this machine, with the plugin of a folder or a package file instead of the original code',
    )
    .action(async (run: string, options: ReplayRunOptions) =>
      (await import('./plugin/replay.ts')).replayRun(run, options, folder),
    );
}

function addProposals(program: Command, folder: string): void {
  const proposals = program.command('proposals').description('review the changes that are pending approval');
  remote(
    proposals
      .command('approve [proposal]')
      .description('approve a proposal, some of its effects, or all open proposals'),
  )
    .option('--effects <ids>', 'ids of the effects to approve, comma-separated; the others are rejected')
    .option('--revision <n>', 'the revision that you reviewed; default: the first')
    .option('--all', 'approve all open proposals, oldest first')
    .option('--install <plugin>', 'with --all: only the proposals of this plugin')
    .option('-y, --yes', 'with --all: do not ask for confirmation')
    .action(async (id: string | undefined, options: ApproveOptions) =>
      (await import('./proposals.ts')).approve(id, options, folder),
    );
}

function addApi(program: Command, folder: string): void {
  remote(
    program
      .command('api <method> <path> [fields...]')
      .description(
        'call any path of the API; fields are name=value, for the query of GET and the body of others',
      ),
  )
    .option('--input <file>', 'file with the body as JSON; `-` reads standard input')
    .option('--all', 'read all pages of a list')
    .option('--dry-run', 'show the result of a write without writing')
    .option('--idempotency-key <key>', 'key of an earlier attempt, so that the write takes effect once')
    .addHelpText(
      'after',
      '\nExample:\n  tatami api POST /issues team=ENG title="Crash on save" labels=\'["bug"]\'',
    )
    .action(async (method: string, path: string, fields: string[], options: ApiOptions) =>
      (await import('./operations/api.ts')).api(method, path, fields, options, folder),
    );
}

/** @param folder in which relative paths begin */
function addCompletion(program: Command, folder: string): void {
  program
    .command('completion')
    .description('print the completion script for a shell')
    .addArgument(new Argument('<shell>', 'shell').choices([...shells]))
    .action((shell: Shell) => printLines([completionScript(shell)]));
  program
    .command('__complete [words...]', { hidden: true })
    .allowUnknownOption()
    .helpOption(false)
    .action((words: string[]) => printLines(candidatesOf(program, words, folder)));
}
