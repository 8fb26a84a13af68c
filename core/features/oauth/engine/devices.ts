// Requests of the device flow (RFC 8628), by user code, in the storage of the protocol library.
import type Provider from 'oidc-provider';
import { wordOf } from '../grant-requests.ts';
import type { AuthorizationRequest, Asking, Decision } from './engine.ts';

export interface Devices {
  /**
   * Returns the request of a user code. Ignores case and separators.
   * @returns null for an unknown, expired or decided code
   */
  deviceAsking(userCode: string): Promise<Asking | null>;
  /** @returns false if the request was decided already or has expired */
  settleDevice(userCode: string, decision: Decision): Promise<boolean>;
}

export function devicesOf(
  provider: Provider,
  requestOf: (params: Readonly<Record<string, unknown>>) => AuthorizationRequest,
): Devices {
  const openDevice = async (userCode: string) => {
    const code = await provider.DeviceCode.findByUserCode(userCode.toUpperCase().replaceAll(/[^A-Z]/g, ''));
    return code && code.isValid && code.accountId === undefined && code.error === undefined ? code : null;
  };

  return {
    async deviceAsking(userCode) {
      const code = await openDevice(userCode);
      if (!code) return null;
      const { clientId = '', params = {}, jti } = code;
      return { ...requestOf({ ...params, client_id: clientId }), ticket: jti, redirectUri: null };
    },
    async settleDevice(userCode, decision) {
      const code = await openDevice(userCode);
      if (!code) return false;
      const decided =
        'error' in decision
          ? { error: decision.error, errorDescription: decision.why }
          : {
              accountId: decision.memberId,
              grantId: wordOf(decision.grant),
              scope: decision.scopes.join(' '),
              resource: String(code.params?.resource),
            };
      await Object.assign(code, decided).save();
      return true;
    },
  };
}
