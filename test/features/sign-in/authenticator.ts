// An authenticator with a key in memory (Web Authentication Level 3 §6), which can make the mistakes that a
// test needs.
import { createHash, createSign, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto';

interface CredentialOptions {
  readonly challenge: string;
  readonly rp?: { readonly id: string };
  readonly rpId?: string;
  readonly user?: { readonly id: string };
}

/** Deviations from a correct response. */
export interface Wrongs {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  /** Replaces the counter, which otherwise increases by one. */
  readonly counter?: number;
  readonly isVerified?: boolean;
  readonly userHandle?: string;
  readonly type?: string;
}

export interface Authenticator {
  readonly id: string;
  create(options: CredentialOptions, wrongs?: Wrongs): object;
  get(options: CredentialOptions, wrongs?: Wrongs): object;
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest();

/** @param origin origin of the page that the authenticator sees */
export function createAuthenticator(origin: string): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(16);
  let counter = 0;
  let userHandle = 'AAAA';

  const clientData = (type: string, challenge: string, wrongs: Wrongs): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: wrongs.type ?? type,
        challenge: wrongs.challenge ?? challenge,
        origin: wrongs.origin ?? origin,
        crossOrigin: false,
      }),
    );
  const authData = (rpId: string, wrongs: Wrongs, attested: Uint8Array = Buffer.alloc(0)): Buffer => {
    counter = wrongs.counter ?? counter + 1;
    const flags = 1 | (wrongs.isVerified === false ? 0 : 4) | (attested.length > 0 ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(wrongs.rpId ?? rpId), Buffer.from([flags]), count, attested]);
  };
  const credential = {
    id: base64url(id),
    rawId: base64url(id),
    type: 'public-key',
    clientExtensionResults: {},
  };

  return {
    id: credential.id,
    create({ challenge, rp, user }, wrongs = {}) {
      userHandle = user!.id;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, id, coseOf(publicKey)]);
      const data = authData(rp!.id, wrongs, attested);
      return {
        ...credential,
        response: {
          clientDataJSON: base64url(clientData('webauthn.create', challenge, wrongs)),
          attestationObject: base64url(
            Buffer.concat([
              Buffer.from([0xa3]),
              ...[textOf('fmt'), textOf('none'), textOf('attStmt'), Buffer.from([0xa0])],
              ...[textOf('authData'), bytesOf(data)],
            ]),
          ),
          transports: ['internal'],
        },
      };
    },
    get({ challenge, rpId }, wrongs = {}) {
      const client = clientData('webauthn.get', challenge, wrongs);
      const data = authData(rpId!, wrongs);
      const signature = createSign('sha256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey);
      return {
        ...credential,
        response: {
          ...{ clientDataJSON: base64url(client), authenticatorData: base64url(data) },
          ...{ signature: base64url(signature), userHandle: wrongs.userHandle ?? userHandle },
        },
      };
    },
  };
}

// The subset of CBOR (RFC 8949) that attestations use.

function textOf(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}

function bytesOf(bytes: Uint8Array): Buffer {
  const head = bytes.length < 24 ? [0x40 + bytes.length] : [0x58, bytes.length];
  return Buffer.concat([Buffer.from(head), bytes]);
}

/** An ES256 key (RFC 9053 §7.1.1). */
function coseOf(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const coordinate = (text: string): Buffer => bytesOf(Buffer.from(text, 'base64url'));
  return Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21]),
    coordinate(x),
    Buffer.from([0x22]),
    coordinate(y),
  ]);
}
