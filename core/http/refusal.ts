// What a caller is told of a request that failed. What is not the caller's to mend goes to the log.
import { ApiError } from '../lib/errors.ts';
import { errorForLog } from '../lib/failures.ts';
import type { Log } from '../lib/log.ts';
import { StoreError } from '../store/store.ts';

/** A request as the log names it. */
export interface Named {
  readonly requestId: string;
  readonly method: string;
  /** Without the query. */
  path(): string;
}

export function refusalOf(log: Log, { requestId, method, path }: Named, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreError) {
    log('warn', 'store refused', { requestId, fault: error.fault, error: errorForLog(error) });
    return storeRefusal(error);
  }
  log('error', 'request failed', { requestId, method, path: path(), error: errorForLog(error) });
  return new ApiError(
    'internal_error',
    'Something broke on our side. The request id identifies it in the log.',
  );
}

/** For a store that could not do its work. */
function storeRefusal({ fault }: StoreError): ApiError {
  if (fault === 'full')
    return new ApiError(
      'storage_full',
      'The disk is full. Nothing was changed; free some space and send the request again.',
    );
  if (fault === 'damaged')
    return new ApiError(
      'unavailable',
      'The database is damaged: it takes no writes, and what lies in the damaged part cannot be read. The rest is right. The operator restores it from a backup.',
    );
  return new ApiError(
    'unavailable',
    fault === 'broken'
      ? 'The disk failed while writing. Whether this write was kept is not known: repeat it with the same Idempotency-Key.'
      : 'The database cannot do this right now. Nothing was changed; send the request again.',
  );
}
