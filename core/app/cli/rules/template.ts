// `tatami rules template [NAME]` and `tatami rules schema`, which need no server.
import { parse } from 'yaml';
import ruleSchema from '../../../../docs/automations/rule.schema.json';
import { filledTemplate, listTemplates, TemplateError } from '../../../features/automations/offline.ts';
import { usage } from '../lib/flags.ts';
import { printLines, printResult } from '../lib/output.ts';
import { tableOf } from '../lib/table.ts';
import { modeDefault } from './files.ts';
import { placeholdersOf } from './placeholders.ts';

export interface TemplateOptions {
  set?: readonly string[];
  json?: boolean;
}

export function template(name: string | undefined, { set = [], ...options }: TemplateOptions): void {
  if (name === undefined) {
    if (set.length > 0) throw usage('--set needs the name of a template.');
    return printResult(listTemplates(), options, (shown) =>
      tableOf([
        ['template', 'values', 'effect'],
        ...shown.map(({ id, needs, description }) => [id, Object.keys(needs).join(', ') || '–', description]),
      ]).join('\n'),
    );
  }
  const text = filled(name, placeholdersOf(name, set));
  if (options.json) return printResult(parse(text), options, () => '');
  printLines(text.trimEnd().split('\n'));
}

function filled(name: string, values: Readonly<Record<string, string>>): string {
  try {
    return filledTemplate(name, values).replace(`\nmode: ${modeDefault}\n`, '\n');
  } catch (error) {
    throw error instanceof TemplateError ? usage(error.message, error) : error;
  }
}

export function schema({ json }: { readonly json?: boolean }): void {
  printResult(ruleSchema, { json }, (shown) => JSON.stringify(shown, null, 2));
}
