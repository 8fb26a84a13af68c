#!/usr/bin/env bun
// The `tatami` command: argv → command. Each command lives in `commands/`.
import { Command, CommanderError } from 'commander';
import { importIssues } from './commands/import/import.ts';
import { init, type InitOptions } from './commands/init.ts';
import { exitCodes, fail, printResult } from './commands/output.ts';
import { install, list, logs, pack, runSchedule } from './commands/plugin.ts';
import { serve, type ServeFlags } from './commands/serve.ts';
import { configReference } from './config.ts';
import { version } from './version.ts';

const program = new Command('tatami').description(
  'A self-hostable issue tracker that hosts sandboxed plugins.',
);
program
  .exitOverride()
  .showHelpAfterError('(see tatami --help)')
  .configureOutput({ writeErr: (text) => void process.stderr.write(text) });

const json: [string, string] = ['--json', 'print one JSON value on stdout'];
const remote = (command: Command): Command =>
  command
    .option('--server <url>', 'address of the server (TATAMI_SERVER)')
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
  .action((options: InitOptions) => init(options));

const serveCommand = program
  .command('serve')
  .description('run the server')
  .option(...json);
for (const { flag, env, fallback, text } of configReference())
  serveCommand.option(`${flag} <value>`, `${text} (${env}${fallback === '' ? '' : `, default ${fallback}`})`);
serveCommand
  .option('--first-start', 'make a first workspace when the data directory has none')
  .action((options: ServeFlags) => serve(options));

remote(
  program
    .command('import <file>')
    .description('import issues from CSV (repo, created_at, label, title, body)'),
)
  .option('--team-from <column>', 'column that names the team', 'repo')
  .option('--source <name>', 'externalSource of the issues', 'csv')
  .action((file: string, options: { teamFrom: string; source: string }) => importIssues(file, options));

const plugin = program.command('plugin').description('pack, install and watch plugins');
plugin
  .command('pack <dir>')
  .description('bundle DIR/plugin.ts into one package file')
  .option('--out <file>', 'the package file')
  .option(...json)
  .action((dir: string, options: { out?: string }) => pack(dir, options));
remote(
  plugin.command('install <package>').description('install a package file, or a first-party plugin by name'),
)
  .option('--yes', 'grant the scopes it asks for')
  .action((source: string, options: { yes?: boolean }) => install(source, options));
remote(plugin.command('list').description('list installed plugins')).action((options) => list(options));
remote(plugin.command('logs <plugin>').description('show the latest runs with their logs'))
  .option('--limit <n>', 'runs to show', '20')
  .action((name: string, options: { limit: string }) => logs(name, options));
remote(
  plugin.command('run-schedule <plugin> <schedule>').description('run a schedule now and wait for it'),
).action((name: string, schedule: string, options) => runSchedule(name, schedule, options));

program
  .command('version')
  .description('print the version')
  .option(...json)
  .action((options: { json?: boolean }) =>
    printResult({ version, bun: Bun.version }, options, () => version),
  );

try {
  await program.parseAsync();
} catch (error) {
  const asJson = process.argv.includes('--json');
  if (error instanceof CommanderError) {
    if (error.exitCode !== 0 && asJson)
      process.stdout.write(`${JSON.stringify({ error: { code: 'usage', message: error.message } })}\n`);
    process.exit(error.exitCode === 0 ? exitCodes.ok : exitCodes.usage);
  }
  fail(error, asJson);
}
