// Server errors that skip a single object instead of ending the import.
import { ApiCallError } from '../../../../sdk/client/index.ts';

/** The answer, or why the request as such is refused. @throws ApiCallError that is not about the request */
export async function attempted<T>(request: Promise<T>): Promise<{ value: T } | { refusal: ApiCallError }> {
  try {
    return { value: await request };
  } catch (error) {
    if (error instanceof ApiCallError && [403, 404, 409, 413, 422].includes(error.status))
      return { refusal: error };
    throw error;
  }
}
