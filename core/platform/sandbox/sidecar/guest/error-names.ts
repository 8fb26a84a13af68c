// Maps the code of a failed host call to the `name` of its error: the class of `@tatami/sdk/plugin` with that code.
import { record } from './harden.ts';

const names = record<string>();
names.conflict = 'Conflict';
names.insufficient_scope = 'ScopeDenied';
names.quota_exceeded = 'QuotaExceeded';
names.validation_failed = 'InvalidInput';
names.not_found = 'NotFound';
names.egress_denied = 'EgressDenied';
names.deadline_exceeded = 'DeadlineExceeded';
names.unreachable = 'Unreachable';

export function errorNameOf(code: string): string {
  return names[code] ?? 'PluginError';
}
