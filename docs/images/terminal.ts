// Runs the commands of the picture in the README against a real server and writes what they print to terminal.svg:
// `bun docs/images/terminal.ts`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startApp } from '../../test/app.ts';
import { launcher } from '../../test/program.ts';

interface Line {
  readonly text: string;
  readonly style: 'comment' | 'command' | 'output';
}

const columns = 118;
const lineHeight = 19;
const margin = 18;
const lines: Line[] = [];

const app = await startApp();
await app.installFirstParty(app.workspace.workspaceId, 'auto-triage');
const environment = { ...process.env, TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };

/** Shows a command of `tatami` with its output, and returns the output. */
async function run(comment: string, command: string): Promise<string> {
  const child = Bun.spawn(['sh', '-c', `${launcher} ${command}`], {
    env: environment,
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const output = (await new Response(child.stdout).text()).trimEnd();
  await child.exited;
  await app.settled();
  lines.push({ text: `# ${comment}`, style: 'comment' }, { text: `$ tatami ${command}`, style: 'command' });
  lines.push(...output.split('\n').map((text) => ({ text, style: 'output' as const })));
  lines.push({ text: '', style: 'output' });
  return output;
}

await run(
  'Create an issue. A sandboxed plugin labels it.',
  "issues create --team ENG --title 'Crash when saving a file' --fields identifier,title",
);
const trail = await run('See who changed what, and why.', 'issues trail ENG-1');
const [runId = ''] = /run_[0-9a-z]+/.exec(trail) ?? [];
await run('Undo everything that the run changed.', `runs undo ${runId}`);
await app.stop();

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const wrapped = lines.flatMap(({ text, style }) => {
  const parts = text.match(new RegExp(`.{1,${columns}}`, 'g')) ?? [''];
  return parts.map((part) => ({ text: part, style }));
});
const width = Math.round(columns * 8.43) + 2 * margin;
const height = wrapped.length * lineHeight + 2 * margin;
const rows = wrapped.map(
  ({ text, style }, index) =>
    `<text class="${style}" x="${margin}" y="${margin + (index + 0.8) * lineHeight}" xml:space="preserve">${escaped(text)}</text>`,
);
writeFileSync(
  join(import.meta.dir, 'terminal.svg'),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal session: an issue is created, a plugin labels it, the trail shows why, and an undo takes it back">
<style>text{font:14px ui-monospace,Menlo,Consolas,monospace}.comment{fill:#7f8ea3}.command{fill:#e6edf3;font-weight:600}.output{fill:#a5d6a7}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${rows.join('\n')}
</svg>
`,
);
process.exit(0);
