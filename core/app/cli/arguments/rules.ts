// Arguments of `tatami rules`.
import type { Command } from 'commander';
import type { ApplyOptions } from '../rules/apply.ts';
import type { PlanOptions } from '../rules/plan.ts';
import type { PullOptions } from '../rules/pull.ts';
import type { TemplateOptions } from '../rules/template.ts';
import { json, remote } from './options.ts';

const collected = (value: string, before: readonly string[] = []): string[] => [...before, value];

/** @param folder where relative paths begin */
export function addRules(program: Command, folder: string): void {
  const rules = program.command('rules').description('manage automations as YAML files in a folder');
  remote(
    rules
      .command('pull <dir>')
      .description('write each automation to a file; files with equal content remain'),
  )
    .option('--delete', 'delete the files of automations that no longer exist')
    .action(async (dir: string, options: PullOptions) =>
      (await import('../rules/pull.ts')).pull(dir, options, folder),
    );
  remote(
    rules
      .command('plan <dir>')
      .description(
        'show how the automations differ from a folder; exits with 0 for no difference, and with 3 for some',
      ),
  )
    .option('--delete', 'include automations that no file describes, as `apply --delete` deletes them')
    .option('--no-backtest', 'do not try new and changed rules on past events')
    .option('--days <n>', 'length of the backtests in days', '90')
    .action(async (dir: string, options: PlanOptions) =>
      (await import('../rules/plan.ts')).plan(dir, options, folder),
    );
  remote(
    rules
      .command('apply <dir>')
      .description(
        'create and change automations as the files describe; new ones are paused without `enabled: true`',
      ),
  )
    .option('--delete', 'delete automations that no file describes')
    .option(
      '--no-probation',
      'let the rules of the files write at once, without 20 approved runs first; also ends a probation that has begun',
    )
    .option('-y, --yes', 'do not ask for confirmation')
    .action(async (dir: string, options: ApplyOptions) =>
      (await import('../rules/apply.ts')).apply(dir, options, folder),
    );
  rules
    .command('template [name]')
    .description('print a template of a rule as YAML; without a name, list the templates')
    .option(
      '--set <name=value>',
      'value of a placeholder; repeatable, also for the items of a list',
      collected,
    )
    .option(...json)
    .action(async (name: string | undefined, options: TemplateOptions) =>
      (await import('../rules/template.ts')).template(name, options),
    );
  rules
    .command('schema')
    .description('print the JSON schema of a file')
    .option(...json)
    .action(async (options: { json?: boolean }) => (await import('../rules/template.ts')).schema(options));
}
