// Where an authorization server may send a browser back to. A code goes there, so whoever can choose the place can take the code:
// a redirect URI is compared as the text that it is (RFC 9700 §2.1), and is registered only in the one way of writing it that every
// parser reads alike.
import type { Wrong } from '../../lib/errors.ts';

export const redirectUrisMax = 10;
const redirectUriLengthMax = 1_000;

/** RFC 8252 §7.3 and §8.3. */
const loopbackHosts: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);
/** A private-use scheme is a domain name of its owner, turned around (RFC 8252 §7.1), so it has a dot. */
const privateUse = /^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)+:$/;
/** Editors that came before that rule was kept: they register these beside others, and one that is refused refuses all of them. */
const editorSchemes: ReadonlySet<string> = new Set(['cursor:', 'vscode:', 'vscode-insiders:']);
/** What the answer itself brings (RFC 6749 §4.1.2, RFC 9207): a second one of the name could pass for it. */
const ofTheAnswer = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'response'];

/** What is wrong with a redirect URI, and what to do; null where it can be registered. */
export function faultOfRedirectUri(text: string): Wrong | null {
  return faultOfText(text) ?? faultOfParsed(text, URL.parse(text));
}

/** What people are shown of where a redirect URI leads: its host, or its scheme where an app of the device owns that. */
export function redirectHostOf(uri: string): string {
  const url = new URL(uri);
  return /^https?:$/.test(url.protocol) ? url.host : url.protocol.slice(0, -1);
}

function faultOfText(text: string): Wrong | null {
  if (text.length > redirectUriLengthMax)
    return {
      why: `It is longer than ${redirectUriLengthMax} characters.`,
      fix: 'Use `state` for what you must remember.',
    };
  if (!/^[\x21-\x7e]+$/.test(text) || /[\\"<>^`{|}]/.test(text))
    return { why: 'It holds characters that a URI cannot have.', fix: 'Give them percent-encoded.' };
  if (text.includes('*'))
    return { why: 'Wildcards are not matched.', fix: 'Give each redirect URI in full.' };
  if (text.includes('#'))
    return { why: 'A redirect URI has no fragment (RFC 6749 §3.1.2).', fix: 'Leave out # and what follows.' };
  return null;
}

function faultOfParsed(text: string, url: URL | null): Wrong | null {
  if (!url) return { why: 'It is no absolute URI.', fix: 'Give one such as https://app.example/callback.' };
  if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?]*@/.test(text))
    return { why: 'It names a user.', fix: 'Leave out what stands before the @.' };
  const scheme = faultOfScheme(text, url);
  if (scheme) return scheme;
  // Else two texts could mean the same place, or one text another place to another parser.
  if (url.href !== text && url.href !== `${text}/`)
    return { why: 'It can be written in several ways.', fix: `Give it as ${url.href}.` };
  const taken = ofTheAnswer.find((name) => url.searchParams.has(name));
  if (taken !== undefined)
    return {
      why: `Its query has \`${taken}\`, which the answer brings.`,
      fix: 'Give the parameter another name.',
    };
  return null;
}

function faultOfScheme(text: string, url: URL): Wrong | null {
  const { protocol, hostname } = url;
  if (protocol === 'https:') return faultOfHost(hostname);
  if (protocol === 'http:')
    return loopbackHosts.has(hostname)
      ? null
      : {
          why: 'Over http anybody on the way could take the code.',
          fix: 'Use https; http is taken only for 127.0.0.1, [::1] and localhost.',
        };
  if (!privateUse.test(protocol) && !editorSchemes.has(protocol))
    return {
      why: `The scheme ${protocol.slice(0, -1)} is nobody's own.`,
      fix: 'Use https, or a private-use scheme with a dot, such as com.example.app:/callback (RFC 8252 §7.1).',
    };
  return text.startsWith(`${protocol}/`)
    ? null
    : { why: 'Nothing follows its scheme.', fix: `Give a path, such as ${protocol}/callback.` };
}

function faultOfHost(hostname: string): Wrong | null {
  if (loopbackHosts.has(hostname))
    return { why: 'Nobody certifies a loopback address.', fix: 'Use http for it.' };
  if (hostname.endsWith('.'))
    return { why: 'Its host ends with a dot.', fix: 'Leave the last dot of the host out.' };
  return null;
}
