// Path of the operator socket of a running server.
import { join } from 'node:path';

export function operatorSocketOf(dataDir: string): string {
  return join(dataDir, 'operator.sock');
}
