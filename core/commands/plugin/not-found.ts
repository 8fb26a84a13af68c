// What "not found" means to somebody who typed a name: the server says no more than that there is nothing.
import { ApiCallError } from '../../../sdk/client/index.ts';

/** @param what was looked for, such as `plugin acme.hello` @throws ApiCallError in words that say where to look */
export async function found<T>(answer: Promise<T>, what: string, look: string): Promise<T> {
  return answer.catch((error: unknown) => {
    if (!(error instanceof ApiCallError) || error.code !== 'not_found') throw error;
    const message = `There is no ${what} that this key may see. \`${look}\` shows those there are.`;
    throw new ApiCallError(error.status, { code: error.code, message, cause: error });
  });
}

export const foundPlugin = <T>(answer: Promise<T>, name: string): Promise<T> =>
  found(answer, `plugin ${name}`, 'tatami plugin list');
