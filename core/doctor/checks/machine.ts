import { existsSync, readFileSync } from 'node:fs';
import { systemClock } from '../../lib/clock.ts';
import { findNode } from '../../sandbox/locate.ts';
import { startSandbox } from '../../sandbox/supervisor.ts';
import { note, warning, type Check, type Finding } from '../check.ts';

/** Each connection and each open file needs one descriptor. */
const filesMin = 4_096;

export const machine: Check = {
  name: 'machine',
  holds: 'plugins run in a complete jail, and the limit of open files is sufficient',
  async look({ config }) {
    const findings: Finding[] = [];
    const files = filesMax();
    if (files !== null && files < filesMin)
      findings.push(
        warning(
          `The limit of open files is ${files}. Raise it to ${filesMin} or more (LimitNOFILE= in systemd, ulimit -n).`,
        ),
      );
    const said: string[] = [];
    const sandbox = await startSandbox({
      nodePath: config.nodePath ?? findNode(),
      log: (level, message) => void (level === 'warn' && said.push(message)),
      clock: systemClock.nowMs,
      jail: config.sandboxJail,
      split: config.sandboxSplit,
    });
    const { jail } = sandbox.status();
    await sandbox.stop();
    if (jail !== 'full') findings.push(warning(said.join(' ')));
    else if (said.length > 0) findings.push(note(said.join(' ')));
    return findings;
  },
};

function filesMax(): number | null {
  const limits = '/proc/self/limits';
  if (!existsSync(limits)) return null;
  const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(limits, 'utf8'))?.[1];
  return soft === undefined ? null : Number(soft);
}
