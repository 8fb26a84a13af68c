// Which tracker a file comes from, by what it begins with.
import { CommandError } from '../../output.ts';
import { headerOf, headOf } from '../head.ts';
import { csv } from './csv.ts';
import { github } from './github.ts';
import { jira } from './jira.ts';
import { linear } from './linear.ts';
import type { Format } from './row.ts';

const formats: Readonly<Record<string, Format>> = { csv, github, linear, jira };

/** @param name the format that the user names @throws CommandError for one that is not known */
export function formatOf(file: string, name: string | undefined): Format {
  if (name !== undefined) {
    const known = Object.hasOwn(formats, name) ? formats[name] : undefined;
    if (known) return known;
    throw new CommandError(`Unknown format ${name}. Use one of ${Object.keys(formats).join(', ')}.`);
  }
  const head = headOf(file).trimStart();
  if (/^[[{]/.test(head)) return github;
  const { columns } = headerOf(head);
  if (columns.includes('Issue key')) return jira;
  return columns.includes('ID') && columns.includes('Status') ? linear : csv;
}
