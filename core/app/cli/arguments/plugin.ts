// Arguments of the handwritten commands of `tatami plugins …`.
import type { Command } from 'commander';
import type { AttackOptions } from '../plugin/attack.ts';
import type { BacktestOptions } from '../plugin/backtest.ts';
import type { DevOptions } from '../plugin/dev.ts';
import type { ConsentCommandOptions, InstallOptions } from '../plugin/install.ts';
import type { ShadowOptions } from '../plugin/shadow.ts';
import { json, remote } from './options.ts';

const signature: [string, string] = [
  '--signature <file>',
  'signature of the package; default: the package file with .sig',
];
/** @param folder where relative paths begin @returns the commands that handle their own interrupts */
export function addPlugin(program: Command, folder: string): Command[] {
  const plugin = program.command('plugins').description('pack, install and manage plugins');
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
  const devCommand = addDev(plugin, folder);
  addTrust(plugin, folder);
  addConsent(plugin);
  return [devCommand, addAttack(plugin), addBacktest(plugin, folder), addShadow(plugin, folder)];
}

function addDev(plugin: Command, folder: string): Command {
  return remote(
    plugin
      .command('dev [dir]')
      .description('install the plugin of a folder at every change, and show its runs; default: this folder'),
  )
    .option('-y, --yes', 'grant the requested scopes')
    .option('--mode <mode>', 'apply, propose or simulate, as for `install`')
    .option('--settings <file>', 'JSON file with the settings of the plugin')
    .action(async (dir: string | undefined, options: DevOptions) =>
      (await import('../plugin/dev.ts')).dev(dir ?? '.', options, folder),
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
    .requiredOption('--key <file>', 'private key created by `tatami plugins keygen`')
    .option('--force', 'replace the .sig file even if it is not a signature')
    .option(...json)
    .action(async (file: string, options: { key: string; force?: boolean; json?: boolean }) =>
      (await import('../plugin/author/sign.ts')).signFile(file, options, folder),
    );
  plugin
    .command('verify <package>')
    .description('check the signature of a package file')
    .requiredOption('--public-key <key>', 'public key printed by `tatami plugins keygen`')
    .option(...json)
    .action(async (file: string, options: { publicKey: string; json?: boolean }) =>
      (await import('../plugin/author/sign.ts')).verifyFile(file, options, folder),
    );
}

function addConsent(plugin: Command): void {
  remote(
    plugin.command('consent <plugin>').description('show the version that needs consent, and switch to it'),
  )
    .option('--yes', 'grant all requested scopes')
    .option('--refuse', 'reject the version; the installed one stays')
    .action(async (name: string, options: ConsentCommandOptions) =>
      (await import('../plugin/install.ts')).consent(name, options),
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
