// The victim: sequentially requests readiness, creates and gets, as an ordinary client does, until it is stopped; then
// prints the latencies in milliseconds. Arguments: address, token.
const [url = '', token = ''] = process.argv.slice(2);
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const took: Record<string, number[]> = { readyz: [], create: [], get: [] };
let stopped = false;
process.stdin.on('end', () => (stopped = true)).resume();

async function timed(name: string, path: string, init: RequestInit = {}): Promise<string> {
  const from = performance.now();
  const response = await fetch(url + path, { headers, ...init });
  const text = await response.text();
  took[name]!.push(performance.now() - from);
  if (!response.ok) throw new Error(`${name} answered ${response.status}: ${text.slice(0, 200)}`);
  return text;
}

const body = JSON.stringify({ team: 'OPS', title: 'The victim continues to work' });
await timed('readyz', '/readyz');
took.readyz = [];
process.stdout.write('ready\n');
while (!stopped) {
  await timed('readyz', '/readyz');
  const { id } = JSON.parse(await timed('create', '/api/v1/issues', { method: 'POST', body })) as {
    id: string;
  };
  await timed('get', `/api/v1/issues/${id}`);
  await Bun.sleep(2);
}
process.stdout.write(JSON.stringify(took));
process.exit(0);

export {};
