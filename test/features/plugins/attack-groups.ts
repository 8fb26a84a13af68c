// Groups of attacks on plugins and their sandbox, with the tests that cover each beside the suite of `tatami plugins
// attack`.

export interface AttackGroup {
  readonly title: string;
  /** Test files beside the suite. */
  readonly tests: readonly string[];
}

const sandbox = 'test/sandbox/attacks.test.ts';
const peer = 'test/sandbox/hostile-sidecar/peer.test.ts';
const outside = 'test/features/plugins/outside.test.ts';
const secrets = 'test/features/plugins/secrets.test.ts';
const group = (title: string, ...tests: readonly string[]): AttackGroup => ({ title, tests });

export const attackGroups: Readonly<Record<number, AttackGroup>> = {
  1: group('constructors of every reachable object', sandbox),
  2: group('members of live references', sandbox),
  3: group('options through prototypes', sandbox),
  4: group('patched builtins', sandbox),
  5: group('call sites', sandbox),
  6: group('callers and arguments', sandbox),
  7: group('information in host errors', sandbox),
  8: group('stacks across asynchronous calls'),
  9: group('no host frames in the stack of a call', sandbox),
  10: group('unusual thrown values', sandbox),
  11: group('unusual arguments and results', sandbox),
  12: group('prototype keys', sandbox),
  13: group('moving or growing buffers', sandbox),
  14: group('imports', sandbox),
  15: group('scopes of eval', sandbox),
  16: group('absent globals', sandbox, 'test/sandbox/globals.test.ts'),
  17: group('engine internals'),
  18: group('forged envelopes', peer),
  19: group('calls after the end, nonces of other runs', sandbox, peer),
  20: group('loops', sandbox, 'test/features/plugins/attacks.test.ts'),
  21: group('promises that never settle', sandbox),
  22: group('microtasks', sandbox),
  23: group('regular expressions', sandbox),
  24: group('memory', sandbox, 'test/features/plugins/attacks.test.ts'),
  25: group('unlimited calls', sandbox),
  26: group('floods of logs', sandbox),
  27: group(
    'a lost process',
    'test/sandbox/faults.test.ts',
    'test/sandbox/quarantine.test.ts',
    'test/sandbox/hostile-sidecar/native.test.ts',
  ),
  28: group('a kill at each step of a commit', 'test/faults/plugin-kill.test.ts'),
  29: group('host name spoofing', outside),
  30: group('DNS rebinding', outside),
  31: group('redirects', outside),
  32: group('headers', outside),
  33: group('endless bodies', outside),
  34: group("the server's own API, loopback, sockets", outside),
  35: group('secrets outside their declared place', secrets),
  36: group('objects of another workspace', 'test/faults/tenants.test.ts'),
  37: group('scopes, fields and rows outside the grant'),
  38: group('permissions revoked during a run', 'test/features/plugins/isolation.test.ts'),
  39: group('actions of callers with few scopes', 'test/features/plugins/actions.test.ts'),
  40: group('event loops', 'test/features/plugins/runtime.test.ts', 'test/features/plugins/loops.test.ts'),
  41: group('values beyond the quota', 'test/fairness/kv.test.ts'),
  42: group('unauthenticated routes', 'test/features/plugins/inbound.test.ts'),
  43: group('archives', 'test/sandbox/pack.test.ts'),
  44: group('packages that differ from their manifest', 'test/sandbox/pack.test.ts'),
  45: group(
    'versions and ids of other plugins',
    'test/features/plugins/installs.test.ts',
    'test/features/plugins/versions.test.ts',
  ),
  46: group('harmful settings and names', 'test/sandbox/pack.test.ts'),
};
