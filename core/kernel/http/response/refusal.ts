// Maps the failure of a request to the error for the caller. A failure that the caller cannot fix is logged.
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { StoreError } from '../../../platform/store/store.ts';

/** Request as identified in the log. */
export interface RequestIdentity {
  readonly requestId: string;
  readonly method: string;
  /** Path without the query. */
  path(): string;
}

export function refusalOf(log: Log, { requestId, method, path }: RequestIdentity, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreError) {
    log('warn', 'store refused', { requestId, fault: error.fault, error: errorForLog(error) });
    return storeRefusal(error);
  }
  log('error', 'request failed', { requestId, method, path: path(), error: errorForLog(error) });
  return new ApiError(
    'internal_error',
    'The server failed to process the request. Give the request id to the administrator, who can find the failure in the log.',
  );
}

function storeRefusal({ fault }: StoreError): ApiError {
  if (fault === 'full')
    return new ApiError(
      'storage_full',
      'The disk is full. Nothing was changed; free some space and send the request again.',
    );
  if (fault === 'damaged')
    return new ApiError(
      'unavailable',
      'The database is damaged: it accepts no writes, and its damaged part cannot be read. The operator must restore it from a backup.',
    );
  return new ApiError(
    'unavailable',
    fault === 'broken'
      ? 'The disk failed while writing. The write may or may not be stored: repeat it with the same Idempotency-Key.'
      : 'The database is temporarily unavailable. Nothing was changed; send the request again.',
  );
}
