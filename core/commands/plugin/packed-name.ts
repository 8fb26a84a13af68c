// What a package is called where nobody names its file: after the folder of the plugin.
import { basename } from 'node:path';

export function packedName(root: string): string {
  return `${basename(root)}.tatami.json`;
}
