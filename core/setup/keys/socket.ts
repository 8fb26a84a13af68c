// Where the door of a running server stands.
import { join } from 'node:path';

export function operatorSocketOf(dataDir: string): string {
  return join(dataDir, 'operator.sock');
}
