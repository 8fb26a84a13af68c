// Values of a proposed change as text.
import { text } from '../../text/common.ts';

/**
 * Characters that a reader cannot see (Unicode TR 36 §3.3): controls, bidirectional marks and ignorable characters, except
 * line ends, tabs, and those that join and color emoji. A proposal must not look like another change than it is.
 */
const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]|(?!\u200d|[\ufe0e-\ufe0f])\p{Default_Ignorable_Code_Point}/gu;

/** Writes unseen characters as escapes. */
function visible(value: string): string {
  return value.replaceAll(unseen, (char) =>
    char.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === '') return text.none;
  if (Array.isArray(value)) return value.length === 0 ? text.none : value.map(valueText).join(', ');
  if (typeof value === 'string') return visible(value);
  if (typeof value !== 'object') return String(value);
  return visible('name' in value ? String(value.name) : JSON.stringify(value));
}
