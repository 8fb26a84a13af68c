// The `tatami` command: argv → command. Each command lives in `commands/` and is loaded when it is asked for, because most
// of them need no server and should answer at once. `bin/tatami` is what people start.
import { resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { cleanStart } from './commands/clean-start.ts';
import type { ImportOptions } from './commands/import/import.ts';
import type { InitOptions } from './commands/init.ts';
import { CommandError, exitCodes, fail, printResult, say } from './commands/output.ts';
import type { RemoteOptions } from './commands/remote.ts';
import type { ServeFlags } from './commands/serve.ts';
import { addWebhooks } from './commands/webhooks/command.ts';
import { configReference } from './config.ts';
import { version } from './version.ts';

const asJson = { json: process.argv.includes('--json') };

const { folder, args } = cleanStart(asJson);

const program = new Command('tatami')
  .description('A self-hostable issue tracker that hosts sandboxed plugins.')
  .version(version, '-V, --version')
  .exitOverride()
  .showHelpAfterError('See `tatami --help`.')
  .configureOutput({ outputError: (text) => say(text.trimEnd().replace(/^error: /, 'tatami: ')) });

const json: [string, string] = ['--json', 'print one JSON value on stdout'];
const remote = (command: Command): Command =>
  command
    .option('--server <url>', 'address of the server (TATAMI_SERVER, default http://127.0.0.1:4700)')
    .option('--token <key>', 'API key (TATAMI_TOKEN)')
    .option(...json);

program
  .command('init')
  .description('make a data directory with a workspace, a team and a key')
  .option('--data-dir <dir>', 'data directory (TATAMI_DATA_DIR)')
  .requiredOption('--workspace <name>', 'name of the workspace')
  .requiredOption('--team <key>', 'key of its first team, such as ENG')
  .option('--add', 'add a workspace to a directory that has one')
  .option(...json)
  .action(async (options: InitOptions) => (await import('./commands/init.ts')).init(options, folder));

const serveCommand = program
  .command('serve')
  .description('run the server')
  .option(...json);
for (const { flag, env, fallback, text } of configReference())
  serveCommand.option(`${flag} <value>`, `${text} (${env}${fallback === '' ? '' : `, default ${fallback}`})`);
serveCommand
  .option('--first-start', 'make a first workspace when the data directory has none')
  .action(async (options: ServeFlags) => (await import('./commands/serve.ts')).serve(options, folder));

remote(
  program
    .command('import <file>')
    .description('import issues from CSV (repo, created_at, label, title, body)'),
)
  .option('--team-from <column>', 'column that names the team', 'repo')
  .option('--source <name>', 'externalSource of the issues', 'csv')
  .action(async (file: string, options: ImportOptions) =>
    (await import('./commands/import/import.ts')).importIssues(resolve(folder, file), options),
  );

const plugin = program.command('plugin').description('pack, install and watch plugins');
plugin
  .command('pack <dir>')
  .description('bundle DIR/plugin.ts into one package file')
  .option('--out <file>', 'the package file')
  .option(...json)
  .action(async (dir: string, options: { out?: string; json?: boolean }) =>
    (await import('./commands/plugin/pack.ts')).pack(dir, options, folder),
  );
remote(
  plugin.command('install <package>').description('install a package file, or a first-party plugin by name'),
)
  .option('--yes', 'grant the scopes it asks for')
  .action(async (source: string, options: RemoteOptions & { yes?: boolean }) =>
    (await import('./commands/plugin/install.ts')).install(source, options, folder),
  );
remote(plugin.command('list').description('list installed plugins')).action(async (options: RemoteOptions) =>
  (await import('./commands/plugin/list.ts')).list(options),
);
remote(plugin.command('logs <plugin>').description('show the latest runs with their logs'))
  .option('--limit <n>', 'runs to show, up to 100', '20')
  .action(async (name: string, options: RemoteOptions & { limit: string }) =>
    (await import('./commands/plugin/logs.ts')).logs(name, options),
  );
remote(
  plugin.command('run-schedule <plugin> <schedule>').description('run a schedule now and wait for it'),
).action(async (name: string, schedule: string, options: RemoteOptions) =>
  (await import('./commands/plugin/run-schedule.ts')).runSchedule(name, schedule, options),
);

const listenCommand = addWebhooks(program, remote, folder);

program
  .command('version')
  .description('print the version')
  .option(...json)
  .action((options: { json?: boolean }) =>
    printResult({ version, bun: Bun.version }, options, () => version),
  );

// These have their own way to stop; everything else can be run again.
program.hook('preAction', (_, command) => {
  if (command !== serveCommand && command !== listenCommand)
    process.once('SIGINT', () => fail(new CommandError('Interrupted.', exitCodes.interrupted), asJson));
});

try {
  await program.parseAsync(args, { from: 'user' });
} catch (error) {
  if (!(error instanceof CommanderError)) fail(error, asJson);
  if (error.exitCode === 0) process.exit(exitCodes.ok);
  // Commander has told people already.
  const message = error.code === 'commander.help' ? 'No command was given.' : error.message;
  if (asJson.json)
    printResult({ error: { code: 'usage', message: message.replace(/^error: /, '') } }, asJson, () => '');
  process.exit(exitCodes.usage);
}
