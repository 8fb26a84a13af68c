// An invalid value of any setting is rejected before anything starts. The error names the flag or variable
// that contains the value.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { configReference, readConfig } from './config.ts';
import { ConfigError } from './settings.ts';

const file = import.meta.path;
const days = ['x', '-1', '36501'];
const perMinute = ['x', '-1', '1.5', '100000001'];

/** Invalid values by flag. */
const unusable: Readonly<Record<string, readonly string[]>> = {
  '--data-dir': [file],
  '--port': ['', 'x', '65536'],
  '--host': ['', '-', '1.2.3', '1.2.3.4.5', 'a b', 'a,b', '[::1]', 'http://a', ':::'],
  '--keep-alive': ['x', '241'],
  '--base-url': ['x', 'ftp://a', 'https://a?b'],
  '--egress-allow': ['x', '10.0.0.0', '10.0.0.0/33', '10.0.0.0/8,x'],
  '--trusted-proxy': ['x', '10.0.0.0', '10.0.0.0/8,x'],
  '--cors-origins': ['x', 'https://a/b'],
  '--rate-limit': ['', 'x'],
  '--rate-read': perMinute,
  '--rate-write': perMinute,
  '--rate-search': perMinute,
  '--rate-member': perMinute,
  '--rate-workspace': perMinute,
  '--disk-reserve': ['x'],
  '--file-size': ['x', '10241'],
  '--file-quota': ['x'],
  '--metrics-port': ['x', '65536'],
  '--metrics-host': ['', '-', 'a b'],
  '--read-budget': ['x'],
  '--keep-runs': days,
  '--keep-recordings': days,
  '--keep-deliveries': days,
  '--keep-deleted': days,
  '--keep-events': days,
  '--keep-snapshots': days,
  '--keep-undo': days,
  '--sandbox-jail': ['x'],
  '--sandbox-split': ['x'],
  '--record-runs': ['x'],
  '--plugin-trust': ['x', 'acme=x'],
  '--plugin-unsigned': ['x'],
  '--identity-providers': [join(file, 'none'), file],
  '--node-path': [join(file, 'none'), import.meta.dir],
  '--copy-to': [file, 's3://X', 's3://bucket/prefix', 'data/copy'],
  '--copy-every': ['x', '0', '3601'],
  '--copy-keep': ['x'],
  '--backup-dir': [file],
  '--backup-schedule': ['x', '0 3 * *'],
  '--backup-keep': ['x'],
  '--smtp-url': ['x', 'https://a'],
  '--mail-from': ['x', 'a@b@c'],
  '--log-level': ['x'],
};

/** Settings that must be present so that the sender and the metrics host are read. */
const beside = {
  TATAMI_SMTP_URL: 'smtp://mail.example.com',
  TATAMI_MAIL_FROM: 'tatami@example.com',
  TATAMI_METRICS_PORT: '0',
};

const settings = configReference();
const nameOf = (flag: string): string =>
  flag.slice(2).replaceAll(/-(\w)/g, (_, letter) => letter.toUpperCase());

test.each(settings.map(({ flag, env }) => [flag, env] as const))(
  '%s with an invalid value is rejected by name',
  (flag, env) => {
    for (const bad of unusable[flag] ?? [])
      for (const [name, read] of [
        [flag, () => readConfig({ [nameOf(flag)]: bad }, beside, '/nowhere')],
        [env, () => readConfig({}, { ...beside, [env]: bad }, '/nowhere')],
      ] as const) {
        expect(read, `${name}=${bad}`).toThrow(ConfigError);
        expect(read).toThrow(name);
      }
    expect(unusable[flag]?.length).toBeGreaterThan(0);
  },
);

test.each(['127.0.0.1', '::1', '0.0.0.0', 'localhost', 'my_app.internal', 'fe80::1%eth0'])(
  'the host %s is accepted',
  (host) => expect(readConfig({ host }, {}).host).toBe(host),
);
